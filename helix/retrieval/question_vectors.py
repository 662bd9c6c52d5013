"""The vector that a question is searched by: its own, and a little of the questions before it."""

from __future__ import annotations

import asyncio

import numpy as np

from helix.domain.followups import FollowUp
from helix.providers.base import Embedder
from helix.providers.failures import embedding_failures


async def question_vector(embedder: Embedder, asked: FollowUp) -> list[float]:
    """The vector of ``asked``, of length 1, or zeros where it has no word that is known.

    Raises:
        UpstreamError: the embedding service failed.
    """
    if not asked.earlier:
        return await _embed(embedder, asked.question)
    texts = [asked.question, *(text for text, _ in asked.earlier)]
    vectors = np.asarray(await asyncio.gather(*(_embed(embedder, text) for text in texts)))
    total = np.asarray([1.0, *(weight for _, weight in asked.earlier)]) @ vectors
    found: list[float] = (total / (np.linalg.norm(total) or 1.0)).tolist()
    return found


async def _embed(embedder: Embedder, text: str) -> list[float]:
    model = embedder.model
    # a trace of its own, or LlamaIndex's callback manager would keep an id a question
    with embedding_failures(), model.callback_manager.as_trace("query"):
        return await model.aget_query_embedding(text)
