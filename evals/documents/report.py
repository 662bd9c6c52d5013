"""The measures of documents as JSON and as a table, and what a baseline says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from evals.cases import CaseError
from evals.documents.parts import Part
from evals.report.data import write_json

BASELINE = Path(__file__).with_name("baseline.json")
VERSION = 1
DRAWN, WHOLE = "drawn", "whole"
"""The two runs that a baseline has figures of: without any data set, and with all."""
_NOISE = 1e-6

TARGETS: Mapping[str, float] = {
    "TAT-QA, PDF with lines: cells exact": 0.95,
    "TAT-QA, PDF without lines: cells exact": 0.90,
    "sec10q tables labelled by hand: cells exact": 0.90,
    "sec10q furniture recognised": 0.99,
    "sec10q body lines kept": 1.0,
    "citations whose boxes hold the quote": 0.99,
    "values, within the filing: right, on the right page": 0.60,
    "values, over all filings: right, on the right page": 0.60,
    "values, within the filing: not wrong yet supported": 0.95,
    "values, over all filings: not wrong yet supported": 0.95,
    "page among the first 5, over all filings": 0.65,
    "TAT-QA spans: right value": 0.50,
}
"""The goals; a run fails by its baseline alone."""


def to_json(run: str, part: Part, seconds: float) -> dict[str, Any]:
    """A run as JSON: shares from 0 to 1 with their intervals, and what failed."""
    return {
        "version": VERSION,
        "run": run,
        "seconds": round(seconds, 1),
        "measures": {name: value.to_json() for name, value in part.measures.items()},
        "failures": part.failures,
    }


def load_baseline(path: Path, run: str) -> dict[str, float]:
    """The least of each measure of such a run; none where none was saved.

    Raises:
        CaseError: the file is no baseline.
    """
    try:
        known = json.loads(path.read_text("utf-8"))
        return {name: float(value) for name, value in known.get(run, {}).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError):
        raise CaseError(f"{path.name} is no baseline: save one with --save-baseline") from None


def save_baseline(path: Path, run: str, part: Part) -> None:
    """Put the figures of a run beside those of the other run."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    figures = {name: round(one.value, 6) for name, one in part.measures.items()}
    write_json(path, {**known, run: figures})


def fallen(part: Part, baseline: Mapping[str, float]) -> Iterator[str]:
    """A line for each measure that is below its baseline, or that could not be measured."""
    for name, least in baseline.items():
        if name not in part.measures:
            yield f"{name} could not be measured, and was {least:.3f}"
        elif part.measures[name].value < least - _NOISE:
            yield f"{name} {part.measures[name].value:.3f} is below {least:.3f}"


def show(console: Console, part: Part, baseline: Mapping[str, float]) -> None:
    """Print the measures with their intervals, what they were and what is aimed at."""
    table = Table("measure", "value", "95% interval", "n", "baseline", "aim")
    for name, one in part.measures.items():
        table.add_row(
            name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}", f"{one.n}",
            f"{baseline[name]:.3f}" if name in baseline else "",
            f"{TARGETS[name]:.2f}" if name in TARGETS else "",
        )  # fmt: skip
    console.print(table)
