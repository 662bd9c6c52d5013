"""The measures of retrieval, by LlamaIndex's RetrieverEvaluator over the retriever that serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from evals.cases import Span
from helix.domain.scope import Scope
from helix.retrieval.gated_retriever import GatedRetriever, as_nodes

NAMES = {"recall": "recall@k", "hit_rate": "hit rate@k", "mrr": "MRR@k", "ndcg": "nDCG@k"}
"""LlamaIndex's metrics, each 0 to 1, and what reports call them; k is RETRIEVAL_TOP_K. Of nDCG the
ideal has all expected chunks, however many."""

_NOTHING = "nothing"

Chunk = tuple[int, str, int, int]
"""Id, source_uri, start and end of a stored chunk."""


class ServedRetriever(BaseRetriever):
    """The results that GatedRetriever serves within ``scope``, by the ids that cases expect.

    These are ``chunks.id``, or with ``by_document`` source_uris, each at the place of its best
    chunk. A refusal is one node that nobody expects, for LlamaIndex's metrics take no empty list.
    """

    def __init__(self, retriever: GatedRetriever, scope: Scope, *, by_document: bool) -> None:
        super().__init__()
        self._retriever = retriever
        self._scope = scope
        self._key = "source_uri" if by_document else "chunk_id"

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = as_nodes(await self._retriever.search(query_bundle.query_str, self._scope))
        return named(nodes, self._key) or [NodeWithScore(node=TextNode(id_=_NOTHING, text=""))]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError("it is asked from an event loop only")


def named(nodes: Iterable[NodeWithScore], key: str) -> list[NodeWithScore]:
    """``nodes``, best first, by what their metadata has under ``key``; the best of each."""
    found: dict[str, NodeWithScore] = {}
    for node in nodes:
        found.setdefault(str(node.metadata[key]), node)
    return [
        NodeWithScore(node=TextNode(id_=name, text=node.text), score=node.score)
        for name, node in found.items()
    ]


def expected_ids(spans: Iterable[Span], chunks: Sequence[Chunk], *, by_document: bool) -> list[str]:
    """The ids of what answers: documents, or the chunks that share a character with a passage."""
    if by_document:
        return list(dict.fromkeys(span.source for span in spans))
    ids = [
        str(chunk_id)
        for span in spans
        for chunk_id, source, start, end in chunks
        if source == span.source and span.overlaps(start, end)
    ]
    return list(dict.fromkeys(ids))


async def retrieval_scores(
    retriever: GatedRetriever,
    scope: Scope,
    question: str,
    expected: Sequence[str],
    *,
    by_document: bool,
) -> Mapping[str, float]:
    """The metrics of NAMES for one question; all 0 where the gate refused it."""
    served = ServedRetriever(retriever, scope, by_document=by_document)
    evaluator = RetrieverEvaluator.from_metric_names(list(NAMES), retriever=served)
    result = await evaluator.aevaluate(question, list(expected))
    return result.metric_vals_dict
