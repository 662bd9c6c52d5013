"""Reranked hits, or the hits as they came: a reranker that fails costs an answer nothing."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from helix.errors import HelixError, UpstreamError
from helix.records import Hit
from helix.reranking.base import Reranker

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reranked:
    """``hits`` best first and their ``scores``; None where the reranker failed, hits as they came.

    ``seconds`` is how long it took, failed or not.
    """

    hits: list[Hit]
    scores: list[float] | None
    seconds: float


class Failures:
    """How often reranking failed; counts up from 0, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def add(self) -> None:
        with self._lock:
            self._count += 1

    def count(self) -> int:
        return self._count


_failures = Failures()


def failures() -> int:
    """How often reranking failed since this process started, timeouts among them."""
    return _failures.count()


async def reranked(
    reranker: Reranker,
    question: str,
    hits: Sequence[Hit],
    *,
    timeout: float,  # noqa: ASYNC109 - a caller's own would cost it the hits
) -> Reranked:
    """``hits`` in the order that ``reranker`` gives them; those of equal score stay in theirs.

    Only the hits' contents are sent. Any failure, and more than ``timeout`` seconds, gives the hits
    as they came; it is counted and logged, without a word of question or text. Being cancelled is
    no failure and passes through.
    """
    began = time.monotonic()
    scores = await _scores(reranker, question, hits, within=timeout)
    if scores is None:
        return Reranked(list(hits), None, time.monotonic() - began)
    order = sorted(range(len(hits)), key=lambda place: -scores[place])
    return Reranked(
        [hits[place] for place in order],
        [scores[place] for place in order],
        time.monotonic() - began,
    )


async def _scores(
    reranker: Reranker, question: str, hits: Sequence[Hit], within: float
) -> list[float] | None:
    """A finite score a hit, in the order of the hits; None, counted and logged, without."""
    if not hits:
        return []
    try:
        async with asyncio.timeout(within):
            scores = await reranker.scores(question, [hit.content for hit in hits])
        return _checked(scores, len(hits), reranker.identity)
    except Exception as error:  # noqa: BLE001 - whatever it is, the search's order is there
        _failures.add()
        _logger.warning("%s: hits stay as the search ordered them", _reason(error, reranker))
        return None


def _checked(scores: Sequence[float], count: int, identity: str) -> list[float]:
    if len(scores) != count:
        raise UpstreamError(f"{identity} gave {len(scores)} scores for {count} texts: try again")
    checked = [float(score) for score in scores]
    if not all(map(math.isfinite, checked)):
        raise UpstreamError(f"{identity} gave a score that is not finite: try again")
    return checked


def _reason(error: Exception, reranker: Reranker) -> str:
    """Our own errors hold no text of others; of any other one only the class may be told."""
    if isinstance(error, HelixError):
        return str(error)
    return f"{reranker.identity} failed ({type(error).__name__})"
