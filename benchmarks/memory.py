"""Memory: the most that an ingest of 100, 1,000 and 10,000 small files takes; then 1,000 unchanged.

What is watched is ``python -m pipelines.ingest`` with everything it starts, the processes that read
included; Postgres is not. Memory that processes share counts once, where the system says so (PSS).
The floor of an ingest that has nothing to do is a bare Python that hashes the same files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import corpus, file_builders
from benchmarks.corpus import ABSTRACTS
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, p50
from benchmarks.processes import environment

SIZES, FULL_SIZES, QUICK_SIZES = (100, 1_000), (100, 1_000, 10_000), (50, 200)
UNCHANGED, UNCHANGED_ROUNDS = 1_000, 5
GROWTH = 1.25
"""Ten times the files may find more of them under way at once, but not hold more for each."""
UNCHANGED_SECONDS = 3.0
INGEST = (sys.executable, "-m", "pipelines.ingest")
_EVERY = 0.1  # seconds between two looks
_HASH = (
    "import hashlib, pathlib, sys\n"
    "for path in sorted(pathlib.Path(sys.argv[1]).rglob('*.*')):\n"
    "    hashlib.sha256(path.read_bytes()).hexdigest()\n"
)


@dataclass(frozen=True)
class Watched:
    """An ingest: seconds, and the most MiB of its own process and of all of them."""

    seconds: float
    own: float
    tree: float


async def run(options: Options, report: Report) -> None:
    """Each number of files in a database of its own, then what is stored once more."""
    texts = corpus.load_or_generate(options.data, ABSTRACTS).texts
    sizes = QUICK_SIZES if options.quick else FULL_SIZES if options.full else SIZES
    done: dict[int, Watched] = {}
    with tempfile.TemporaryDirectory() as room, server() as postgres:
        for size in sizes:
            file_builders.write_small_files(folder := Path(room) / str(size), texts, size)
            with postgres.database() as url:
                done[size] = _watched_ingest(url, folder)
                if size == min(UNCHANGED, max(sizes)):
                    again = _again(url, folder)
    _report(report, done)
    _report_again(report, min(UNCHANGED, max(sizes)), again)


def _watched_ingest(url: str, folder: Path) -> Watched:
    """Raises RuntimeError where a file was not brought in."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*INGEST, str(folder)], cwd=folder, env=environment(url),
            stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
        watched = psutil.Process(process.pid)
        own = tree = 0.0
        while process.poll() is None:
            now = _memory(watched)
            own, tree = max(own, now[0]), max(tree, sum(now))
            time.sleep(_EVERY)
        errors.seek(0)
        _check(process.returncode, errors.read())
    return Watched(time.perf_counter() - started, own, tree)


def _check(status: int, told: bytes) -> None:
    if status:
        raise RuntimeError(f"pipelines.ingest ended with {status}: {told.decode()[-500:]}")


def _memory(process: psutil.Process) -> tuple[float, float]:
    """MiB of the process, and of those below it; what has ended meanwhile counts nothing."""
    below: Sequence[psutil.Process] = ()
    with suppress(psutil.Error):
        below = process.children(recursive=True)
    return _mib(process), sum(map(_mib, below))


def _mib(process: psutil.Process) -> float:
    with suppress(psutil.Error, OSError):
        with suppress(psutil.AccessDenied, AttributeError):
            return float(process.memory_full_info().pss) / 2**20
        return float(process.memory_info().rss) / 2**20
    return 0.0


def _report(report: Report, done: Mapping[int, Watched]) -> None:
    first = done[min(done)]
    report.table(
        "memory: the most while small files are ingested, looked at every"
        f" {_EVERY:g} s, Postgres left out",
        ["files", "seconds", "worker MiB", "with its readers MiB", f"of {min(done)} files"],
        [
            [size, f"{one.seconds:.0f}", f"{one.own:.0f}", f"{one.tree:.0f}",
             f"{one.tree / first.tree:.2f}"]
            for size, one in done.items()
        ],
    )  # fmt: skip
    for size, one in list(done.items())[1:]:
        ratio = one.tree / first.tree
        report.at_most(f"peak memory, {size:,} files / {min(done):,}", ratio, GROWTH)


def _again(url: str, folder: Path) -> tuple[list[float], list[float]]:
    """Seconds of an ingest with nothing to do and of its floor, in turn."""
    commands = ([sys.executable, "-c", _HASH, str(folder)], [*INGEST, str(folder)])
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(UNCHANGED_ROUNDS):
        for command, own in zip(commands, seconds, strict=True):
            started = time.perf_counter()
            ended = subprocess.run(command, cwd=folder, env=environment(url), capture_output=True)
            own.append(time.perf_counter() - started)
            _check(ended.returncode, ended.stderr)
    return seconds


def _report_again(report: Report, size: int, again: tuple[list[float], list[float]]) -> None:
    floor, own = map(p50, again)
    report.table(
        f"memory: {size} unchanged files, {UNCHANGED_ROUNDS} times in turn",
        ["command", "p50 seconds", "/ floor"],
        [
            ["bare Python that hashes them (the floor)", f"{floor:.2f}", "1.00"],
            ["python -m pipelines.ingest", f"{own:.2f}", f"{own / floor:.2f}"],
        ],
    )
    report.at_most(f"{size} unchanged files, s", own, UNCHANGED_SECONDS)


if __name__ == "__main__":
    main({"memory": run})
