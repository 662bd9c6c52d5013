"""Voyage's rerankers, by LlamaIndex's VoyageAIRerank over a client of our own making.

LlamaIndex's constructor is passed by: its client waits 600 s for an answer, and cannot be given a
timeout or an address.
"""

from __future__ import annotations

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.postprocessor.voyageai_rerank import VoyageAIRerank
from voyageai.client import Client

from helix.retrieval.reranking.base import Reranker
from helix.retrieval.reranking.vendors import PostprocessorReranker

MODEL = "rerank-2.5"


def voyage_reranker(
    model: str, *, key: str, timeout: float, min_score: float | None, base_url: str | None
) -> Reranker:
    """Rerank with ``model``, or MODEL where it is empty; opens no connection.

    ``timeout`` is the longest silence in seconds; ``base_url`` None is Voyage. There is no default
    for ``min_score``: Voyage documents none, and nobody here has calibrated one.
    """
    model = model or MODEL
    client = Client(key, max_retries=0, timeout=timeout, base_url=base_url)
    return PostprocessorReranker(_Postprocessor(model, client), f"voyage:{model}", min_score)


class _Postprocessor(VoyageAIRerank):
    def __init__(self, model: str, client: Client) -> None:
        BaseNodePostprocessor.__init__(self, model=model, top_n=1)
        self._client = client
