"""The vectors that a question is searched by: its own, with a little of the questions before it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import numpy as np

from helix.domain.followups import FollowUp
from helix.errors import HelixError
from helix.providers.base import Embedder
from helix.providers.failures import embedding_failures

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddedQuestion:
    """A question with its ``vector``, as ``question_vector`` makes it."""

    asked: FollowUp
    vector: list[float]


async def embed_question(
    embedder: Embedder, asked: FollowUp, terms: str | None
) -> tuple[EmbeddedQuestion, EmbeddedQuestion | None]:
    """``asked``, and the rewriter's ``terms`` as a question beside it; both at the same time.

    None for terms that could not be embedded, which costs no answer.

    Raises:
        UpstreamError: the embedding service failed.
    """
    if terms is None:
        return EmbeddedQuestion(asked, await question_vector(embedder, asked)), None
    vector, beside = await asyncio.gather(
        question_vector(embedder, asked), _embed_terms(embedder, terms)
    )
    return EmbeddedQuestion(asked, vector), beside


async def _embed_terms(embedder: Embedder, terms: str) -> EmbeddedQuestion | None:
    asked = FollowUp(terms)
    try:
        return EmbeddedQuestion(asked, await question_vector(embedder, asked))
    except HelixError as error:
        _logger.warning("search terms were not embedded: %s", type(error).__name__)
        return None


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
