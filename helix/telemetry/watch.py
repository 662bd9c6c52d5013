"""One answer as it is watched: when its first token came, how it ended, and what it took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from helix.telemetry.tracing import note

if TYPE_CHECKING:  # what answers imports this
    from helix.ended import Ended
    from helix.telemetry.metrics import Metrics

Outcome = Literal["answered", "refused", "error", "cut", "left"]
"""``error`` failed before its first token, ``cut`` after it; ``left``: the client did not wait."""

REASONS = frozenset({"no_documents", "below_gate", "filtered_empty", "model_refused", "ungrounded"})
"""Why nothing was answered; any other is told as ``other``."""


class Watch:
    """Tells metrics, and the request's span, what came of one question; it counts once.

    Over a block (``with`` or ``async with``) that an answer is given in, it counts one that was
    not completed there as cut, or left.

    Args:
        began: the ``time.perf_counter()`` at which the question came.
    """

    def __init__(self, metrics: Metrics, began: float) -> None:
        self._metrics = metrics
        self._began = began
        self._first = False
        self._complete = False
        self._counted = False

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """The block after which the first delta is in hand; an error of it is the answer's."""
        try:
            yield
        except BaseException as error:
            self.fail(error)
            raise
        if not self._first:
            self._first = True
            self._metrics.first_token(time.perf_counter() - self._began)

    def complete(self) -> None:
        """All of it is there: whatever its reader does now, ``end`` counts it."""
        self._complete = True

    def end(self, done: Ended) -> None:
        """Count ``done``, which was answered or refused."""
        if self._counted:
            return
        self._complete = self._counted = True
        reason = _told(done.reason)
        outcome: Outcome = "refused" if done.reason else "answered"
        tokens: dict[str, int] = done.debug["tokens"]
        self._metrics.answered(outcome, reason, done.seconds, done.debug["seconds"], tokens)
        self._metrics.flagged(flag.kind for flag in done.flags)
        self._metrics.removed(done.removed)
        if done.judged:
            self._metrics.judged(done.verdict.grounded if done.verdict else None)
        note(
            answer_id=done.asked.answer_id,
            outcome=outcome,
            reason=reason or None,
            sources=len(done.retrieval.sources),
            citations=len(done.citations),
            flags=len(done.flags),
            context_tokens=tokens["context"],
            answer_tokens=tokens["answer"],
        )

    def fail(self, error: BaseException | None) -> None:
        """Count an answer that ended by ``error``; None: an error that was dealt with already."""
        if self._complete or self._counted:
            return
        self._counted = True
        outcome: Outcome = "cut" if self._first else "error"
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            outcome = "left"
        self._metrics.answered(outcome, "", time.perf_counter() - self._began, {}, {})
        note(outcome=outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.fail(error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.fail(error)


def _told(reason: str | None) -> str:
    if not reason:
        return ""
    return reason if reason in REASONS else "other"
