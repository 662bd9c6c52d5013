"""Costs: what durability adds to a file and to an embedding batch, and what the sandbox adds.

Durability: workflows that do nothing, with and without steps that do nothing, by the real engine.
The sandbox: small files read by it, against the same readers called in this process (the floor).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks import corpus, file_builders
from benchmarks.corpus import ABSTRACTS
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, percentiles
from pipelines import readers
from pipelines.files.embedding import RunBatch
from pipelines.runs import workflow
from pipelines.runs.run_steps import Worker
from pipelines.sandbox import Sandbox

FILES, QUICK_FILES = 600, 100
STEPS = 20  # to each of the files that have any
FILES_AT_ONCE = 64
ROUNDS, QUICK_ROUNDS = 100, 20


@dataclass
class Nothing(Worker):
    """Work that is none: so many files without a step, and one with."""

    files: int
    done: asyncio.Event = field(default_factory=asyncio.Event)
    count: int = 0
    steps: list[float] = field(default_factory=list)

    async def plan(self, run_id: int) -> bool:
        return True

    async def next_files(self, run_id: int, after: int, limit: int) -> list[int]:
        return list(range(after + 1, min(after + 1 + limit, self.files)))

    async def wait(self, run_id: int, up_to: int, open_files: int) -> bool:
        """Wait for a place like a worker, without asking the database."""
        while up_to + 1 - self.count > open_files:
            await asyncio.sleep(0.01)
        return True

    async def file(self, run_id: int, n: int, run_batch: RunBatch) -> None:
        """Nothing, or STEPS times nothing where it is the only file."""
        if self.files == 1:
            for number in range(STEPS):
                started = time.perf_counter()
                await run_batch(number, _nothing)
                self.steps.append(time.perf_counter() - started)
        self.count += 1

    async def set_aside(self, run_id: int, n: int, error: Exception) -> None:
        raise error

    async def finish(self, run_id: int, error: str | None = None) -> None:
        self.done.set()

    async def give_up(self, run_id: int, error: Exception) -> None:
        raise error


async def _nothing() -> None:
    return None


async def run(options: Options, report: Report) -> None:
    """The engine first, then the sandbox."""
    count = QUICK_FILES if options.quick else FILES
    with server() as postgres, postgres.database() as url:
        work = Nothing(files=1)
        await workflow.migrate_engine(url)
        async with workflow.durable_engine(
            work, database_url=url, executor="benchmark", host="here", files_at_once=FILES_AT_ONCE
        ):
            await _carried_out(work, 1)  # warm
            steps = work.steps
            steps.clear()
            work.count = 0
            await _carried_out(work, 2)
            work.files, work.count = count, 0
            seconds = await _carried_out(work, 3)
    _report_engine(report, steps, seconds, count)
    await _sandbox(options, report)


async def _carried_out(work: Nothing, run_id: int) -> float:
    """Seconds that a run takes, from its queue to its end."""
    work.done.clear()
    started = time.perf_counter()
    await workflow.enqueue_run(run_id, None)
    await asyncio.wait_for(work.done.wait(), 300)
    return time.perf_counter() - started


def _report_engine(report: Report, steps: Sequence[float], seconds: float, count: int) -> None:
    report.table(
        "costs: durability, of work that does nothing",
        ["what", "times", "ms each", "p99 ms"],
        [
            ["a step, one after the other", len(steps), *percentiles(steps)],
            [f"a file, {FILES_AT_ONCE} at once", count, ms(seconds / count), ""],
        ],
    )


async def _sandbox(options: Options, report: Report) -> None:
    texts = corpus.load_or_generate(options.data, ABSTRACTS).texts
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    rows: list[list[object]] = []
    sandbox = Sandbox()
    try:
        for kind in ("text", "markdown", "html", "docx"):
            data = file_builders.BUILDERS[kind][1](file_builders.sections(texts[:2]))
            bare, boxed = await _in_turn(sandbox, kind, data, rounds)
            added = boxed - bare
            rows.append([kind, f"{len(data) / 1000:.0f}", ms(bare), ms(boxed), ms(added)])
    finally:
        await sandbox.aclose()
    columns = ["kind", "KB", "in this process (the floor), ms", "in the sandbox, ms", "added ms"]
    report.table(f"costs: reading a small file, p50 of {rounds} in turn", columns, rows)


async def _in_turn(sandbox: Sandbox, kind: str, data: bytes, rounds: int) -> tuple[float, float]:
    """Median seconds of a read in this process and in the sandbox."""
    bare, boxed = list[float](), list[float]()
    for number in range(-1, rounds):  # the first is to warm them
        started = time.perf_counter()
        readers.read(kind, data)
        middle = time.perf_counter()
        await sandbox.read(kind, data)
        if number >= 0:
            bare.append(middle - started)
            boxed.append(time.perf_counter() - middle)
    return p50(bare), p50(boxed)


if __name__ == "__main__":
    main({"costs": run})
