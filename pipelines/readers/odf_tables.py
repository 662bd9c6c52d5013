"""The rows of OpenDocument's tables and sheets: repetitions and merged cells resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from pipelines.readers import UnreadableFile
from pipelines.readers.number_formats import duration, number, percent
from pipelines.readers.odf import attribute, children, count, paragraph_text
from pipelines.readers.office import local_name
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import one_line

_GROUPS = ("table-rows", "table-row-group")
_HEADER = "table-header-rows"
_CELLS = ("table-cell", "covered-table-cell")
_APART = frozenset(("annotation", "note"))
_MOST_COLUMNS = 16_384  # of any program's sheet
_MOST_MADE = 1_000_000  # cells that are there by repetition only, or empty
_DURATION = re.compile(r"(-?)P(?:([0-9]{1,6})D)?T([0-9]{1,6})H([0-9]{1,2})M([0-9]{1,2})[0-9.,]*S")


def row_elements(table: Any) -> Iterator[Any]:
    """The rows of a table, in whatever groups they are."""
    for part in children(table):
        if local_name(part) == "table-row":
            yield part
        elif local_name(part) in (*_GROUPS, _HEADER):
            yield from row_elements(part)


def table_rows(rows: Iterable[Any], text_of: Callable[[Any], str]) -> Iterator[Row]:
    """Rows by their own numbers; a cell merged downwards is repeated, each row being a line.

    ``text_of`` gives the text of a cell.

    Raises:
        UnreadableFile: nearly all of its very many cells are repetitions.
    """
    place, made, there = 1, 0, 0
    below: dict[int, _Merge] = {}
    for element in rows:
        parts = _parts(element, text_of)
        times = count(element, "number-rows-repeated")
        is_header = local_name(element.getparent()) == _HEADER
        is_empty = not any(part.text for part in parts)
        there += len(parts)
        for index in range(times):
            if is_empty and not below:
                break
            cells, spans = _placed(parts, below)
            made += len(cells)
            if made > _MOST_MADE and made > 10 * there:
                raise UnreadableFile(
                    f"a table with more than {_MOST_MADE:,} cells that are only repetitions or"
                    " empty: delete those far from the rest"
                )
            yield Row(place + index, cells, spans, is_header)
        place += times


class _Part(NamedTuple):
    """Cells of a row that are alike; those that are covered have none of their own."""

    text: str
    times: int
    width: int
    height: int
    is_covered: bool


class _Merge(NamedTuple):
    """A cell's text in the rows below it, as many as are left."""

    text: str
    width: int
    left: int


def _parts(row: Any, text_of: Callable[[Any], str]) -> list[_Part]:
    """The cells of a row, without the empty ones at its end."""
    found: list[_Part] = []
    for cell in filter(lambda one: local_name(one) in _CELLS, children(row)):
        is_covered = local_name(cell) == _CELLS[1]
        found.append(
            _Part(
                "" if is_covered else text_of(cell),
                count(cell, "number-columns-repeated"),
                count(cell, "number-columns-spanned"),
                count(cell, "number-rows-spanned"),
                is_covered,
            )
        )
    while found and not found[-1].text and not found[-1].is_covered:
        found.pop()
    return found


def _placed(parts: list[_Part], below: dict[int, _Merge]) -> tuple[list[str], dict[int, int]]:
    """The texts of a row's cells by column, and the widths of those over several."""
    cells: list[str] = []
    spans: dict[int, int] = {}
    for part in parts:
        for column in range(len(cells), min(len(cells) + part.times, _MOST_COLUMNS)):
            merge = below.pop(column, None)
            if not part.is_covered:
                merge = _Merge(part.text, min(part.width, _MOST_COLUMNS), part.height)
            text, width, left = merge or _Merge("", 1, 0)
            cells.append(text)
            if text and width > 1:
                spans[column] = width
            if left > 1:
                below[column] = _Merge(text, width, left - 1)
    for column in [column for column in below if column >= len(cells)]:
        del below[column]
    return cells, spans


def shown_text(cell: Any) -> str:
    """All paragraphs of a cell in one line; neither its notes nor comments on it."""
    return one_line("\n".join(paragraphs(cell)))


def paragraphs(element: Any) -> Iterator[str]:
    """The paragraphs in an element that have text, but those of notes and comments."""
    for part in children(element):
        if local_name(part) in ("p", "h") and (text := paragraph_text(part)):
            yield text
        if local_name(part) not in _APART:
            yield from paragraphs(part)


def value_text(cell: Any) -> str:
    """The value of a sheet's cell as it is kept, not as it is shown: 12345.678, 9.25%, 2024-01-05.

    A formula that was saved without its value stands for it; what is shown for a value untold.
    """
    kind = attribute(cell, "value-type")
    try:
        if kind in ("float", "currency"):
            value = number(float(attribute(cell, "value")))
            return f"{value} {attribute(cell, 'currency')}".strip()
        if kind == "percentage":
            return percent(float(attribute(cell, "value")))
    except (ValueError, OverflowError):  # no number after all
        return shown_text(cell)
    if kind == "date" and (day := attribute(cell, "date-value")):
        return day.replace("T", " ").removesuffix(" 00:00:00").removesuffix(":00")
    if kind == "boolean" and (told_as := attribute(cell, "boolean-value")):
        return told_as.upper()
    if kind == "time" and (told := _DURATION.fullmatch(attribute(cell, "time-value"))):
        return _duration(told)
    formula = "" if kind else attribute(cell, "formula").partition(":")[2].lstrip("=")
    untold = f"={formula}" if formula else attribute(cell, "string-value")
    return shown_text(cell) or one_line(untold)


def _duration(told: re.Match[str]) -> str:
    sign, *parts = told.groups()
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    long = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return duration(-long if sign else long)
