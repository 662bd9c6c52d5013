"""The counts and times of one application, as Prometheus reads them.

No label holds a tenant, a question or a word of a document, and each takes few values: a route is
its template, an unknown path is ``other``. docs/observability.md lists every metric.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Literal, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from helix.telemetry.shared_metrics import (
    CallCounts,
    Pools,
    PoolStats,
    Queried,
    Rewrites,
    SharedFigures,
    is_shared,
    summed,
)
from helix.telemetry.usage_meter import (
    MODEL_CALLS,
    MODEL_COST,
    MODEL_TOKENS,
    RERANK_FAILURES,
    RETRIES,
    USAGE_LIMITED,
)

Outcome = Literal["answered", "refused", "error", "cut", "left"]
"""``error`` failed before its first token, ``cut`` after it; ``left``: the client did not wait."""

OTHER = "other"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MOST_KINDS = 20
_SHARED_SECONDS = 1.0

_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Seconds: from a distance search of a few chunks to a model that has to be waited for."""
_LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class ModelEnd(Protocol):
    """The announced end of the model that a setting names."""

    @property
    def model(self) -> str: ...
    @property
    def variable(self) -> str: ...

    def days_left(self, day: date) -> int | None:
        """Days from ``day`` to its announced end; None where none is announced."""
        ...


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self._requests = counter(
            "helix_http_requests", "HTTP requests that ended", ["method", "route", "status"]
        )
        self._request_seconds = histogram(
            "helix_http_request_seconds", "From request to end of response", ["method", "route"],
            buckets=_LONG,
        )  # fmt: skip
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._answers = counter(
            "helix_answers", "Questions by what came of them", ["outcome", "reason"]
        )
        self._answer_seconds = histogram(
            "helix_answer_seconds", "From a question to the end of its answer", ["outcome"],
            buckets=_LONG,
        )  # fmt: skip
        self.first_token_seconds = histogram(
            "helix_first_token_seconds", "From a question to the first token of its answer",
            buckets=_LONG,
        )  # fmt: skip
        self._stages = histogram(
            "helix_stage_seconds", "Stages of an answer", ["stage"], buckets=_SHORT
        )
        self._tokens = counter("helix_tokens", "Tokens, as Helix counts them", ["kind"])
        self._flags = counter("helix_guard_flags", "Passages flagged in sources", ["kind"])
        self.guard_removals = counter(
            "helix_guard_removals", "Links and images taken out of answers"
        )
        self._verdicts = counter("helix_verdicts", "Answers that a judge judged", ["grounded"])
        self._unjudged = counter("helix_verdict_failures", "Answers that the judge failed to judge")
        self.routed = counter(
            "helix_routed_answers", "Answers by another model than was asked", ["asked", "answered"]
        )
        self.receipt_failures = counter(
            "helix_receipt_failures", "Answers whose receipt was not stored"
        )
        self.audit_dropped = counter(
            "helix_audit_dropped", "Events that the audit log had no room for"
        )
        self._days_left = Gauge(
            "helix_model_days_left", "Days until the announced end of a model; below 0: ended",
            ["model", "variable"], registry=self.registry, multiprocess_mode="livemostrecent",
        )  # fmt: skip
        self._lifetimes: Sequence[ModelEnd] = ()
        for of_process in (
            RETRIES, RERANK_FAILURES, MODEL_CALLS, MODEL_TOKENS, MODEL_COST, USAGE_LIMITED,
        ):  # fmt: skip
            self.registry.register(of_process)
        self._flag_kinds: set[str] = set()
        self._watched: list[Collector] = []
        self._ingest: Queried | None = None
        self._shared: SharedFigures | None = None

    def request(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count one HTTP request. ``route`` is its template, None where no route took it."""
        method = method if method in METHODS else OTHER
        route = route or OTHER
        counted = self._counted.get((method, route, status))
        if counted is None:  # to look the labels up costs more than to count
            labelled = self._requests.labels(method, route, str(status))
            counted = labelled, self._request_seconds.labels(method, route)
            self._counted[method, route, status] = counted
        counted[0].inc()
        counted[1].observe(seconds)

    def record_question(
        self,
        outcome: Outcome,
        reason: str,
        seconds: float,
        stages: Mapping[str, float],
        tokens: Mapping[str, int],
    ) -> None:
        """Count a question that has come to its end.

        ``stages`` are seconds by stage, 0 for a stage that did not take place; their ``total`` is
        left out. ``tokens`` are counts by kind.
        """
        self._answers.labels(outcome, reason).inc()
        self._answer_seconds.labels(outcome).observe(seconds)
        for stage, took in stages.items():
            if took and stage != "total":
                self._stages.labels(stage).observe(took)
        for kind, count in tokens.items():
            self._tokens.labels(kind).inc(count)

    def flagged(self, kinds: Iterable[str]) -> None:
        """Count passages that the injection screen flagged, by kind."""
        for kind in kinds:
            if kind in self._flag_kinds or len(self._flag_kinds) < _MOST_KINDS:
                self._flag_kinds.add(kind)
            else:
                kind = OTHER
            self._flags.labels(kind).inc()

    def judged(self, grounded: bool | None) -> None:
        """Count a judge's verdict on one answer; None: the judge failed to give one."""
        if grounded is None:
            self._unjudged.inc()
        else:
            self._verdicts.labels("true" if grounded else "false").inc()

    def watch(self, ingest: Queried, pools: PoolStats, rewriter: CallCounts | None = None) -> None:
        """Read these at each scrape, in place of earlier ones."""
        for old in self._watched:
            self.registry.unregister(old)
        self._ingest = ingest
        self._watched = [ingest, Pools(pools), Rewrites(rewriter)]
        for new in self._watched:
            self.registry.register(new)
        if is_shared():
            self._shared = SharedFigures(self._watched[1:])

    def watch_models(self, lifetimes: Sequence[ModelEnd]) -> None:
        """Tell at each scrape how many days the models have left, those with an announced end."""
        self._lifetimes = lifetimes
        self._tell_days()

    def _tell_days(self) -> None:
        today = datetime.now(UTC).date()
        for each in self._lifetimes:
            if (left := each.days_left(today)) is not None:
                self._days_left.labels(each.model, each.variable).set(left)

    async def keep_shared(self) -> None:
        """Keep the figures shared with sibling processes up to date, while there are any."""
        while self._shared:
            self._shared.update()
            await asyncio.sleep(_SHARED_SECONDS)

    async def scrape(self, accept: str = "") -> tuple[bytes, str]:
        """(body, content type): text 0.0.4, or the format that the header ``accept`` asks for.

        Takes about two seconds where the database is silent; the body says that it is.
        """
        self._tell_days()
        if self._ingest:
            await self._ingest.refresh()
        return self.exposition(accept)

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """``scrape`` without reading the database anew."""
        encode, content_type = choose_encoder(accept)
        if self._shared and self._ingest:
            self._shared.update()
            return encode(summed(self._ingest)), content_type
        return encode(self.registry), content_type
