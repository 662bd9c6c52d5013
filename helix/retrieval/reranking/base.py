"""The interface of a reranker: how well each text answers a question, as one number a text."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol


class Reranker(Protocol):
    """A model that reads a question and a text together.

    ``identity`` names it, ``kind:model``; scores of two identities cannot be compared.
    ``min_score`` is the score below which no text is relevant, in the scale of ``scores``; None
    where nobody has calibrated one. Call it through ``reranked``, which survives its
    failures.
    """

    @property
    def identity(self) -> str: ...

    @property
    def min_score(self) -> float | None: ...

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in the order of ``texts``, higher is better; those here give 0 to 1.

        Nothing but the question and the texts leaves the process.

        Raises:
            UpstreamError: the model failed, or gave another number of scores.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads; does not wait for a call under way."""
        ...


class BlockingReranker(ABC):
    """A Reranker by blocking calls, at most ``threads`` at once; further ones wait for a thread.

    A thread cannot be stopped: a call whose caller has left keeps its thread until it returns.
    One that still waits is dropped with its caller. ``asyncio.to_thread`` is no way to do this:
    its threads are shared with all else, and calls that hang would take every one of them.
    """

    def __init__(self, identity: str, min_score: float | None, threads: int) -> None:
        self.identity = identity
        self.min_score = min_score
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="helix-rerank")

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._scores, question, list(texts))

    @abstractmethod
    def _scores(self, question: str, texts: list[str]) -> list[float]: ...

    async def aclose(self) -> None:
        # Not cancel_futures: a waiting caller would see a CancelledError that nobody asked for.
        self._pool.shutdown(wait=False)
