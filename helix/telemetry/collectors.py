"""Figures that are kept elsewhere, read when Prometheus asks: counters, pools, the ingest queue."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import LiteralString, Protocol

import psycopg
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from helix.reranking.ordering import failures
from helix.telemetry.retries import retries

PoolStats = Callable[[], Mapping[str, Mapping[str, int]]]
"""By pool: psycopg's own statistics of it."""

QUERY_SECONDS = 2.0
"""Longest that a scrape waits for the database: Prometheus itself gives up after ten."""
OPEN_SECONDS = 5.0
ENDED_SECONDS = 60.0
"""How old counts may be: of what is under way, and of what has ended, which takes a scan."""

# each is counted through the index of open rows alone
_OPEN = """
SELECT 'run', status, count(*)::float8,
       coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE status = 'queued')), 0)
FROM runs WHERE status IN ('queued', 'running', 'cancelling') GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8,
       coalesce(extract(epoch FROM now() - min(changed_at) FILTER (WHERE status = 'queued')), 0)
FROM run_files WHERE status IN ('queued', 'reading', 'embedding', 'writing') GROUP BY status
"""
_ENDED = """
SELECT 'run', status, count(*)::float8, 0::float8
FROM runs WHERE status IN ('done', 'failed', 'cancelled') GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8, 0::float8
FROM run_files WHERE status IN ('added', 'replaced', 'unchanged', 'failed', 'cancelled')
GROUP BY status
UNION ALL
SELECT 'rows', relname, greatest(reltuples, 0)::float8, 0::float8
FROM pg_class WHERE oid IN ('documents'::regclass, 'chunks'::regclass)
"""
_OPEN_KEYS = (
    ("run", "queued"), ("run", "running"), ("run", "cancelling"),
    ("file", "queued"), ("file", "reading"), ("file", "embedding"), ("file", "writing"),
)  # fmt: skip

_Row = tuple[str, str, float, float]
_logger = logging.getLogger(__name__)


class Rewriting(Protocol):
    """What counts the calls for search terms."""

    calls: int
    failures: int


@dataclass(eq=False)
class Counters(Collector):
    """What is counted where it happens: retries, reranking and rewriting."""

    rewriter: Rewriting | None = None

    def collect(self) -> Iterator[Metric]:
        tried = CounterMetricFamily(
            "helix_upstream_retries",
            "Requests to a model's service tried again",
            labels=["service"],
        )
        for service, count in {"gemini": 0, "vendor": 0, **retries()}.items():
            tried.add_metric([service], count)
        yield tried
        yield CounterMetricFamily(
            "helix_rerank_failures", "Rerankings that failed; the hits stay", value=failures()
        )
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
        told = {
            "pool_size": ("helix_database_connections", "Connections that are open"),
            "pool_available": ("helix_database_connections_idle", "Of those, the ones not in use"),
            "pool_max": ("helix_database_connections_limit", "The most there may be"),
            "requests_waiting": ("helix_database_waiting", "Requests that wait for a connection"),
        }
        stats = self.stats()
        for key, (name, meaning) in told.items():
            family = GaugeMetricFamily(name, meaning, labels=["pool"])
            for pool, numbers in stats.items():
                family.add_metric([pool], numbers.get(key, 0))
            yield family


@dataclass
class _Counted:
    """The rows of one statement, and when they were read."""

    statement: LiteralString
    seconds: float
    rows: list[_Row] = field(default_factory=list)
    at: float = -1e9
    up: bool = False


class Ingest(Collector):
    """Runs and files by status, of all tenants together, as the database's owner sees them.

    ``refresh`` reads them; a scrape tells what was read last, and nothing old where that failed.

    Args:
        url: a libpq URL of the role that owns the tables.
        open_seconds, ended_seconds: how long counts are told again before they are read anew.
    """

    def __init__(
        self, url: str, open_seconds: float = OPEN_SECONDS, ended_seconds: float = ENDED_SECONDS
    ) -> None:
        self._url = url
        self._open = _Counted(_OPEN, open_seconds)
        self._ended = _Counted(_ENDED, ended_seconds)
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Read what is older than it may be; raises nothing, and takes QUERY_SECONDS at most."""
        async with self._reading:  # scrapes at once share a reading
            now = time.monotonic()
            due = [one for one in (self._open, self._ended) if now - one.at >= one.seconds]
            for one in due:
                one.at, one.up = now, False
            try:
                async with asyncio.timeout(QUERY_SECONDS):
                    await self._read(due)
            except (psycopg.Error, TimeoutError, OSError) as error:
                _logger.warning("the ingest queue was not counted: %s", type(error).__name__)

    async def _read(self, due: list[_Counted]) -> None:
        if not due:
            return
        # a connection of its own: a scrape waits for none of those that answer or write
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        async with connection:
            for one in due:
                cursor = await connection.execute(one.statement)
                one.rows = await cursor.fetchall()
                one.up = True

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "helix_database_up", "Whether the last reading succeeded", value=float(self._open.up)
        )
        counts: dict[tuple[str, str], float] = {}
        if self._open.up:
            counts |= dict.fromkeys(_OPEN_KEYS, 0.0) | _counts(self._open.rows)
            yield from self._queue(counts)
        if self._ended.up:
            counts |= _counts(self._ended.rows)
        yield _family("helix_ingest_runs", "Runs by status", "status", "run", counts)
        yield _family("helix_ingest_files", "Files of runs by status", "status", "file", counts)
        yield _family(
            "helix_stored_rows",
            "Rows by table, as Postgres estimates them",
            "table",
            "rows",
            counts,
        )

    def _queue(self, counts: Mapping[tuple[str, str], float]) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "helix_ingest_queue_length",
            "Files that wait to be read",
            value=counts["file", "queued"],
        )
        oldest = max((float(age) for *_, age in self._open.rows), default=0.0)
        yield GaugeMetricFamily(
            "helix_ingest_oldest_queued_seconds", "Age of what waits longest; 0: none", value=oldest
        )


def _counts(rows: list[_Row]) -> dict[tuple[str, str], float]:
    return {(kind, status): count for kind, status, count, _ in rows}


def _family(
    name: str, told: str, label: str, kind: str, counts: Mapping[tuple[str, str], float]
) -> Metric:
    family = GaugeMetricFamily(name, told, labels=[label])
    for (counted, value), count in counts.items():
        if counted == kind:
            family.add_metric([value], count)
    return family
