"""Figures that are read when Prometheus asks for them: pools, rewrites, the ingest queue."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import LiteralString, Protocol

import psycopg
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from psycopg.rows import class_row

from helix.domain.contract import ENDED_FILE, ENDED_RUN, OPEN_FILE, OPEN_RUN

PoolStats = Callable[[], Mapping[str, Mapping[str, int]]]
"""By pool: psycopg's own statistics of it."""

QUERY_SECONDS = 2.0
"""Longest that a scrape waits for the database: Prometheus itself gives up after ten."""
OPEN_SECONDS = 5.0
ENDED_SECONDS = 60.0
"""Longest that counts are repeated: of open runs and files, of ended ones, which take a scan."""

# each part uses the index of open rows alone
_OPEN = """
SELECT 'run' AS kind, status AS label, count(*)::float8 AS count,
       coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE status = 'queued')),
                0)::float8 AS queued_seconds
FROM runs WHERE status IN {runs} GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8,
       coalesce(extract(epoch FROM now() - min(changed_at) FILTER (WHERE status = 'queued')),
                0)::float8
FROM run_files WHERE status IN {files} GROUP BY status
"""
_ENDED = """
SELECT 'run' AS kind, status AS label, count(*)::float8 AS count, 0::float8 AS queued_seconds
FROM runs WHERE status IN {runs} GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8, 0::float8
FROM run_files WHERE status IN {files} GROUP BY status
UNION ALL
SELECT 'rows', relname, greatest(reltuples, 0)::float8, 0::float8
FROM pg_class WHERE oid IN ('documents'::regclass, 'chunks'::regclass)
"""
_OPEN_KEYS = [
    *(("run", status) for status in OPEN_RUN),
    *(("file", status) for status in OPEN_FILE),
]
_COUNTED = {
    "run": ("helix_ingest_runs", "Runs by status", "status"),
    "file": ("helix_ingest_files", "Files of runs by status", "status"),
    "rows": ("helix_stored_rows", "Rows by table, as Postgres estimates them", "table"),
}
_POOL_GAUGES = {
    "pool_size": ("helix_database_connections", "Connections that are open"),
    "pool_available": ("helix_database_connections_idle", "Of those, the ones not in use"),
    "pool_max": ("helix_database_connections_limit", "The most there may be"),
    "requests_waiting": ("helix_database_waiting", "Requests that wait for a connection"),
}

_logger = logging.getLogger(__name__)


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
            yield _gauge(name, meaning, "pool", values)
        present = {name: each["present"] for name, each in stats.items() if "present" in each}
        meaning = "1 where a read replica is asked, 0 where the primary answers for it"
        yield _gauge("helix_database_replica_asked", meaning, "replica", present)


@dataclass
class _Count:
    """A row: how many runs, files or rows of a table, by status or table name."""

    kind: str
    label: str
    count: float
    queued_seconds: float


@dataclass
class _Reading:
    """A statement with the rows it last gave, when, and whether it succeeded then."""

    statement: LiteralString
    seconds: float
    counts: Sequence[_Count] = ()
    at: float = -1e9
    up: bool = False


@dataclass(eq=False)
class Ingest(Collector):
    """Runs and files by status, of all tenants together, as the database's owner sees them.

    ``refresh`` reads them; a scrape repeats the last reading for ``open_seconds`` or
    ``ended_seconds``, and nothing where it failed. ``url`` is libpq's, of the tables' owner.
    """

    url: str
    open_seconds: float = OPEN_SECONDS
    ended_seconds: float = ENDED_SECONDS
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        open_query = _OPEN.format(runs=OPEN_RUN, files=OPEN_FILE)
        self._open = _Reading(open_query, self.open_seconds)
        ended_query = _ENDED.format(runs=ENDED_RUN, files=ENDED_FILE)
        self._ended = _Reading(ended_query, self.ended_seconds)

    async def refresh(self) -> None:
        """Read what is older than it may be; raises nothing, and takes QUERY_SECONDS at most."""
        async with self._lock:  # simultaneous scrapes share a reading
            now = time.monotonic()
            due = [each for each in (self._open, self._ended) if now - each.at >= each.seconds]
            for reading in due:
                reading.at, reading.up = now, False
            try:
                async with asyncio.timeout(QUERY_SECONDS):
                    await self._read(due)
            except (psycopg.Error, TimeoutError, OSError) as error:
                _logger.warning("the ingest queue was not counted: %s", type(error).__name__)

    async def _read(self, readings: Sequence[_Reading]) -> None:
        if not readings:
            return
        # a connection of its own: a scrape waits for none of those that answer or write
        connection = await psycopg.AsyncConnection.connect(self.url, autocommit=True)
        async with connection, connection.cursor(row_factory=class_row(_Count)) as cursor:
            for reading in readings:
                await cursor.execute(reading.statement)
                reading.counts = await cursor.fetchall()
                reading.up = True

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "helix_database_up", "Whether the last reading succeeded", value=float(self._open.up)
        )
        values: dict[tuple[str, str], float] = {}
        if self._open.up:
            values = dict.fromkeys(_OPEN_KEYS, 0.0)
        for reading in (self._open, self._ended):
            if reading.up:
                values |= {(row.kind, row.label): row.count for row in reading.counts}
        if self._open.up:
            oldest = max((row.queued_seconds for row in self._open.counts), default=0.0)
            yield GaugeMetricFamily(
                "helix_ingest_queue_length", "Files that wait to be read",
                value=values["file", "queued"],
            )  # fmt: skip
            yield GaugeMetricFamily(
                "helix_ingest_oldest_queued_seconds", "Age of what waits longest; 0: none",
                value=oldest,
            )  # fmt: skip
        for kind, (name, meaning, label) in _COUNTED.items():
            counts = {key[1]: count for key, count in values.items() if key[0] == kind}
            yield _gauge(name, meaning, label, counts)


def _gauge(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
