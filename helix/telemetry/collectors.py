"""Figures that are read when Prometheus asks for them: pools, rewrites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

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
