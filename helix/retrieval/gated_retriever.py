"""GatedRetriever: embed the question, search, gate, rerank. Nothing refused comes back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from helix.domain.context import MAX_SOURCES, MAX_TOKENS, sources_of
from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision, decide
from helix.domain.records import Hit, SearchResult
from helix.domain.retrieval import Reason, Retrieval, Trace
from helix.domain.scope import Scope
from helix.errors import EmbedderMismatch
from helix.retrieval.calibration import Calibration
from helix.retrieval.named_documents import Named, named_documents
from helix.retrieval.reranking.stage import RERANKED, Reranking
from helix.retrieval.rewriting import Rewriter
from helix.retrieval.searches import (
    BEYOND_CEILING,
    FOLLOWING,
    EmbeddedQuestion,
    Searches,
    embed_question,
    found_answer,
)
from helix.retrieval.vector_space import Space
from helix.storage.tenant_store import TenantStore
from helix.telemetry.tracing import set_attributes, span

_NODE_METADATA = (
    "chunk_id", "document_id", "title", "source_uri", "start_char", "end_char", "page",
    "heading_path", "label",
)  # fmt: skip

_logger = logging.getLogger(__name__)


class GatedRetriever(BaseRetriever):
    """Top-k by distance, or by distance and BM25, behind the distance gate.

    Any LlamaIndex engine can use it; ``retrieve`` blocks on what ``aretrieve`` does.

    Args:
        store: the store of the chunks.
        space: the space that questions are asked in: the embedder of the identity that filled the
            store, the gate's ceiling, and how BM25 joins the distances.
        top_k: chunks at most.
        following: the space to ask in once pipelines.reembed changed the database's embedder.
        rewriter: makes terms that are searched beside the question.
        reranking: reorders what was found.
        calibration: judges what was found in the distance's place (HELIX_GATE=calibrated).
    """

    def __init__(
        self,
        store: TenantStore,
        space: Space,
        *,
        top_k: int = DEFAULT_TOP_K,
        max_tokens: int = MAX_TOKENS,
        max_sources: int = MAX_SOURCES,
        following: Sequence[Space] = (),
        rewriter: Rewriter | None = None,
        reranking: Reranking | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        super().__init__()
        self.top_k = top_k
        self._max_tokens, self._max_sources = max_tokens, max_sources
        self.store = store
        self._rewriter = rewriter
        self._reranking = reranking
        self._calibration = calibration
        self._spaces = [space, *following]

    @property
    def space(self) -> Space:
        """The space that answered last; ``Retrieval.space`` is the one that a search was made in.

        The database's embedder may change between the two (pipelines.reembed).
        """
        return self._spaces[0]

    async def search(
        self,
        question: str,
        scope: Scope | None = None,
        top_k: int | None = None,
        *,
        deep: bool = False,
        plain: bool = False,
        follow_up: FollowUp | None = None,
        precedence: bool = True,
    ) -> Retrieval:
        """The best hits for ``question`` within ``scope``, and the decision to answer from them.

        A refusal is logged. ``top_k`` of None is the retriever's own. ``deep`` puts all
        candidates into the trace; it changes nothing else. ``plain`` asks neither the rewriter nor
        the reranker. ``follow_up`` is the question as it
        follows others of its conversation: it is searched and judged as understood there.
        A tentative one is so where what is found then may answer, and else by itself.
        ``precedence``: documents of its conversation are read alone where they answer.

        Raises:
            UpstreamError: the embedding service failed.
            StoreUnavailable, EmbedderMismatch: the search failed.
            BadRequest: the library of the moment that ``scope`` names is not kept.
        """
        scope, top_k = scope or Scope(self.store.tenant), top_k or self.top_k
        await self.store.check_moment(scope)
        search = partial(self._search, scope, top_k, deep=deep, plain=plain, precedence=precedence)
        asked = follow_up or FollowUp(question)
        found = await search(asked)
        if not asked.tentative or await found_answer(asked.question, found.hits, FOLLOWING):
            return found
        return replace(await search(FollowUp(asked.question)), stands_alone=True)

    async def _search(
        self,
        scope: Scope,
        top_k: int,
        asked: FollowUp,
        *,
        deep: bool,
        plain: bool,
        precedence: bool,
    ) -> Retrieval:
        trace = Trace()
        reranking = None if plain else self._reranking
        depth = max(top_k, RERANKED) if reranking else top_k
        question = asked.question
        with span("rewrite"), trace.stage("rewrite"):
            if asked.standalone:
                trace.terms = asked.standalone
            elif self._rewriter and not plain:
                trace.terms = await self._rewriter.terms(question)
        mismatches: list[EmbedderMismatch] = []
        known: Named | None = None
        for space in self._spaces:
            try:
                embedded, named = await self._prepared(space, asked, scope, trace, known)
                known = named
                # the name of the space is known with its first vector
                store = self.store.session(space.embedder.vector_space)
                searches = Searches(space, store, *embedded, scope, trace, precedence)
                result = await searches.find(named, depth, deep=deep)
            except EmbedderMismatch as mismatch:
                mismatches.append(mismatch)
            else:
                self._settle_on(space, result)
                decision = await self._decide(space, store, question, result, scope, top_k)
                judged = await self._judge(
                    space, question, result, decision, scope, top_k, trace, reranking
                )
                if result.attached_alone:
                    return replace(judged, attached_alone=True)
                return replace(judged, named=named.suggestion(scope))
        raise mismatches[0]

    async def _prepared(
        self, space: Space, asked: FollowUp, scope: Scope, trace: Trace, known: Named | None
    ) -> tuple[tuple[EmbeddedQuestion, EmbeddedQuestion | None], Named]:
        """The vectors of ``embed_question``, and what the question names, looked up meanwhile."""

        async def embedded() -> tuple[EmbeddedQuestion, EmbeddedQuestion | None]:
            with span("embed"), trace.stage("embed"):
                return await embed_question(space.embedder, asked, trace.terms)

        if known is not None:
            return await embedded(), known
        return await asyncio.gather(embedded(), self._named(asked, scope))

    async def _named(self, asked: FollowUp, scope: Scope) -> Named:
        """The documents that the question names, or else the one that it follows."""
        store = self.store.within(scope)
        named = await named_documents(store, asked.question, scope)
        if not named.groups and asked.earlier:
            named = await named_documents(store, asked.earlier[0][0], scope)
        return named

    async def _decide(
        self, space: Space, store: TenantStore, question: str, result: SearchResult, scope: Scope,
        top_k: int,
    ) -> GateDecision:  # fmt: skip
        """The gate over the nearest of all candidates, and the words of the first ``top_k``."""
        with span("gate"):
            estimate = None
            if self._calibration and not result.attached_alone:
                estimate = await self._calibration.estimate(
                    store.of(scope.tenant), space.embedder.identity, question, result, top_k
                )
            distances = [] if result.nearest is None else [result.nearest]
            lexical = result.lexical(top_k) if space.lexical else None
            judge = partial(decide, distances, space.max_distance, lexical, estimate)
            decision = judge(answers=result.attached_alone)
            if space.has_weak_vectors and not decision.passed and not estimate:
                hits = result.hits[:top_k]
                decision = judge(answers=await found_answer(question, hits, BEYOND_CEILING))
            set_attributes(
                passed=decision.passed, by_name=decision.by_name, found=len(result.candidates)
            )
        if decision.by_name:
            _logger.info("gate passed by an exact match; best distance %s", decision.best)
        return decision

    async def _judge(
        self, space: Space, question: str, result: SearchResult, decision: GateDecision,
        scope: Scope, top_k: int, trace: Trace, reranking: Reranking | None,
    ) -> Retrieval:  # fmt: skip
        """The hits that pass the gate and the reranker, or why there are none to answer from."""
        hits = result.hits
        reason: Reason | None = None
        if not hits:
            filtered = scope.narrowed and await self.store.within(scope).has_chunks()
            reason = "filtered_empty" if filtered else "no_documents"
        elif not decision.passed:
            _log_refusal(decision, space)
            reason = "below_gate"
        elif reranking:
            with span("rerank"), trace.stage("rerank"):
                hits, trace.rerank_scores, enough = await reranking.apply(
                    question, result, space.fusion
                )
            if not enough:
                _logger.info("reranker refused: nothing reaches its least score")
                reason = "below_gate"
        hits = hits[:top_k]
        sources = []
        if not reason:
            sources = sources_of(hits, max_tokens=self._max_tokens, max_sources=self._max_sources)
        return Retrieval(hits, decision, trace, space.description, sources, reason)

    def _settle_on(self, space: Space, result: SearchResult) -> None:
        """Ask in ``space`` first from now on: it found something, so the database is of it."""
        if space is not self.space and result.candidates:
            _logger.warning("the database is now that of %s: using it", space.embedder.vector_space)
            self._spaces = sorted(self._spaces, key=lambda known: known is not space)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return as_nodes(await self.search(query_bundle.query_str))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.store.connections.run_blocking(self._aretrieve, query_bundle)


def _log_refusal(decision: GateDecision, space: Space) -> None:
    """The best distance, and what would have been enough."""
    best = "none" if decision.best is None else f"{decision.best:.4f}"
    enough = f"ceiling {space.max_distance:.4f}"
    if (estimate := decision.estimate) and not estimate.enough:
        enough = f"score {estimate.score:.4f}, least {estimate.least:.4f}"
    _logger.info("gate refused: best distance %s, %s", best, enough)


def as_nodes(retrieval: Retrieval) -> list[NodeWithScore]:
    """Nodes that an answer may rest on: the hits as LlamaIndex has them, or nothing if refused."""
    return [] if retrieval.reason else [as_node(hit) for hit in retrieval.hits]


def as_node(hit: Hit) -> NodeWithScore:
    """``hit`` as LlamaIndex has it; the score is the cosine similarity, 1 - distance."""
    metadata = {name: getattr(hit, name) for name in _NODE_METADATA}
    metadata["heading_path"] = list(hit.heading_path)
    node = TextNode(id_=hit.node_id, text=hit.content, metadata=metadata)
    return NodeWithScore(node=node, score=1 - hit.distance)
