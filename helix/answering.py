"""The one way an answer ends, for every adapter: its source holds, spans, guards, receipt. No HTTP.

engine's stream -> still held -> proved -> screened -> judged -> kept -> observed
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
import uuid
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol

from helix.clarifying import NEARLY, clarifying_question, one_line
from helix.contract import Verdict
from helix.ended import Asked, Ended, LongCitation, ended, long_citations
from helix.errors import Unavailable
from helix.guardrails import Flag, screen
from helix.judging import Judge
from helix.query_engine import AnswerStream, CitationQueryEngine
from helix.scope import Scope
from helix.telemetry.metrics import Metrics
from helix.telemetry.tracing import span
from helix.telemetry.watch import Watch

__all__ = [
    "NEARLY", "Answering", "Ended", "Inquiry", "Keeper", "LongCitation", "SourceChanged",
    "clarifying_question", "long_citations", "one_line",
]  # fmt: skip

_TRIES = 2
_LONG = 400
"""Characters of an answer from which its proof may take over 5 ms, if it does not quote."""
_CLOSE_SECONDS = 5.0

_logger = logging.getLogger(__name__)


class SourceChanged(Unavailable):
    """What an answer was made from was replaced or deleted before the answer had ended."""

    def __init__(self) -> None:
        super().__init__("a source was changed while it was answered from; ask again")


class Keeper(Protocol):
    """Where receipts go."""

    async def keep(self, ended: Ended) -> bool:
        """Store the receipt; False where that failed, which costs no answer."""
        ...


Observer = Callable[[Ended], None]
"""Is told of every answer that has ended, in the event loop; what it raises is logged."""


@dataclass(frozen=True)
class Answering:
    """What every question is answered with.

    Args:
        engine: the path to the model and back.
        judge: who judges whole answers, where that is asked for.
        guards: those that are on, of helix.settings.GUARDS.
        withhold: whether an answer that the judge does not call grounded is kept back, in JSON.
        keeper: where receipts go; None keeps none.
        observers: told of each ended answer, in order.
        metrics: where answers are counted.
    """

    engine: CitationQueryEngine
    judge: Judge
    guards: frozenset[str] = frozenset()
    withhold: bool = False
    keeper: Keeper | None = None
    observers: list[Observer] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)
    _finishing: set[asyncio.Task[Ended]] = field(default_factory=set)

    def finishing(self, task: asyncio.Task[Ended]) -> None:
        """Hold on to a task until it is done: what is left of an answer outlives its client."""
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def aclose(self) -> None:
        """Wait a little for what is being judged or kept, and give up the rest."""
        if tasks := set(self._finishing):
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


@dataclass(frozen=True)
class Inquiry:
    """One question with all that its answer depends on.

    ``debug`` and ``verdict`` say what the answer is to tell besides; ``told`` goes into it as it
    is. ``kept`` is False for an answer that is to leave no trace.
    """

    answering: Answering
    question: str
    scope: Scope
    top_k: int | None = None
    debug: bool = False
    verdict: bool = False
    told: dict[str, Any] = field(default_factory=dict)
    answer_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    trace_id: str = field(default_factory=lambda: secrets.token_hex(16))
    kept: bool = True
    began: float = field(default_factory=time.perf_counter)

    @cached_property
    def watch(self) -> Watch:
        """What counts it, once."""
        return self.answering.metrics.watched(self.began)

    @property
    def tells_verdict(self) -> bool:
        """Whether the answer carries a verdict: it was asked for, or every answer is judged."""
        return self.verdict or "verdict" in self.answering.guards

    async def begin(self) -> AnswerStream:
        """The answer with its first delta in hand.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: as CitationQueryEngine.ask does.
        """
        engine = self.answering.engine
        with self.watch.beginning():
            return await engine.ask(self.question, self.scope, self.top_k, deep=self.debug)

    async def whole(self) -> Ended:
        """The whole answer; asked again once where a source was changed meanwhile.

        Raises:
            SourceChanged: it was changed again.
            UpstreamError, StoreUnavailable, EmbedderMismatch: as begin, at any time.
        """
        for attempt in range(_TRIES):
            async with aclosing(await self.begin()) as stream:
                async for _ in stream:
                    continue
            try:
                done = await self.end(stream)
            except SourceChanged:
                if attempt == _TRIES - 1:
                    raise
                _logger.info("a source was changed meanwhile")
            else:
                return await self.finish(done, withhold=self.answering.withhold)
        raise AssertionError("unreachable")

    async def answer(self) -> dict[str, Any]:
        """``whole`` as JSON of POST /v1/query."""
        with self.watch:
            done = await self.whole()
        return {
            "answer": done.answer,
            "citations": done.citations,
            **self.end_json(done, whole=True),
        }

    async def end(self, stream: AnswerStream) -> Ended:
        """What ``stream``, of which all was taken, came to; nobody has judged or kept it yet.

        Raises:
            SourceChanged: it rests on what is no longer stored.
            StoreUnavailable: the database did not answer.
        """
        engine = self.answering.engine
        seconds = time.perf_counter() - self.began
        if not await engine.still_holds(stream.retrieval, self.scope):
            raise SourceChanged
        asked = Asked(self.question, self.scope, self.top_k, self.answer_id, self.trace_id)
        with span("prove"):
            proving = partial(self._proved, stream, asked, engine.retriever.max_distance, seconds)
            # a short answer takes less than handing it to a thread; a long one would hold up others
            return proving() if len(stream.answer) < _LONG else await asyncio.to_thread(proving)

    def _proved(self, stream: AnswerStream, asked: Asked, ceiling: float, seconds: float) -> Ended:
        return ended(stream, asked, ceiling, self._flags(stream), seconds)

    def finishing(self, done: Ended, *, withhold: bool = False) -> asyncio.Task[Ended]:
        """Judge, keep and report ``done``, whether or not its client stays; the task is held."""
        self.watch.complete()
        task = asyncio.ensure_future(self._finish(done, withhold))
        self.answering.finishing(task)
        return task

    async def finish(self, done: Ended, *, withhold: bool = False) -> Ended:
        """``finishing``, awaited: ``done`` with its verdict, or what stands in for it."""
        return await asyncio.shield(self.finishing(done, withhold=withhold))

    def end_json(self, done: Ended, *, whole: bool) -> dict[str, Any]:
        """What is known of an answer besides text and citations.

        ``whole``: the verdict is among it; otherwise it is an event of its own.
        """
        end: dict[str, Any] = {
            "abstained": done.abstained,
            "reason": done.reason,
            "clarifying_question": done.clarifying_question,
            "support": done.support(),
        }
        if whole and self.tells_verdict:
            end["verdict"] = done.verdict_json()
        end |= {"answer_id": self.answer_id, "trace_id": self.trace_id, **self.told}
        return end | {"debug": done.debug} if self.debug else end

    def _flags(self, stream: AnswerStream) -> list[Flag]:
        screens = "injection" in self.answering.guards
        return screen(stream.retrieval.sources) if screens else []

    async def _finish(self, done: Ended, withhold: bool) -> Ended:
        if not done.abstained and (self.tells_verdict or withhold):
            done = replace(done, verdict=await self._verdict(done), judged=True)
            if withhold and not (done.verdict and done.verdict.grounded):
                _logger.info("an answer was withheld")
                done = done.withheld()
        if self.kept:
            if self.answering.keeper:
                with span("receipt"):
                    stored = await self.answering.keeper.keep(done)
                if not stored:
                    self.answering.metrics.receipt_failed()
            self._report(done)
        return done

    async def _verdict(self, done: Ended) -> Verdict | None:
        judge = self.answering.judge
        try:
            with span("judge", model=judge.identity):
                return await judge.judge(self.question, done.answer, done.retrieval.sources)
        except Exception as error:  # noqa: BLE001  whatever it is, the answer is there
            _logger.warning("judge %s failed: %s", judge.identity, type(error).__name__)
            return None

    def _report(self, done: Ended) -> None:
        for observer in (self.watch.end, *self.answering.observers):
            try:
                observer(done)
            except Exception as error:  # noqa: BLE001
                _logger.warning("an observer failed: %s", type(error).__name__)
