"""Cohere's rerankers, by LlamaIndex's CohereRerank over a client of our own making.

LlamaIndex's constructor is passed by: it makes a client that waits 300 s for an answer and ignores
``CO_API_URL``, the SDK's own variable.
"""

from __future__ import annotations

import os
from typing import Any

import httpx
from cohere import ClientV2
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.postprocessor.cohere_rerank import CohereRerank

from helix.retrieval.reranking.base import Reranker
from helix.retrieval.reranking.vendors import PostprocessorReranker

MODEL = "rerank-v3.5"
MIN_SCORE = 0.15
"""Cohere's scores lie from 0 to 1; their meaning shifts with model and material."""


def cohere_reranker(
    model: str, *, key: str, timeout: float, min_score: float | None, base_url: str | None
) -> Reranker:
    """Rerank with ``model``, or MODEL where it is empty; opens no connection.

    ``timeout`` is the longest silence in seconds; ``base_url`` None is ``CO_API_URL``, or Cohere.
    """
    model = model or MODEL
    http = httpx.Client(timeout=timeout)
    client = ClientV2(
        key, base_url=base_url or os.environ.get("CO_API_URL"), timeout=timeout, httpx_client=http
    )
    return PostprocessorReranker(
        _Postprocessor(model, _OneAttempt(client)),
        f"cohere:{model}",
        MIN_SCORE if min_score is None else min_score,
        http.close,
    )


class _OneAttempt:
    """The part of Cohere's client that LlamaIndex calls, without its two retries.

    They obey a Retry-After of up to 60 s each, asleep in a thread, when nobody waits any more.
    """

    def __init__(self, client: ClientV2) -> None:
        self._client = client

    def rerank(self, **request: Any) -> Any:
        return self._client.rerank(**request, request_options={"max_retries": 0})


class _Postprocessor(CohereRerank):
    def __init__(self, model: str, client: _OneAttempt) -> None:
        # max_retries counts attempts: LlamaIndex's default is ten, 4 to 10 s apart
        BaseNodePostprocessor.__init__(self, model=model, top_n=1, max_retries=1)
        self._client = client
