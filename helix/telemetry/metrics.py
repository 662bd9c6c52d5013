"""What is counted and timed of one application, as Prometheus reads it.

No label holds a tenant, a question or a word of a document, and each takes few values: a route is
its template, an unknown path is ``other``. docs/observability.md lists all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from helix.telemetry.collectors import Counters, Ingest, Pools, PoolStats, Rewriting
from helix.telemetry.watch import Outcome, Watch

OTHER = "other"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MOST_KINDS = 20

_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Seconds: from a distance search of a few chunks to a model that has to be waited for."""
_LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = self._counter(
            "http_requests", "HTTP requests that ended", "method", "route", "status"
        )
        self._request_seconds = self._histogram(
            "http_request_seconds", "From request to end of response", _LONG, "method", "route"
        )
        self._answers = self._counter(
            "answers", "Questions by what came of them", "outcome", "reason"
        )
        self._answer_seconds = self._histogram(
            "answer_seconds", "From a question to the end of its answer", _LONG, "outcome"
        )
        self._first_token = self._histogram(
            "first_token_seconds", "From a question to the first token of its answer", _LONG
        )
        self._stages = self._histogram("stage_seconds", "Stages of an answer", _SHORT, "stage")
        self._tokens = self._counter("tokens", "Tokens, as Helix counts them", "kind")
        self._flags = self._counter("guard_flags", "Passages flagged in sources", "kind")
        self._removals = self._counter("guard_removals", "Links and images taken out of answers")
        self._verdicts = self._counter("verdicts", "Answers that a judge judged", "grounded")
        self._unjudged = self._counter("verdict_failures", "Answers that the judge failed to judge")
        self._receipts = self._counter("receipt_failures", "Answers whose receipt was not stored")
        self._kinds: set[str] = set()
        self._watched: list[Collector] = []
        self._ingest: Ingest | None = None

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"helix_{name}", told, labels, registry=self.registry)

    def _histogram(
        self, name: str, told: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(f"helix_{name}", told, labels, buckets=buckets, registry=self.registry)

    def request(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """One HTTP request. ``route`` is its template, None where no route took it."""
        method = method if method in METHODS else OTHER
        route = route or OTHER
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(method, route).observe(seconds)

    def watched(self, began: float) -> Watch:
        """One question, which came at the ``time.perf_counter()`` of ``began``."""
        return Watch(self, began)

    def first_token(self, seconds: float) -> None:
        """How long somebody waited for the first words."""
        self._first_token.observe(seconds)

    def answered(
        self,
        outcome: Outcome,
        reason: str,
        seconds: float,
        stages: Mapping[str, float],
        tokens: Mapping[str, int],
    ) -> None:
        """A question that is dealt with; a stage of no seconds did not take place.

        ``stages`` are seconds by stage; their ``total`` is left out.
        """
        self._answers.labels(outcome, reason).inc()
        self._answer_seconds.labels(outcome).observe(seconds)
        for stage, took in stages.items():
            if took and stage != "total":
                self._stages.labels(stage).observe(took)
        for kind, count in tokens.items():
            self._tokens.labels(kind).inc(count)

    def flagged(self, kinds: Iterable[str]) -> None:
        """Passages that the injection screen flagged, by kind."""
        for kind in kinds:
            if kind in self._kinds or len(self._kinds) < _MOST_KINDS:
                self._kinds.add(kind)
            else:
                kind = OTHER
            self._flags.labels(kind).inc()

    def removed(self, count: int) -> None:
        """What output hygiene took out of one answer."""
        self._removals.inc(count)

    def judged(self, grounded: bool | None) -> None:
        """A judge's verdict on one answer; None: it failed to give one."""
        if grounded is None:
            self._unjudged.inc()
        else:
            self._verdicts.labels("true" if grounded else "false").inc()

    def receipt_failed(self) -> None:
        """A receipt was not stored."""
        self._receipts.inc()

    def watch(self, url: str, pools: PoolStats, rewriter: Rewriting | None = None) -> None:
        """Tell of these too at each scrape, and no more of those that were watched before.

        ``url`` is the database's, of the role that owns it.
        """
        for old in self._watched:
            self.registry.unregister(old)
        self._ingest = Ingest(url)
        self._watched = [self._ingest, Pools(pools), Counters(rewriter)]
        for new in self._watched:
            self.registry.register(new)

    async def scrape(self, accept: str = "") -> tuple[bytes, str]:
        """(all of it, its content type): text 0.0.4, or the format that ``accept`` asks for.

        Takes about two seconds where the database is silent, and tells that it is.
        """
        if self._ingest:
            await self._ingest.refresh()
        return self.exposition(accept)

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """``scrape`` with what was read of the database last."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type
