"""The harness of every benchmark: its options, its percentiles, its tables and its targets."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

FULL_ROWS = 20_000
QUICK_ROWS = 2_000
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class MissingData(Exception):
    """The data is not where it was looked for."""


def p50(samples: Sequence[float]) -> float:
    """The median."""
    return float(np.percentile(samples, 50))


def p99(samples: Sequence[float]) -> float:
    """The 99th percentile, interpolated."""
    return float(np.percentile(samples, 99))


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that ``work`` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ms(seconds: float) -> str:
    """``seconds`` in milliseconds, as printed."""
    return f"{seconds * 1000:.2f}"


def percentiles(seconds: Sequence[float]) -> list[str]:
    """p50 and p99 in milliseconds, as printed."""
    return [ms(p50(seconds)), ms(p99(seconds))]


@dataclass
class Report:
    """One benchmark's output. A reduced run is printed alike, but its targets are not judged."""

    judged: bool
    missed: list[str] = field(default_factory=list)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a Markdown table with aligned columns."""
        cells = [list(columns), *([str(cell) for cell in row] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        cells.insert(1, ["-" * width for width in widths])
        print(f"\n{title}\n")
        for row in cells:
            line = " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print(f"| {line} |")

    def at_least(self, what: str, measured: float, floor: float) -> None:
        """Judge a target that is a lower bound."""
        self._judge(f"{what}: {measured:.3f}, target >= {floor:g}", measured >= floor)

    def at_most(self, what: str, measured: float, ceiling: float) -> None:
        """Judge a target that is an upper bound."""
        self._judge(f"{what}: {measured:.3f}, target <= {ceiling:g}", measured <= ceiling)

    def _judge(self, line: str, met: bool) -> None:
        verdict = ("met" if met else "MISSED") if self.judged else "reduced run, not judged"
        print(f"\n{line}: {verdict}", flush=True)
        if self.judged and not met:
            self.missed.append(line)


@dataclass(frozen=True)
class Options:
    """``rows``: chunks at the largest size. ``quick``: fewer rounds, for a look at all of it.

    ``full``: what takes many minutes more too.
    """

    rows: int
    quick: bool
    full: bool
    data: Path


Benchmark = Callable[[Options, Report], Coroutine[Any, Any, None]]


def main(benchmarks: Mapping[str, Benchmark]) -> None:
    """Run ``benchmarks`` one after another; exits 1 if a target is missed, 2 without its data."""
    options = _parsed(", ".join(benchmarks))
    report = Report(judged=not options.quick and options.rows >= FULL_ROWS)
    status = 0
    for name, benchmark in benchmarks.items():
        print(f"\n# {name}", flush=True)
        try:
            asyncio.run(benchmark(options, report))
        except MissingData as error:
            print(f"benchmarks.{name}: {error}", file=sys.stderr)
            status = 2
    for line in report.missed:
        print(f"missed: {line}", file=sys.stderr)
    sys.exit(status or bool(report.missed))


def _parsed(names: str) -> Options:
    parser = argparse.ArgumentParser(description=f"Helix benchmarks: {names}.")
    add = parser.add_argument
    add("--rows", type=int, help=f"chunks at the largest size (default {FULL_ROWS})")
    add("--quick", action="store_true", help=f"{QUICK_ROWS} chunks, few rounds; judges nothing")
    add("--full", action="store_true", help="memory with 10,000 files too: ten minutes more")
    add("--data", type=Path, default=DATA, help="holds scifact/, sec10q/ (default %(default)s)")
    given = parser.parse_args()
    rows = given.rows or (QUICK_ROWS if given.quick else FULL_ROWS)
    if rows < 100:
        parser.error("--rows must be 100 or more")
    return Options(rows, given.quick, given.full, given.data)
