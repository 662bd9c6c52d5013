"""Workers: a run by two worker processes against the same run by one, with a slow embedder.

The embedder is the bottleneck: a service that takes two seconds a request, of which each worker has
one under way at a time (HELIX_EMBED_PARALLEL=1). Two workers can at best be twice as quick. The
clock starts when the workers are ready, and ends with the run, its index included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks import corpus, file_builders
from benchmarks.corpus import ABSTRACTS
from benchmarks.database import Server, server
from benchmarks.harness import Options, Report, main
from benchmarks.processes import environment, stopping
from benchmarks.slow_gemini import Counted
from helix.domain.contract import ENDED_RUN
from helix.library.runs import create_run, this_host

DELAY_SECONDS = 2.0
FILES, QUICK_FILES = 24, 6
ABSTRACTS_A_FILE = 90  # some 85 chunks: each file fills a request of its own
FILES_AT_ONCE = 4
"""Enough that a request is always under way; of the default 64, the worker that comes first would
take all of so few files."""
SPEEDUP = 1.7
_READY = """
SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database d ON d.oid = database
WHERE datname = current_database() AND locktype = 'advisory' AND mode = 'ShareLock' AND granted
"""
_START_SECONDS, _RUN_SECONDS = 120.0, 600.0


@dataclass(frozen=True)
class Ran:
    """A run by so many workers: seconds to its end and to its last document, and what it asked."""

    workers: int
    seconds: float
    written: float
    chunks: int
    counted: Counted


async def run(options: Options, report: Report) -> None:
    """One worker, two, and one again: the two are judged against the mean of the others."""
    texts = corpus.load_or_generate(options.data, ABSTRACTS).texts
    count = QUICK_FILES if options.quick else FILES
    with tempfile.TemporaryDirectory() as room, server() as postgres:
        folder = Path(room) / "files"
        file_builders.write_files(folder, "markdown", texts[: count * ABSTRACTS_A_FILE], count)
        ran = [_run(postgres, folder, workers) for workers in (1, 2, 1)]
    _report(report, ran)


def _run(postgres: Server, folder: Path, workers: int) -> Ran:
    with postgres.database() as url, ExitStack() as stack:
        service = stack.enter_context(stopping(_service()))
        assert service.stdout is not None
        port = int(service.stdout.readline())
        for _ in range(workers):
            stack.enter_context(stopping(_worker(url, port)))
        _wait_until_ready(url, workers)
        seconds, written, chunks = _carried_out(url, folder)
        counted = Counted(**json.loads(service.communicate()[0]))
    return Ran(workers, seconds, written, chunks, counted)


def _service() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.slow_gemini", str(DELAY_SECONDS)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(""), text=True)


def _worker(url: str, port: int) -> subprocess.Popen[str]:
    chosen = {
        "HELIX_EMBEDDER": "gemini", "HELIX_EMBED_PARALLEL": "1", "HELIX_LOG_LEVEL": "warning",
        "GEMINI_API_KEY": "benchmark", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
    }  # fmt: skip
    command = [sys.executable, "-m", "pipelines.worker", "--files", str(FILES_AT_ONCE)]
    return subprocess.Popen(command, env=environment(url) | chosen, text=True)


def _wait_until_ready(url: str, workers: int) -> None:
    """A worker that is at work holds an advisory lock, shared."""
    deadline = time.monotonic() + _START_SECONDS
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < deadline:
            row = connection.execute(_READY).fetchone()
            if row and row[0] >= workers:
                return
            time.sleep(0.2)
    raise RuntimeError("a worker did not start")


def _carried_out(url: str, folder: Path) -> tuple[float, float, int]:
    """Seconds to the run's end, seconds to its last document, and chunks."""
    options = {"paths": [str(folder)], "base": str(folder), "title": None}
    with psycopg.connect(url, autocommit=True) as connection:
        run_id = create_run(connection, "paths", options, host=this_host())
        deadline = time.monotonic() + _RUN_SECONDS
        while time.monotonic() < deadline:
            row = connection.execute("SELECT status FROM runs WHERE id = %s", (run_id,)).fetchone()
            if row and row[0] in ENDED_RUN:
                break
            time.sleep(0.1)
        row = connection.execute(
            "SELECT extract(epoch FROM finished_at - created_at)::float8,"
            " (SELECT extract(epoch FROM max(changed_at) - r.created_at)::float8"
            "  FROM run_files WHERE run_id = r.id),"
            " (SELECT count(*) FROM chunks),"
            " (SELECT count(*) FROM run_files WHERE run_id = r.id AND status <> 'added'), error"
            " FROM runs r WHERE id = %s",
            (run_id,),
        ).fetchone()
    assert row is not None
    if row[0] is None or row[3]:
        raise RuntimeError(f"the run did not end, or {row[3]} files were not brought in: {row[4]}")
    return float(row[0]), float(row[1]), int(row[2])


def _report(report: Report, ran: list[Ran]) -> None:
    alone = sum(one.seconds for one in ran if one.workers == 1) / 2
    report.table(
        f"workers: {ran[0].chunks} chunks, an embedder of {DELAY_SECONDS:g} s a request, one"
        " request a worker at a time",
        ["workers", "seconds", "last document", "chunks/s", "requests", "at once",
         "texts a request", "embedder busy", "times one"],
        [
            [
                one.workers, f"{one.seconds:.1f}", f"{one.written:.1f}",
                f"{one.chunks / one.seconds:.0f}", one.counted.requests, one.counted.most_at_once,
                f"{one.counted.texts / one.counted.requests:.0f}",
                f"{one.counted.requests * DELAY_SECONDS / one.workers / one.seconds * 100:.0f}%",
                f"{alone / one.seconds:.2f}",
            ]
            for one in ran
        ],
    )  # fmt: skip
    report.at_least("two workers / one, in chunks/s", alone / ran[1].seconds, SPEEDUP)


if __name__ == "__main__":
    main({"workers": run})
