"""The options that every benchmark takes, and what makes one runnable."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import MissingData
from benchmarks.report import Report

FULL_ROWS = 20_000
QUICK_ROWS = 2_000
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


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
    parser.add_argument(
        "--rows", type=int, help=f"chunks at the largest size (default {FULL_ROWS})"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_ROWS} chunks and few rounds; judges nothing"
    )
    parser.add_argument(
        "--full", action="store_true", help="memory with 10,000 files too: ten minutes more"
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="holds scifact/ and sec10q/ (default %(default)s)"
    )
    given = parser.parse_args()
    rows = given.rows or (QUICK_ROWS if given.quick else FULL_ROWS)
    if rows < 100:
        parser.error("--rows must be 100 or more")
    return Options(rows, given.quick, given.full, given.data)
