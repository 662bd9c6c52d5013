"""GatedRetriever: embed the question, search, gate. Nothing comes back that the gate refused."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from helix.contract import DEFAULT_TOP_K
from helix.errors import EmbedderMismatch, HelixError, UpstreamError
from helix.gate import GateDecision, decide
from helix.hybrid_sql import Fusion
from helix.next_embedder import Space
from helix.providers.base import Embedder
from helix.records import Hit
from helix.store import ChunkStore

_logger = logging.getLogger(__name__)

_Side = tuple[Space, ChunkStore]
"""A vector space, and the store as one of that space."""
_Found = tuple[list[Hit], list[float]]
"""What was found, and the distances that the gate goes by."""


@dataclass(frozen=True)
class Retrieval:
    """What a search found, best first, and what the gate said of it.

    ``hits`` is what was found either way; a refusal uses none of it.
    """

    hits: list[Hit]
    decision: GateDecision


class GatedRetriever(BaseRetriever):
    """Top-k by distance, or by distance and BM25, behind the distance gate.

    Any LlamaIndex engine can use it.

    Args:
        store: where the chunks are.
        embedder: of the identity that filled the store.
        max_distance: the gate's ceiling, a cosine distance from 0 to 2.
        top_k: chunks at most.
        fusion: how BM25 joins the distances; None searches by distance alone.
        following: what to ask in once the database's embedder was changed (pipelines.reembed).
    """

    def __init__(
        self,
        store: ChunkStore,
        embedder: Embedder,
        *,
        max_distance: float,
        top_k: int = DEFAULT_TOP_K,
        fusion: Fusion | None = None,
        following: Sequence[Space] = (),
    ) -> None:
        super().__init__()
        self.top_k = top_k
        self.fusion = fusion
        self._sides: list[_Side] = [(Space(embedder, max_distance), store)]
        self._sides += [(space, store.session(space.embedder.identity)) for space in following]
        self._side = self._sides[0]

    @property
    def max_distance(self) -> float:
        """The gate's ceiling in the space that answered last."""
        return self._side[0].max_distance

    async def search(self, question: str, document_id: int | None = None) -> Retrieval:
        """The chunks that fit ``question`` best and the gate's decision; a refusal is logged.

        Raises:
            UpstreamError: the embedding service failed.
            StoreUnavailable, EmbedderMismatch: the search failed.
        """
        mismatches: list[EmbedderMismatch] = []
        for side in self._in_turn():
            space, store = side
            vector = await _embedded(space.embedder, question)
            try:
                found = await self._found(store, question, vector, document_id)
            except EmbedderMismatch as mismatch:
                mismatches.append(mismatch)
            else:
                return self._gated(*found, side)
        raise mismatches[0]

    def search_blocking(self, question: str) -> Retrieval:
        """``search`` for code without an event loop."""
        mismatches: list[EmbedderMismatch] = []
        for side in self._in_turn():
            space, store = side
            vector = space.embedder.model.get_query_embedding(question)
            try:
                found = self._found_blocking(store, question, vector)
            except EmbedderMismatch as mismatch:
                mismatches.append(mismatch)
            else:
                return self._gated(*found, side)
        raise mismatches[0]

    async def _found(
        self, store: ChunkStore, question: str, vector: list[float], document_id: int | None
    ) -> _Found:
        if self.fusion is None:
            hits = await store.search(vector, self.top_k, document_id)
            return hits, [hit.distance for hit in hits]
        found = await store.search_hybrid(question, vector, self.top_k, document_id, self.fusion)
        return found.hits, [] if found.nearest is None else [found.nearest]

    def _found_blocking(self, store: ChunkStore, question: str, vector: list[float]) -> _Found:
        if self.fusion is None:
            hits = store.search_blocking(vector, self.top_k)
            return hits, [hit.distance for hit in hits]
        found = store.search_hybrid_blocking(question, vector, self.top_k, self.fusion)
        return found.hits, [] if found.nearest is None else [found.nearest]

    def _in_turn(self) -> list[_Side]:
        """The one that answered last, then the others: the database may be another's by now."""
        first = self._side
        return [first, *(side for side in self._sides if side is not first)]

    def _gated(self, hits: list[Hit], distances: Sequence[float], side: _Side) -> Retrieval:
        space, _ = side
        if side is not self._side and hits:
            _logger.warning("the database is now that of %s: using it", space.embedder.identity)
            self._side = side
        decision = decide(distances, space.max_distance)
        if not decision.passed:
            best = "none" if decision.best is None else f"{decision.best:.4f}"
            _logger.info("gate refused: best distance %s, ceiling %.4f", best, space.max_distance)
        return Retrieval(hits, decision)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return as_nodes(await self.search(query_bundle.query_str))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return as_nodes(self.search_blocking(query_bundle.query_str))


async def _embedded(embedder: Embedder, question: str) -> list[float]:
    try:
        model = embedder.model
        # a trace of its own, or LlamaIndex's callback manager would keep an id a question
        with model.callback_manager.as_trace("query"):
            return await model.aget_query_embedding(question)
    except HelixError:
        raise
    except Exception as error:
        raise _embedding_failed(error) from error


def _embedding_failed(error: Exception) -> UpstreamError:
    return UpstreamError(f"the embedding service failed ({type(error).__name__}); try again")


def as_nodes(retrieval: Retrieval) -> list[NodeWithScore]:
    """What an answer may rest on: the hits as LlamaIndex has them, or nothing if refused."""
    return [as_node(hit) for hit in retrieval.hits] if retrieval.decision.passed else []


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
