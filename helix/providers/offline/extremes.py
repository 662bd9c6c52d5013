"""Answers by comparing cells: the period or the row whose number is the greatest, or the least.

An answer is given only where the cells differ in their period alone, or are the parts of one total,
and one is the greatest (helix.language.comparisons).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from helix.language.comparisons import (
    Compared,
    cells_by_period,
    cells_by_row,
    greatest,
    rows_of_table,
)
from helix.language.paraphrases import meanings
from helix.language.periods import periods, without_periods
from helix.language.rows import rows_of
from helix.language.word_lists import word_lists
from helix.language.words import words
from helix.providers.offline.cells import (
    OTHER_YEAR,
    TableCell,
    cell_as_statement,
    cells_of,
    named_cells,
    period_score,
)
from helix.providers.offline.reading import OfferedSource

_LISTS = word_lists("tables")
_GREATEST, _LEAST = _LISTS["greatest"], _LISTS["least"]
_LEAST_COVERED = 0.7
_ASIDE = frozenset(meanings(" ".join(_GREATEST | _LEAST))) | _LISTS["of_time"]


def asks_for_extreme(question: str) -> bool:
    """True if a question names the greatest or the least of something."""
    return not (_GREATEST | _LEAST).isdisjoint(words(question))


def extreme_of(question: str, sources: Sequence[OfferedSource]) -> tuple[int, str] | None:
    """The place of the source, and the statement that answers; None where none surely does.

    Where the question names a period the row is told, else the period.
    """
    least = not _LEAST.isdisjoint(words(question))
    compare = _by_row if periods(question) else _by_period
    found = dict.fromkeys(compare(question, sources, least))  # of copies the first is told
    return next(iter(found)) if len({text for _, text in found}) == 1 else None


def _by_period(
    question: str, sources: Sequence[OfferedSource], least: bool
) -> Iterator[tuple[int, str]]:
    named = named_cells(question, sources, _ASIDE, _LEAST_COVERED)
    best = max((one.mention.score for one in named), default=0)
    for one in named:
        if one.mention.score == best:
            compared = cells_by_period(one.of.table_row, one.of.cell)
            yield from _stated(one.of, compared, "periods", least)


def _by_row(
    question: str, sources: Sequence[OfferedSource], least: bool
) -> Iterator[tuple[int, str]]:
    """The row of each column that question, column and caption name, one a table.

    A column without a period, as a total of all, is named only where none of the one asked for is.
    """
    asked = frozenset(meanings(without_periods(question))) - _ASIDE
    scores: dict[TableCell, float] = {}
    for place, source in enumerate(sources):
        for one in cells_of(place, source):
            score = period_score(question, periods(question), one, source)
            if score is not None and asked <= frozenset(meanings(f"{one.caption} {one.column}")):
                scores[one] = score
    of_period = max(scores.values(), default=0.0) >= OTHER_YEAR
    for one, score in scores.items():
        if score >= OTHER_YEAR or not of_period:
            rows = rows_of_table(list(rows_of(sources[one.source].text)), one.table_row)
            compared = cells_by_row(rows, one.table_row, one.cell)
            yield from _stated(one, compared, "rows", least)


def _stated(
    of: TableCell, compared: Sequence[Compared], what: str, least: bool
) -> Iterator[tuple[int, str]]:
    """`Net sales: $60,584 million, 2023, the highest of 3 periods`."""
    if first := greatest(compared, least=least):
        said = cell_as_statement(first.row, first.cell, of.units)
        yield of.source, f"{said}, the {'lowest' if least else 'highest'} of {len(compared)} {what}"
