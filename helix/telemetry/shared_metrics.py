"""The metrics of several processes of one server as one: files in a folder that all of them map.

``prometheus_client`` keeps a process's counters and histograms in such files where the variable
FOLDER is set before it is imported. They outlive their process, so no sum ever goes back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def is_shared() -> bool:
    """True if this process's metrics are one part of its server's."""
    return FOLDER in os.environ


def summed(*of_server: Collector) -> CollectorRegistry:
    """The metrics of all processes, and those that are the server's own, read once."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    for each in of_server:
        registry.register(each)
    return registry


def process_ended(folder: str, pid: int) -> None:
    """Drop what a process had at its end, such as connections; what it counted stays."""
    mark_process_dead(pid, path=folder)  # type: ignore[no-untyped-call]


class SharedFigures:
    """Figures that collectors read at each scrape, kept where the other processes see it.

    Counts are added up over all processes there have been, gauges over those that live.
    """

    def __init__(self, collectors: Sequence[Collector]) -> None:
        self._collectors = collectors
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._shared_values: dict[tuple[str, ...], float] = {}

    def update(self) -> None:
        """Read the collectors."""
        for collector in self._collectors:
            for metric in collector.collect():
                keep = self._count if metric.type == "counter" else self._set
                for sample in metric.samples:
                    keep(metric.name, metric.documentation, sample)

    def _set(self, name: str, meaning: str, sample: Sample) -> None:
        if name not in self._gauges:
            self._gauges[name] = Gauge(
                name, meaning, list(sample.labels), registry=None, multiprocess_mode="livesum"
            )
        gauge = self._gauges[name]
        (gauge.labels(**sample.labels) if sample.labels else gauge).set(sample.value)

    def _count(self, name: str, meaning: str, sample: Sample) -> None:
        if name not in self._counters:
            self._counters[name] = Counter(name, meaning, list(sample.labels), registry=None)
        counter, key = self._counters[name], (name, *sample.labels.values())
        (counter.labels(**sample.labels) if sample.labels else counter).inc(
            sample.value - self._shared_values.get(key, 0)
        )
        self._shared_values[key] = sample.value


PoolStats = Callable[[], Mapping[str, Mapping[str, int]]]
"""By pool: psycopg's own statistics of it."""

_POOL_GAUGES = {
    "pool_size": ("helix_database_connections", "Connections that are open"),
    "pool_available": ("helix_database_connections_idle", "Of those, the ones not in use"),
    "pool_max": ("helix_database_connections_limit", "The most there may be"),
    "requests_waiting": ("helix_database_waiting", "Requests that wait for a connection"),
}


class Queried(Collector):
    """A collector that reads the database: ``refresh`` does, before a scrape collects."""

    async def refresh(self) -> None:
        """Read what is older than it may be; raises nothing."""
        raise NotImplementedError


class CallCounts(Protocol):
    """Counts of an object's calls to the model, and of those that failed."""

    calls: int
    failures: int


@dataclass(eq=False)
class Rewrites(Collector):
    """The calls for search terms; ``rewriter`` is None where questions are not rewritten."""

    rewriter: CallCounts | None = None

    def collect(self) -> Iterator[Metric]:
        calls, failed = (self.rewriter.calls, self.rewriter.failures) if self.rewriter else (0, 0)
        yield CounterMetricFamily("helix_rewrites", "Questions put to the model", value=calls)
        yield CounterMetricFamily(
            "helix_rewrite_failures", "Rewrites that failed or took too long", value=failed
        )


@dataclass(eq=False)
class Pools(Collector):
    """The connections of this process to the database."""

    stats: PoolStats

    def collect(self) -> Iterator[Metric]:
        stats = self.stats()
        for key, (name, meaning) in _POOL_GAUGES.items():
            values = {pool: numbers.get(key, 0) for pool, numbers in stats.items()}
            yield gauge(name, meaning, "pool", values)
        present = {name: each["present"] for name, each in stats.items() if "present" in each}
        meaning = "1 where a read replica is asked, 0 where the primary answers for it"
        yield gauge("helix_database_replica_asked", meaning, "replica", present)


def gauge(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    """``values`` by their ``label``, as Prometheus shows a gauge."""
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
