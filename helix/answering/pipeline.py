"""The path of a question to its answer, for every adapter: HTTP, terminal, evaluations.

engine's stream -> sources still hold -> proved -> screened -> judged -> receipt saved -> observed
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from helix.answering.answer import Answer, answer_of
from helix.answering.answerers import Answerer, Answerers, tell_meter
from helix.answering.engine import CitationQueryEngine
from helix.answering.gatherer import Gatherer
from helix.answering.guardrails import screen
from helix.answering.judging import Judge
from helix.answering.numbering import for_readers
from helix.answering.outcome import OutcomeRecorder
from helix.answering.question import Question
from helix.answering.reading_right import ReadingRight
from helix.answering.refusal import WEIGHED
from helix.answering.stream import AnswerStream, GatheringStream
from helix.domain.contract import Verdict
from helix.errors import Unavailable, problem_of
from helix.library.prompt_versions import PromptBook
from helix.overload.fairness import LONG
from helix.providers.base import LanguageModel, is_offline
from helix.settings.prompts import Prompts, reading
from helix.telemetry.metrics import Metrics
from helix.telemetry.tracing import span
from helix.telemetry.usage_meter import current_meter

_ATTEMPTS = 2
_CLOSE_SECONDS = 5.0

_logger = logging.getLogger(__name__)


class SourceChanged(Unavailable):
    """A source of the answer was replaced or deleted while the answer was being made."""

    def __init__(self) -> None:
        super().__init__("a source was changed while it was answered from; ask again")


class ReceiptStore(Protocol):
    """Stores receipts."""

    async def save(self, answer: Answer, owner: str, seconds: float) -> bool:
        """Store the receipt of ``answer`` to a question of ``owner``'s, as a Reach names it.

        The question was asked ``seconds`` ago. False where that failed, which costs no answer.
        """
        ...


Observer = Callable[[Answer], None]
"""Is called in the event loop with each finished answer; what it raises is logged."""


@dataclass(frozen=True)
class AnswerPipeline:
    """The services that all questions of a process are answered with.

    Args:
        engine: retrieves, asks the model and streams its answer.
        judge: judges whole answers, where a verdict is asked for.
        guards: the guards that are on, of helix.settings.values.Guard.
        withhold: whether an answer that the judge does not call grounded is replaced by the
            refusal, in responses of one JSON.
        receipts: the store of receipts; None stores none.
        observers: called with each finished answer, in order.
        metrics: the metrics that count answers.
        prompts: the tenants' own prompts; None: the shipped ones.
        agent: gathers the sources of questions whose mode is ``agent``; None: one search does.
        answerers: the models that a question may choose; None: the engine's alone.
    """

    engine: CitationQueryEngine
    judge: Judge
    guards: frozenset[str] = frozenset()
    withhold: bool = False
    receipts: ReceiptStore | None = None
    observers: list[Observer] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)
    prompts: PromptBook | None = None
    agent: Gatherer | None = None
    answerers: Answerers | None = None
    _background: set[asyncio.Task[Answer]] = field(default_factory=set)

    async def answerer_of(self, question: Question) -> Answerer:
        """The answerer of ``question``.

        Raises:
            ModelNotAllowed: it names a model that may not be chosen.
            StoreUnavailable: its tenant's choice could not be read.
        """
        if self.answerers is None:
            return Answerer(self.engine, self.agent)
        scope = question.scope
        return await self.answerers.chosen(question.model, scope.tenant, scope.space)

    async def prompts_of(
        self, tenant: str, llm: LanguageModel | None = None, space: int | None = None
    ) -> Prompts:
        """The prompts that ``tenant`` is answered with now, by ``llm``; raises StoreUnavailable.

        Those of questions about ``space`` alone, where one is named.

        The shipped ones where neither that model nor the judge reads any.
        """
        read = not (llm or self.engine.llm).quotes_only or not is_offline(self.judge.identity)
        return await self.prompts.of(tenant, space) if self.prompts and read else Prompts()

    def hold(self, task: asyncio.Task[Answer]) -> None:
        """Keep a reference to ``task`` until it is done; it may outlive its client."""
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def aclose(self) -> None:
        """Wait up to 5 s for answers that are being judged or stored, then cancel the rest."""
        if tasks := set(self._background):
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


@dataclass(frozen=True)
class AnswerRequest:
    """One question on its way through the pipeline.

    An adapter that streams calls ``start``, sends the deltas, then calls ``conclude`` and
    ``finish``; any other calls ``run`` or ``run_json``.

    Args:
        verdict: whether the JSON has a judge's verdict.
        extra: further keys for the JSON, given back as they are.
        recorded: False for an answer that leaves no receipt and is not counted, such as a replay.
        started: the ``time.perf_counter()`` at which the question came.
        prompts: the prompts to answer with; None: the tenant's, as they are when the answer begins.
        gatherer: gathers the sources in place of the pipeline's agent, such as a replay.
        cites_by_proof: whether a statement without a marker is cited to the source that bears it
            out, where one does.
        tells_closest: whether the passages that came closest to a refusal are told.
        right: to read what the answer is written from, looked at again while it is; None: nobody's
            to take away.
    """

    pipeline: AnswerPipeline
    question: Question
    verdict: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    recorded: bool = True
    started: float = field(default_factory=time.perf_counter)
    prompts: Prompts | None = None
    gatherer: Gatherer | None = None
    cites_by_proof: bool = True
    tells_closest: bool = True
    right: ReadingRight | None = None

    @cached_property
    def outcome(self) -> OutcomeRecorder:
        """The recorder that counts the question's outcome, once."""
        return OutcomeRecorder(self.pipeline.metrics, self.started)

    @property
    def has_verdict(self) -> bool:
        """True if the answer is judged: the client asks for it, or every answer is judged."""
        return self.verdict or "verdict" in self.pipeline.guards

    async def run(self) -> Answer:
        """The finished answer; asked again once where a source was changed meanwhile.

        Raises:
            SourceChanged: a source was changed during the second attempt too.
            UpstreamError, StoreUnavailable, EmbedderMismatch: as ``start``, at any time.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            async with aclosing(await self.start()) as stream:
                async for _ in stream:
                    continue
            try:
                answer = await self.conclude(stream)
            except SourceChanged:
                if attempt == _ATTEMPTS:
                    raise
                _logger.info("a source was changed meanwhile")
            else:
                return await self.finish(answer, withhold=self.pipeline.withhold)
        raise AssertionError("unreachable")

    async def run_json(self) -> dict[str, Any]:
        """``run`` as the JSON of POST /v1/query."""
        with self.outcome:
            answer = await self.run()
        return self.response(answer, with_verdict=self.has_verdict)

    def response(self, answer: Answer, *, with_verdict: bool) -> dict[str, Any]:
        """The JSON of ``answer``, its sources numbered for readers."""
        head = {"answer": answer.text, "citations": answer.citations}
        whole = head | self.summary(answer, with_verdict=with_verdict)
        return for_readers(whole, len(answer.retrieval.sources))

    async def start(self) -> AnswerStream:
        """Retrieve and call the model; returns once the answer's first delta has arrived.

        For an agent's answer, returns once its first event has arrived.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: as CitationQueryEngine.ask does.
            ModelNotAllowed: the question names a model that may not be chosen.
        """
        try:
            answerer = await self.pipeline.answerer_of(self.question)
            tell_meter(answerer.llm, self.question.scope.spaces)
            with reading(self._prompts(answerer.llm)) as prompts:
                stream = await answerer.engine.ask(self.question, self._gatherer(answerer.agent))
                stream.prompts = await prompts
                stream.llm = answerer.llm
                stream.right = self.right
                try:
                    await stream.require_right()
                except BaseException:
                    await stream.aclose()
                    raise
        except BaseException as error:
            if self.recorded:
                self.outcome.fail(error)
            raise
        if self.recorded and not isinstance(stream, GatheringStream):
            self.outcome.first_token()
        return stream

    async def _prompts(self, llm: LanguageModel) -> Prompts:
        """The prompts for ``llm`` to answer with; raises StoreUnavailable."""
        if self.prompts:
            return self.prompts
        scope = self.question.scope
        return await self.pipeline.prompts_of(scope.tenant, llm, scope.space)

    def _gatherer(self, agent: Gatherer | None) -> Gatherer | None:
        """The gatherer of the sources, ``agent`` in its mode; None: one search is made."""
        return self.gatherer or (agent if self.question.mode == "agent" else None)

    async def conclude(self, stream: AnswerStream) -> Answer:
        """The answer of ``stream``, which was read to its end: proved and screened, not yet judged.

        Raises:
            SourceChanged: a source was replaced or deleted meanwhile.
            StoreUnavailable: the database did not answer.
        """
        engine, guards = self.pipeline.engine, self.pipeline.guards
        seconds = time.perf_counter() - self.started
        if not await engine.still_holds(stream.retrieval, self.question.scope):
            raise SourceChanged

        def prove_and_screen() -> Answer:
            flags = screen(stream.retrieval.sources) if "injection" in guards else []
            answer = answer_of(stream, self.question, flags, seconds, by_proof=self.cites_by_proof)
            if weighs:
                _ = answer.closest  # kept by the answer: the event loop has no time for it
            return answer

        weighs = self.tells_closest and stream.reason in WEIGHED
        with span("prove"):
            proves = weighs or (stream.reason is None and not stream.retrieval.is_reply)
            if not proves and len(self.question.text) < LONG:
                return prove_and_screen()
            return await asyncio.to_thread(prove_and_screen)  # would hold up other answers

    async def finish(self, answer: Answer, *, withhold: bool = False) -> Answer:
        """Judge, record and report ``answer``; returns it with its verdict, or the refusal."""
        return await asyncio.shield(self.finish_in_background(answer, withhold=withhold))

    def finish_in_background(
        self, answer: Answer, *, withhold: bool = False
    ) -> asyncio.Task[Answer]:
        """``finish`` as a task that goes on when the client leaves; the pipeline holds it."""
        self.outcome.complete()
        if self.recorded and (meter := current_meter()):
            meter.question()
        task = asyncio.create_task(self._finish(answer, withhold))
        self.pipeline.hold(task)
        return task

    async def _finish(self, answer: Answer, withhold: bool) -> Answer:
        claims = not (answer.abstained or answer.retrieval.is_reply)
        if claims and (self.has_verdict or withhold):
            answer = replace(answer, verdict=await self._verdict_on(answer), judged=True)
            if withhold and not (answer.verdict and answer.verdict.grounded):
                _logger.info("an answer was withheld")
                answer = answer.withheld()
        if self.recorded:
            if receipts := self.pipeline.receipts:
                with span("receipt"):
                    owner = self.right.owner if self.right else ""
                    seconds = time.perf_counter() - self.started
                    saved = await receipts.save(answer, owner, seconds)
                if not saved:
                    self.pipeline.metrics.receipt_failures.inc()
            for observer in (self.outcome.record, *self.pipeline.observers):
                try:
                    observer(answer)
                except Exception as error:  # noqa: BLE001  an observer costs no answer
                    _logger.warning("an observer failed: %s", type(error).__name__)
        return answer

    async def _verdict_on(self, answer: Answer) -> Verdict | None:
        judge = self.pipeline.judge
        try:
            with span("judge", model=judge.identity), answer.prompts.active():
                return await judge.judge(self.question.text, answer.text, answer.retrieval.sources)
        except Exception as error:  # noqa: BLE001  a failed judge costs no answer
            _logger.warning("judge %s failed: %s", judge.identity, problem_of(error))
            return None

    def summary(self, answer: Answer, *, with_verdict: bool) -> dict[str, Any]:
        """The JSON of ``answer`` besides its text and citations, its sources as in the prompt."""
        summary: dict[str, Any] = {
            "abstained": answer.abstained,
            "reason": answer.reason,
            "clarifying_question": answer.clarifying_question,
            "suggested_scope": answer.retrieval.suggested_scope,
            "support": answer.proof.to_json(),
            "reason_text": answer.reason_text,
            "closest": answer.closest,
            "model": answer.model_json,
        }
        if answer.left_out is not None:
            summary["left_out"] = answer.left_out
        if turn := answer.turn_json:
            summary["turn"] = turn
        if agent := answer.agent_json:
            summary["agent"] = agent
        summary |= answer.writing_json
        if with_verdict:
            summary["verdict"] = answer.verdict_json()
        summary |= {"answer_id": self.question.answer_id, "trace_id": self.question.trace_id}
        summary |= self.extra
        return summary | {"debug": answer.debug} if self.question.debug else summary
