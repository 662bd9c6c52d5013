"""Measurements by asking: values and pages of sec10q, spans of TAT-QA."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from evals.database import ingest
from evals.datasets.sec10q import load_report_values
from evals.datasets.tatqa import load_tatqa
from evals.datasets.value_questions import ValueQuestion, near_misses, value_questions
from evals.documents.parts import FORMATS, Part, printed
from evals.documents.question_outcomes import FIRST, Asked, Judged, Shelf
from evals.documents.values import Expected, expected_of, numbers
from evals.suites import Suite
from helix.services import open_services
from helix.settings import Settings

WITHIN, OVER_ALL = "within the filing", "over all filings"


Result = TypeVar("Result")


async def _on_shelf(
    settings: Settings, tenant: str, ask: Callable[[Shelf], Awaitable[Result]]
) -> Result:
    """The result of ``ask`` over all that the tenant has stored."""
    async with open_services(settings) as services:
        return await ask(await Shelf.of(services, tenant))


def filings_asked(settings: Settings, data: Path, every: int) -> Part:
    """The 60 questions of our own, the near misses and the set's own values, asked of sec10q."""
    suite = Suite("documents-sec10q", data / "sec10q", "docs", ())
    ingest(settings, suite)
    return asyncio.run(
        _on_shelf(settings, suite.tenant, lambda shelf: _of_filings(shelf, data, every))
    )


async def _of_filings(shelf: Shelf, data: Path, every: int) -> Part:
    part = Part()
    questions = value_questions()[::every]
    for scope in (WITHIN, OVER_ALL):
        asked = [_own(one, scope) for one in questions]
        results = await _judged(shelf, asked)
        _add_outcomes(part, f"values, {scope}", results)
        _add_pages(part, scope, results)
    misses = [Asked(one.id, one.question, None) for one in near_misses()[::every]]
    refused = await _judged(shelf, misses)
    good = sum(one.outcome == "refused" for one in refused)
    failed = [_line(one) for one in refused if one.outcome != "refused"]
    part.add("near misses refused", good, len(refused), failed)
    values = [
        Asked(
            f"qna-{place}", one.text,
            Expected(tuple((n.value, n.scale) for n in list(numbers(one.value))[:1])),
            within=one.file,
        )
        for place, one in enumerate(load_report_values(data))
    ][::every]  # fmt: skip
    results = await _judged(shelf, values)
    _add_outcomes(part, "qna_data.csv values, within the filing", results)
    return part


async def _judged(shelf: Shelf, asked: Iterable[Asked]) -> list[Judged]:
    return [one async for one in shelf.judged(asked)]


def _own(one: ValueQuestion, scope: str) -> Asked:
    within = one.document if scope == WITHIN else None
    places = [p for p in one.places if within is None or p[0] == within]
    return Asked(one.id, one.question, Expected(one.numbers, one.spans, one.all), places, within)


def _add_outcomes(part: Part, name: str, results: Sequence[Judged]) -> None:
    """Right answers, by value and by value and page, and those that are not wrong yet supported."""
    count = len(results)
    right = sum(one.outcome == "right" for one in results)
    said = sum(one.outcome in ("right", "wrong page") for one in results)
    wrong = [one for one in results if one.outcome == "wrong yet supported"]
    failed = [_line(one) for one in results if one.outcome != "right"]
    if any(one.asked.places for one in results):
        part.add(f"{name}: right, on the right page", right, count, failed)
        part.add(f"{name}: right value", said, count)
    else:
        part.add(f"{name}: right value", said, count, failed)
    part.add(f"{name}: not wrong yet supported", count - len(wrong), count)
    answered = sum(one.outcome != "refused" for one in results)
    part.add(f"{name}: of the answered, right value", said, answered)


def _add_pages(part: Part, scope: str, results: Sequence[Judged]) -> None:
    known = [one for one in results if one.page_found is not None]
    missed = [_pages_line(one) for one in known if not one.page_found]
    part.add(f"page among the first {FIRST}, {scope}", len(known) - len(missed), len(known), missed)


def _line(one: Judged) -> str:
    wanted = _wanted(one.asked.expected)
    answer = " ".join(one.answer.split())[:300]
    where = f" (in {one.asked.within})" if one.asked.within else ""
    return f"{one.outcome} | {one.asked.id}: {one.asked.question}{where} | {wanted} | {answer}"


def _wanted(expected: Expected | None) -> str:
    if expected is None:
        return "a refusal"
    numbers = (f"{value:,g} {scale}".strip() for value, scale in expected.numbers)
    return " or ".join([*numbers, *expected.spans])


def _pages_line(one: Judged) -> str:
    wanted = ", ".join(f"{name} p{page}" for name, page in sorted(one.asked.places))
    found = ", ".join(f"{name} p{page}" for name, page in one.found)
    return f"{one.asked.id}: {one.asked.question} | {wanted} | {found}"


def tatqa_asked(settings: Settings, data: Path, every: int) -> Part:
    """The span questions of TAT-QA, each asked of its own document: PDF with and without, DOCX."""
    part = Part()
    with tempfile.TemporaryDirectory(prefix="helix-evals-tatqa-") as place:
        folder = Path(place, "tatqa")
        folder.mkdir()
        asked: list[tuple[str, Asked]] = []
        for number, context in enumerate(load_tatqa(data)[::every]):
            document = printed(context)
            if document is None:
                continue
            kind, make = list(FORMATS.values())[number % len(FORMATS)]
            name = f"{number:03}.{kind}"
            (folder / name).write_bytes(make(document))
            asked += [
                (
                    "text" if one.source == "text" else "tables",
                    Asked(one.id, one.text, expected_of(one.answer, one.scale), within=name),
                )
                for one in context.questions
            ]
        suite = Suite("documents-tatqa", Path(place), "tatqa", ())
        ingest(settings, suite)
    questions = [one for _, one in asked]
    results = asyncio.run(
        _on_shelf(settings, suite.tenant, lambda shelf: _judged(shelf, questions))
    )
    for source in ("text", "tables"):
        some = [r for r, (kind, _) in zip(results, asked, strict=True) if kind == source]
        _add_outcomes(part, f"TAT-QA spans from {source}", some)
    _add_outcomes(part, "TAT-QA spans", results)
    return part
