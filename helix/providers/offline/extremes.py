"""Answers by comparing cells: which year or segment was the largest, or below a number.

An answer is given only if the question is about one row, the cells of that row differ in their
period alone or are the parts of one total, and one is the greatest (helix.language.comparisons).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from helix.domain.question_analysis import any_of, read_question
from helix.domain.relevance import companies_of, foreign_names
from helix.language.comparisons import (
    Compared,
    cells_by_period,
    cells_by_row,
    greatest,
    rows_of_table,
)
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import periods
from helix.language.rows import Units, amount, rows_of, units_in
from helix.providers.offline.cell_candidates import (
    GENERIC,
    AskedCells,
    Candidate,
    asked_of_cells,
    candidates,
    period_score,
)
from helix.providers.offline.cell_statements import cell_as_statement
from helix.providers.offline.reading import PromptSource

_BY_PERIOD = re.compile(
    r"\b(?:(?:in|for|during|between) )?(?:which|what) (?:one )?(?:fiscal |financial |calendar )?"
    r"(?:years?|FYs?|quarters?|periods?|months?)\b|^\W*when\b",
    re.IGNORECASE,
)
_BY_ITEM = re.compile(
    r"\b(?:(?:in|for|of) )?(?:which|what)(?: [\w-]+){0,2}? (?P<item>[a-z-]+?)"
    r"(?= (?:has|have|had|is|was|were|are|made|generated|contributed|brought|earned|saw|reported"
    r"|recorded|the)\b)",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    rf"\b(?:the |an? )?(?:(?:{any_of('greatest')})|(?P<least>{any_of('least')}))\b(?! than)",
    re.IGNORECASE,
)
_NOT_EXTREME = re.compile(
    r"\bmost recent|\bat (?:most|least)\b"
    r"|\b(?:second|third|fourth|next|\d+)[- ](?:most\b|\w+est\b)",
    re.IGNORECASE,
)
_BOUND = re.compile(
    rf"\b(?:(?:{any_of('above')})|(?P<below>{any_of('below')})) (?:an? (?:total|amount) of )?"
    r"(?P<number>[-–−]?[$€£¥]?\s?\d[\d,]*(?:\.\d+)?%?)"
    r"(?: (?P<scale>thousand|million|billion)s?\b)?",
    re.IGNORECASE,
)
_TIMES = {"": Decimal(1), "thousand": Decimal(10**3), "million": Decimal(10**6),
          "billion": Decimal(10**9)}  # fmt: skip
_PERIOD_ASKED = 0.15  # what a cell's period may add to a score where it is not asked for
_MOST_STATED = 4  # periods above or below a number, stated one by one


@dataclass(frozen=True)
class Extreme:
    """A comparison that a question asks for.

    ``about`` is the question without what compares: its row's subject, its periods. ``item`` is
    the kind of the rows compared, such as segments; empty where periods are compared. ``bound`` is
    the number that all stated are above or below, with its scale; None where the greatest or the
    least is asked for.
    """

    about: str
    item: frozenset[str]
    least: bool
    bound: tuple[Decimal, str] | None = None


@dataclass(frozen=True)
class ComparedCells:
    """Cells that answer: statements without a marker, of the source at place ``source``."""

    source: int
    texts: tuple[str, ...]


def extreme_asked(text: str) -> Extreme | None:
    """The comparison that a question asks for; None where it asks for none."""
    bound = _BOUND.search(text)
    extreme = None if bound else _EXTREME.search(text)
    if _NOT_EXTREME.search(text) or not (bound or extreme):
        return None
    by = _BY_PERIOD.search(text)
    item = frozenset[str]()
    if by is None:
        by = _BY_ITEM.search(text)
        if by is None or bound:
            return None
        item = frozenset(meanings(by["item"]))
        if not item:
            return None
    spans = sorted((one.span() for one in (by, bound or extreme) if one), reverse=True)
    about = text
    for start, end in spans:
        about = f"{about[:start]} {about[end:]}"
    about = f"What was {' '.join(about.split())}"
    if bound:
        digits = amount(re.sub(r"\s", "", bound["number"]))
        if digits is None:
            return None
        number = Decimal(digits.digits)
        return Extreme(about, item, bool(bound["below"]), (number, (bound["scale"] or "").lower()))
    return Extreme(about, item, bool(extreme and extreme["least"]))


def compared_cells(text: str, sources: Sequence[PromptSource]) -> ComparedCells | None:
    """The cells that answer a question for the greatest, the least, or those beyond a number."""
    asked = extreme_asked(text)
    if asked is None:
        return None
    if asked.item:
        return _by_item(asked, sources)
    return _by_period(asked, sources)


def _by_period(asked: Extreme, sources: Sequence[PromptSource]) -> ComparedCells | None:
    """The period of the best row whose cell is the one; None where two rows say different ones."""
    found = list(_candidates(asked.about, sources))
    if not found:
        return None
    best = max(one.score for one in found)
    answers = {
        (one.row.path, tuple(stated))
        for one in found
        if one.score >= best - _PERIOD_ASKED
        for stated in [_stated_of_row(asked, one)]
    }
    firsts = [one for one in found if one.score >= best - _PERIOD_ASKED]
    if len({stated for _, stated in answers}) != 1:
        return None
    texts = next(iter(answers))[1]
    return ComparedCells(firsts[0].source, texts) if texts else None


def _candidates(about: str, sources: Sequence[PromptSource]) -> Iterator[Candidate]:
    question = read_question(about)
    cells = asked_of_cells(question)
    companies = companies_of(sources)
    for place, source in enumerate(sources):
        if cells.subject and not foreign_names(question, source.place, source.meanings, companies):
            for one in candidates(cells, place, source):
                if _names_all(cells, one, source):
                    yield one


def _names_all(cells: AskedCells, one: Candidate, source: PromptSource) -> bool:
    """True if row, table and document together name all that the question is about."""
    above = next((span for row, span in rows_of(source.text) if row.start == one.row.start), (0, 0))
    stated = (source.text[slice(*above)], one.row.corner, *one.row.path, one.cell.header)
    known = frozenset(meanings(" ".join(stated))) | source.place.about
    return known.issuperset(word for word in cells.subject if word not in GENERIC)


def _stated_of_row(asked: Extreme, one: Candidate) -> list[str]:
    """The statements of the cells of a row that are what is asked for; none where none is."""
    compared = cells_by_period(one.row, one.cell)
    named = {period.keys[0] for period in periods(asked.about)}
    if len(named) > 1:  # `between 2018 and 2019`: of these only
        compared = [each for each in compared if _is_of(each, named)]
    if len(compared) < 2:
        return []
    if asked.bound is None:
        first = greatest(compared, least=asked.least)
        if first and len(named) > 1:
            return [cell_as_statement(first.row, first.cell, one.units)]
        return [_stated_extreme(first, one.units, len(compared), "periods", asked)] if first else []
    limit = _in_table(asked.bound, one)
    beyond = [
        each for each in compared
        if limit is not None and (each.value < limit if asked.least else each.value > limit)
    ]  # fmt: skip
    if not 0 < len(beyond) <= _MOST_STATED:
        return []
    return [cell_as_statement(each.row, each.cell, one.units) for each in beyond]


def _is_of(one: Compared, named: set[str]) -> bool:
    keys = {key for period in periods(one.cell.header) for key in period.keys}
    return not keys.isdisjoint(named)


def _stated_extreme(
    one: Compared, units: Units | None, count: int, what: str, asked: Extreme
) -> str:
    """`Net sales: $60,584 million, 2023, the highest of 3 periods`."""
    said = cell_as_statement(one.row, one.cell, units)
    return f"{said}, the {'lowest' if asked.least else 'highest'} of {count} {what}"


def _in_table(bound: tuple[Decimal, str], one: Candidate) -> Decimal | None:
    """The number as the table counts; None where one of the two has a scale that is not known."""
    number, scale = bound
    value = amount(one.cell.value)
    own = one.units.scale_of(" ".join(one.row.path), one.cell.header, value) \
        if one.units and value else ""  # fmt: skip
    if scale and not own:
        return None
    return number * _TIMES[scale] / _TIMES[own] if own in _TIMES else None


def _by_item(asked: Extreme, sources: Sequence[PromptSource]) -> ComparedCells | None:
    """The row of the table of such items whose cell is the one; None where tables differ."""
    question = read_question(asked.about)
    cells = asked_of_cells(question)
    companies = companies_of(sources)
    scored: list[tuple[float, int, str]] = []
    for place, source in enumerate(sources):
        if not foreign_names(question, source.place, source.meanings, companies):
            scored += [(score, place, stated) for score, stated in _items_of(asked, cells, source)]
    if not scored or not cells.subject:
        return None
    best = max(score for score, _, _ in scored)
    near = [(place, text) for score, place, text in scored if score >= best - 0.01]
    if len({text for _, text in near}) != 1:
        return None
    return ComparedCells(near[0][0], (near[0][1],))


def _items_of(
    asked: Extreme, cells: AskedCells, source: PromptSource
) -> Iterator[tuple[float, str]]:
    """For each column of a table of such items how well it is what is asked for, and the answer."""
    subject = frozenset(cells.subject) - asked.item - source.place.company
    rows = list(rows_of(source.text))
    seen = set[tuple[int, tuple[str, ...], str]]()
    for row, above in rows:
        if not row.path:
            continue
        caption = frozenset(meanings(f"{source.text[slice(*above)]} {' '.join(row.path[:-1])}"))
        corner = frozenset(meanings(row.corner))
        if not asked.item & (corner | caption) or (row.corner and not asked.item & corner):
            continue
        for cell in row.cells:
            key = (above[0], row.path[:-1], cell.header)
            header = frozenset(meanings(without_periods(cell.header)))
            period = period_score(cells, row, cell, source, slice(*above))
            met = subject & (header | caption)
            if key in seen or period is None or not met or met != subject:
                continue
            seen.add(key)
            compared = cells_by_row(rows_of_table(rows, row), row, cell)
            if not (first := greatest(compared, least=asked.least)):
                continue
            units = units_in(source.text, above)
            said = _stated_extreme(first, units, len(compared), "rows", asked)
            yield period - 0.15 * len(header - subject - caption), said
