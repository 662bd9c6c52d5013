"""Runs and files by status, counted in the database when Prometheus asks for them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import psycopg
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from psycopg.rows import class_row

from helix.domain.contract import OPEN_FILE, OPEN_RUN
from helix.storage.statements import run_counts as sql
from helix.telemetry.shared_metrics import Queried, gauge

QUERY_SECONDS = 2.0
"""Longest that a scrape waits for the database: Prometheus itself gives up after ten."""
OPEN_SECONDS = 5.0
ENDED_SECONDS = 60.0
"""Longest that counts are repeated: of open runs and files, of ended ones, which take a scan."""

_OPEN_KEYS = [
    *(("run", status) for status in OPEN_RUN),
    *(("file", status) for status in OPEN_FILE),
]
_COUNTED = {
    "run": ("helix_ingest_runs", "Runs by status", "status"),
    "file": ("helix_ingest_files", "Files of runs by status", "status"),
    "rows": ("helix_stored_rows", "Rows by table, as Postgres estimates them", "table"),
}

_logger = logging.getLogger(__name__)


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

    statement: str
    seconds: float
    counts: Sequence[_Count] = ()
    at: float = -inf
    up: bool = False


@dataclass(eq=False)
class RunCounts(Queried):
    """Runs and files by status, of all tenants together, as the database's owner sees them.

    ``refresh`` reads them; a scrape repeats the last reading for ``open_seconds`` or
    ``ended_seconds``, and nothing where it failed. ``url`` is libpq's, of the tables' owner.
    """

    url: str
    open_seconds: float = OPEN_SECONDS
    ended_seconds: float = ENDED_SECONDS
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._open = _Reading(sql.OPEN, self.open_seconds)
        self._ended = _Reading(sql.ENDED, self.ended_seconds)

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
        values = self._values()
        if self._open.up:
            yield from self._queue(values)
        for kind, (name, meaning, label) in _COUNTED.items():
            counts = {key[1]: count for key, count in values.items() if key[0] == kind}
            yield gauge(name, meaning, label, counts)

    def _values(self) -> dict[tuple[str, str], float]:
        """The counts by kind and label; 0 of each open status that no run or file has."""
        values = dict.fromkeys(_OPEN_KEYS if self._open.up else (), 0.0)
        for reading in (self._open, self._ended):
            if reading.up:
                values |= {(row.kind, row.label): row.count for row in reading.counts}
        return values

    def _queue(self, values: Mapping[tuple[str, str], float]) -> Iterator[Metric]:
        oldest = max((row.queued_seconds for row in self._open.counts), default=0.0)
        for name, meaning, value in (
            ("helix_ingest_queue_length", "Files that wait to be read", values["file", "queued"]),
            ("helix_ingest_oldest_queued_seconds", "Age of what waits longest; 0: none", oldest),
        ):
            yield GaugeMetricFamily(name, meaning, value=value)
