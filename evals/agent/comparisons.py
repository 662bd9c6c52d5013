"""sec10q: questions over several filings, asked with and without the agent."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from evals.agent.answers import ask, faults
from evals.agent.arithmetic import MODES
from evals.database import ingest
from evals.datasets.sec10q import report_files
from evals.documents.parts import Part
from evals.documents.question_outcomes import Shelf
from evals.documents.values import Number, numbers
from evals.suites import Suite
from helix.answering.answer import Answer
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings

_ALL = 0.999


@dataclass(frozen=True)
class Comparison:
    """A question over several filings, and the values that the set's answer gives."""

    text: str
    files: tuple[str, ...]
    values: tuple[float, ...]


def load_comparisons(data: Path) -> Iterator[Comparison]:
    """The questions over several filings of the set below the folder ``data``."""
    files = [path.name for path in report_files(data)]
    path = data / "sec10q/qna_data.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            globs = [name.strip() for name in row["Source Docs"].split(",")]
            matching = tuple(name for name in files if any(fnmatch(name, glob) for glob in globs))
            if row["Question Type"].startswith("Multi") and len(matching) > 1:
                yield Comparison(row["Question"], matching, tuple(amounts(row["Answer"])))


def amounts(answer: str) -> Iterator[float]:
    """The amounts of the set's answer, in units: no years, no small counts."""
    for one in numbers(answer):
        if one.scale or one.value >= _least(one):
            yield one.full


def _least(number: Number) -> float:
    is_year = not number.decimals and 1990 <= number.value <= 2100
    return float("inf") if is_year else 1000


def measure_comparisons(settings: Settings, data: Path, every: int) -> Part:
    """Every Nth question over several filings, asked of all of them, both ways."""
    suite = Suite("agent-sec10q", data / "sec10q", "docs", ())
    ingest(settings, suite)
    return asyncio.run(_ask_all(settings, suite.tenant, list(load_comparisons(data))[::every]))


async def _ask_all(settings: Settings, tenant: str, comparisons: list[Comparison]) -> Part:
    part = Part()
    async with open_services(settings) as services:
        shelf = await Shelf.of(services, tenant)
        names = {number: name for name, number in shelf.ids.items()}
        for mode in MODES:
            counts = dict.fromkeys(("answered", "found", "cited", "valued", "sound"), 0)
            failed = []
            for one in comparisons:
                answer = await ask(services, one.text, Scope(tenant), mode)
                found_files = {names[hit.document_id] for hit in answer.retrieval.hits}
                cited = {names[number] for number in answer.cited_documents}
                expected = set(one.files)
                counts["answered"] += not answer.abstained
                counts["found"] += expected <= found_files
                counts["cited"] += len(cited & expected) >= 2
                counts["valued"] += _says_two(answer, one)
                counts["sound"] += not list(faults(answer))
                if len(cited & expected) < 2:
                    label = " ".join(answer.text.split())[:200]
                    failed.append(f"{one.text} | cited {sorted(cited)} | {label}")
            label = f"sec10q comparisons, {'agent' if mode == 'agent' else 'single search'}"
            part.add(f"{label}: answered", counts["answered"], len(comparisons))
            part.add(f"{label}: all filings found", counts["found"], len(comparisons))
            part.add(
                f"{label}: answered from two filings or more",
                counts["cited"],
                len(comparisons),
                failed,
            )
            part.add(f"{label}: two values of the set's answer", counts["valued"], len(comparisons))
            part.add(f"{label}: markers and quotes resolve", counts["sound"], len(comparisons))
    return part


def _says_two(answer: Answer, one: Comparison) -> bool:
    """True where an answer has two of the set's values, or the one that it has."""
    if answer.abstained or not one.values:
        return False
    stated = [number.full for number in numbers(answer.text)]
    close = {
        value for value in set(one.values) if any(same_amount(other, value) for other in stated)
    }
    return len(close) >= min(2, len(set(one.values)))


def same_amount(one: float, other: float) -> bool:
    """The same amount, whether in units or as a table in millions prints it."""
    return any(abs(one * scale - other) <= 0.0005 * abs(other) for scale in (1, 1e3, 1e6, 1e-6))
