"""The outcome of one question, counted once: for the metrics and for the request's span."""

from __future__ import annotations

import asyncio
import time
from typing import Self

from helix.answering.answer import Answer
from helix.telemetry.metrics import Metrics, Outcome
from helix.telemetry.tracing import set_request_attributes
from helix.telemetry.usage_meter import current_meter


class OutcomeRecorder:
    """Counts the outcome of one question: the first call of its methods decides.

    As a context manager around a response it counts an answer that was not completed in the block
    as ``cut``, or as ``left`` where the client went away. ``started`` is the
    ``time.perf_counter()`` at which the question came.
    """

    def __init__(self, metrics: Metrics, started: float) -> None:
        self._metrics = metrics
        self._started = started
        self._has_first_token = False
        self._completed = False
        self._counted = False

    def first_token(self) -> None:
        """Note the answer's first token; that of a second attempt is not measured."""
        if not self._has_first_token:
            self._has_first_token = True
            self._metrics.first_token_seconds.observe(time.perf_counter() - self._started)

    def complete(self) -> None:
        """Note that the answer is whole: ``record`` will count it, even if its reader leaves."""
        self._completed = True

    def record(self, answer: Answer) -> None:
        """Count ``answer``, which is an answer or a refusal."""
        if self._counted:
            return
        self._completed = self._counted = True
        outcome: Outcome = "refused" if answer.reason else "answered"
        if answer.reason and (meter := current_meter()):
            meter.refused()
        tokens: dict[str, int] = answer.debug["tokens"]
        stages = answer.debug["seconds"]
        self._metrics.record_question(outcome, answer.reason or "", answer.seconds, stages, tokens)
        self._metrics.flagged(flag.kind for flag in answer.flags)
        self._metrics.guard_removals.inc(answer.removed)
        if answer.judged:
            self._metrics.judged(answer.verdict.grounded if answer.verdict else None)
        model = answer.model_json or {}
        if model.get("routed"):
            self._metrics.routed.labels(model["asked"], model["answered"]).inc()
        set_request_attributes(
            model=model.get("answered"),
            cost_usd=model.get("cost_usd"),
            answer_id=answer.question.answer_id,
            outcome=outcome,
            reason=answer.reason,
            sources=len(answer.retrieval.sources),
            citations=len(answer.citations),
            flags=len(answer.flags),
            context_tokens=tokens["context"],
            answer_tokens=tokens["answer"],
        )

    def fail(self, error: BaseException | None) -> None:
        """Count an answer that ``error`` ended; None: an error that was handled already."""
        if self._completed or self._counted:
            return
        self._counted = True
        outcome: Outcome = "cut" if self._has_first_token else "error"
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            outcome = "left"
        if outcome != "error" and (meter := current_meter()):
            meter.question()  # broken off, it was asked all the same
        self._metrics.record_question(outcome, "", time.perf_counter() - self._started, {}, {})
        set_request_attributes(outcome=outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.fail(error)
