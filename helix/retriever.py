"""GatedRetriever: embed the question, search, gate, rerank. Nothing refused comes back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from helix.calibration import Calibration, GateModel
from helix.context import sources_of
from helix.contract import DEFAULT_TOP_K
from helix.errors import EmbedderMismatch, HelixError, UpstreamError
from helix.gate import GateDecision, decide
from helix.hybrid_sql import LISTED, SCORED
from helix.merging import merged
from helix.next_embedder import Space
from helix.providers.base import Embedder
from helix.records import Candidate, Found, Hit
from helix.reranking.stage import RERANKED, Reranking
from helix.retrieval import Reason, Retrieval, Trace
from helix.rewriting.base import Rewriter
from helix.scope import Scope
from helix.store import ChunkStore
from helix.telemetry.tracing import span, tell

_logger = logging.getLogger(__name__)

_Side = tuple[Space, ChunkStore]
"""A vector space, and the store as one of that space."""


class GatedRetriever(BaseRetriever):
    """Top-k by distance, or by distance and BM25, behind the distance gate.

    Any LlamaIndex engine can use it. Without an event loop (``retrieve``) it neither rewrites nor
    reranks.

    Args:
        store: where the chunks are.
        space: what questions are asked in: the embedder of the identity that filled the store,
            the gate's ceiling, and how BM25 joins the distances.
        top_k: chunks at most.
        following: what to ask in once the database's embedder was changed (pipelines.reembed).
        rewriter: makes terms that are searched beside the question.
        reranking: reorders what was found.
        calibration: judges what was found in the distance's place (HELIX_GATE=calibrated).
    """

    def __init__(
        self,
        store: ChunkStore,
        space: Space,
        *,
        top_k: int = DEFAULT_TOP_K,
        following: Sequence[Space] = (),
        rewriter: Rewriter | None = None,
        reranking: Reranking | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        super().__init__()
        self.top_k = top_k
        self.store = store
        self._rewriter = rewriter
        self._reranking = reranking
        self._calibration = calibration
        self._sides: list[_Side] = [(space, store)]
        self._sides += [(other, store.session(other.embedder.identity)) for other in following]
        self._side = self._sides[0]

    @property
    def max_distance(self) -> float:
        """The gate's ceiling in the space that answered last."""
        return self._side[0].max_distance

    async def search(
        self,
        question: str,
        scope: Scope | None = None,
        top_k: int | None = None,
        *,
        deep: bool = False,
    ) -> Retrieval:
        """What fits ``question`` best within ``scope``, and whether it may be answered from.

        A refusal is logged. ``top_k`` of None is the retriever's own. ``deep`` puts all
        candidates into the trace; it changes nothing else.

        Raises:
            UpstreamError: the embedding service failed.
            StoreUnavailable, EmbedderMismatch: the search failed.
        """
        trace, scope, top_k = Trace(), scope or Scope(self.store.tenant), top_k or self.top_k
        with trace.stage("rewrite"):
            trace.terms = await self._rewriter.terms(question) if self._rewriter else None
        mismatches: list[EmbedderMismatch] = []
        for side in self._in_turn():
            try:
                found = await self._found(side, question, scope, self._depth(top_k), trace, deep)
            except EmbedderMismatch as mismatch:
                mismatches.append(mismatch)
            else:
                self._settle_on(side, found)
                return await self._judged(question, found, scope, top_k, trace)
        raise mismatches[0]

    def _depth(self, top_k: int) -> int:
        return max(top_k, RERANKED) if self._reranking else top_k

    async def _found(
        self, side: _Side, question: str, scope: Scope, depth: int, trace: Trace, deep: bool
    ) -> Found:
        founds = await self._both(side, question, scope, depth, trace)
        found = merged(founds)
        trace.candidates = found.candidates
        if deep:  # a search of its own, for a deeper one may order what is equally near otherwise
            more = await self._both(side, question, scope, _listed(*side, depth), Trace())
            trace.candidates = _followed(found.candidates, merged(more).candidates)
        return found

    async def _both(
        self, side: _Side, question: str, scope: Scope, depth: int, trace: Trace
    ) -> list[Found]:
        """What the question finds, and the terms beside it where there are any."""
        own = _one(side, question, scope, depth, trace)
        if trace.terms is None:
            return [await own]
        found, more = await asyncio.gather(own, _beside(side, trace.terms, scope, depth))
        return [found] if more is None else [found, more]

    async def _judged(
        self, question: str, found: Found, scope: Scope, top_k: int, trace: Trace
    ) -> Retrieval:
        with span("gate"):
            decision = self._decided(question, found, top_k, await self._model(scope))
            tell(passed=decision.passed, by_name=decision.by_name, found=len(found.candidates))
        hits = found.hits
        if not hits:
            return Retrieval([], decision, trace, reason=await self._nothing_in(scope))
        if not decision.passed:
            best = "none" if decision.best is None else f"{decision.best:.4f}"
            _logger.info("gate refused: best distance %s, %s", best, self._least(decision))
            return Retrieval(hits[:top_k], decision, trace, reason="below_gate")
        if self._reranking:
            with trace.stage("rerank"):
                hits, trace.rerank_scores, enough = await self._reranking.apply(question, found)
            if not enough:
                _logger.info("reranker refused: nothing reaches its least score")
                return Retrieval(hits[:top_k], decision, trace, reason="below_gate")
        hits = hits[:top_k]
        return Retrieval(hits, decision, trace, sources=sources_of(hits))

    async def _model(self, scope: Scope) -> GateModel | None:
        if self._calibration is None:
            return None
        space, store = self._side
        return await self._calibration.model_of(store.of(scope.tenant), space.embedder.identity)

    def _least(self, decision: GateDecision) -> str:
        """What would have been enough, for the log."""
        if (estimate := decision.estimate) and not estimate.enough:
            return f"score {estimate.score:.4f}, least {estimate.least:.4f}"
        return f"ceiling {self.max_distance:.4f}"

    async def _nothing_in(self, scope: Scope) -> Reason:
        if scope.narrowed and await self.store.of(scope.tenant).has_chunks():
            return "filtered_empty"
        return "no_documents"

    def search_blocking(self, question: str) -> Retrieval:
        """``search`` of everything, by question alone, for code without an event loop."""
        mismatches: list[EmbedderMismatch] = []
        for side in self._in_turn():
            space, store = side
            vector = space.embedder.model.get_query_embedding(question)
            try:
                found = _searched_blocking(store, space, question, vector, self.top_k)
            except EmbedderMismatch as mismatch:
                mismatches.append(mismatch)
            else:
                self._settle_on(side, found)
                return self._judged_blocking(question, found)
        raise mismatches[0]

    def _decided(
        self, question: str, found: Found, top_k: int, model: GateModel | None
    ) -> GateDecision:
        """The gate over the nearest of all candidates, and the words of the first ``top_k``."""
        distances = [] if found.nearest is None else [found.nearest]
        space = self._side[0]
        lexical = found.lexical(top_k) if space.lexical else None
        estimate = (
            self._calibration.estimate(model, question, found, top_k) if self._calibration else None
        )
        decision = decide(distances, space.max_distance, lexical, estimate)
        if decision.by_name:
            _logger.info("gate passed by an exact match; best distance %s", decision.best)
        return decision

    def _judged_blocking(self, question: str, found: Found) -> Retrieval:
        space, store = self._side
        model = (
            self._calibration.kept_model(store.tenant, space.embedder.identity)
            if self._calibration
            else None
        )
        decision = self._decided(question, found, self.top_k, model)
        trace = Trace(candidates=found.candidates)
        if decision.passed:
            return Retrieval(found.hits, decision, trace, sources=sources_of(found.hits))
        reason: Reason = "below_gate" if found.hits else "no_documents"
        return Retrieval(found.hits, decision, trace, reason=reason)

    def _in_turn(self) -> list[_Side]:
        """The one that answered last, then the others: the database may be another's by now."""
        first = self._side
        return [first, *(side for side in self._sides if side is not first)]

    def _settle_on(self, side: _Side, found: Found) -> None:
        if side is not self._side and found.candidates:
            identity = side[0].embedder.identity
            _logger.warning("the database is now that of %s: using it", identity)
            self._side = side

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return as_nodes(await self.search(query_bundle.query_str))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return as_nodes(self.search_blocking(query_bundle.query_str))


def _listed(space: Space, store: ChunkStore, depth: int) -> int:
    """The most candidates whose first ``depth`` are the same as without the others.

    A hybrid search scores as many in any case. The scan of a search by distance keeps
    ``ef_search``, and would find others if it had to keep more.
    """
    most = SCORED if space.fusion else min(LISTED, store.ef_search)
    return max(depth, most)


def _followed(used: list[Candidate], more: list[Candidate]) -> list[Candidate]:
    """``used``, then the others of ``more``."""
    known = {candidate.hit.chunk_id for candidate in used}
    return used + [candidate for candidate in more if candidate.hit.chunk_id not in known]


async def _one(side: _Side, text: str, scope: Scope, depth: int, trace: Trace) -> Found:
    space, store = side
    with trace.stage("embed"):
        vector = await _embedded(space.embedder, text)
    with trace.stage("search"):
        return await _searched(store, space, text, vector, scope, depth)


async def _beside(side: _Side, terms: str, scope: Scope, depth: int) -> Found | None:
    """What terms made of the question find; None where that fails, which costs no answer."""
    try:
        return await _one(side, terms, scope, depth, Trace())
    except HelixError as error:
        _logger.warning("search terms were not searched: %s", type(error).__name__)
        return None


async def _searched(
    store: ChunkStore, space: Space, text: str, vector: list[float], scope: Scope, depth: int
) -> Found:
    if space.fusion is None:
        return _by_distance(await store.search(vector, depth, scope))
    return await store.search_hybrid(text, vector, depth, scope, space.fusion)


def _searched_blocking(
    store: ChunkStore, space: Space, text: str, vector: list[float], depth: int
) -> Found:
    if space.fusion is None:
        return _by_distance(store.search_blocking(vector, depth))
    return store.search_hybrid_blocking(text, vector, depth, fusion=space.fusion)


def _by_distance(hits: list[Hit]) -> Found:
    candidates = [Candidate(hit, 1 - hit.distance, rank) for rank, hit in enumerate(hits, 1)]
    return Found(candidates, hits[0].distance if hits else None)


async def _embedded(embedder: Embedder, text: str) -> list[float]:
    try:
        model = embedder.model
        # a trace of its own, or LlamaIndex's callback manager would keep an id a question
        with model.callback_manager.as_trace("query"):
            return await model.aget_query_embedding(text)
    except HelixError:
        raise
    except Exception as error:
        raise _embedding_failed(error) from error


def _embedding_failed(error: Exception) -> UpstreamError:
    return UpstreamError(f"the embedding service failed ({type(error).__name__}); try again")


def as_nodes(retrieval: Retrieval) -> list[NodeWithScore]:
    """What an answer may rest on: the hits as LlamaIndex has them, or nothing if refused."""
    return [] if retrieval.reason else [as_node(hit) for hit in retrieval.hits]


def as_node(hit: Hit) -> NodeWithScore:
    """``hit`` as LlamaIndex has it; the score is the cosine similarity, 1 - distance."""
    node = TextNode(
        id_=hit.node_id,
        text=hit.content,
        metadata={
            "chunk_id": hit.chunk_id,
            "document_id": hit.document_id,
            "title": hit.title,
            "source_uri": hit.source_uri,
            "start_char": hit.start_char,
            "end_char": hit.end_char,
            "page": hit.page,
            "heading_path": list(hit.heading_path),
            "label": hit.label,
        },
    )
    return NodeWithScore(node=node, score=1 - hit.distance)
