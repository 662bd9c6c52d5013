"""XLSX: sheet by sheet, a line a row that names its columns (tables.py)."""

from __future__ import annotations

import datetime
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from python_calamine import CalamineSheet, CalamineWorkbook, SheetTypeEnum, load_workbook

from pipelines.readers import Progress, ReadText
from pipelines.readers.draft import Draft
from pipelines.readers.number_formats import duration, moment, number, percent
from pipelines.readers.office import core_title, guarded
from pipelines.readers.plain_sheets import with_plain_sheets
from pipelines.readers.table_heads import Cells, Row
from pipelines.readers.tables import add_table, one_line
from pipelines.readers.xlsx_cells import MarkedCells, marked_cells

_NO_MARKS = MarkedCells({}, {})
Value = float | str | datetime.time | datetime.date | datetime.timedelta


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections of 20 rows labelled "sheet Budget, rows 2-21", hidden sheets included.

    Values are those saved with the file, of their number formats days and percent alone: 9.25%,
    12345.678. A formula that was saved without its value stands for it, an error for itself.

    Raises:
        UnreadableFile: encrypted, damaged, or without a value.
    """
    draft = Draft()
    with guarded(data, "Excel workbook"):
        marks = marked_cells(data)
        if parts := {sheet.part for sheet in marks.values() if sheet.part}:
            data = with_plain_sheets(data, parts)
        with load_workbook(io.BytesIO(data)) as book:
            _read_sheets(book, marks, draft, progress)
        return draft.finish(core_title(data))


def _read_sheets(
    book: CalamineWorkbook, marks: Mapping[str, MarkedCells], draft: Draft, progress: Progress
) -> None:
    sheets = [about for about in book.sheets_metadata if about.typ == SheetTypeEnum.WorkSheet]
    for done, about in enumerate(sheets, 1):
        name = one_line(about.name)
        rows = _rows(book.get_sheet_by_name(about.name), marks.get(about.name, _NO_MARKS))
        add_table(draft, rows, (name,), f"sheet {name}, ")
        progress(done, len(sheets))


def _rows(sheet: CalamineSheet, marks: MarkedCells) -> Iterator[Row]:
    """Rows by their own numbers; a cell merged downwards is repeated, each row being a line."""
    place = _Place.of(sheet, marks)
    merged = _merged(sheet, place.first)
    running: dict[int, tuple[_Merge, str]] = {}  # column to a merge that goes on, and its value
    more = (index for index in sorted(marks.texts) if index >= place.height)
    empty: list[Value] = [""] * place.width
    for index, values in chain(enumerate(sheet.iter_rows()), ((index, empty) for index in more)):
        if not running and index not in marks.texts and values.count("") == len(values):
            continue  # nobody asks for it, and a sheet of one cell may have a million above
        cells = _cells(values, index, place, marks)
        for column, (merge, value) in list(running.items()):
            if index > merge.last:
                del running[column]
            elif not cells[column]:
                cells[column] = value
        for merge in merged.get(index, ()):
            if cells[merge.column]:
                running[merge.column] = (merge, cells[merge.column])
        spans = {column: merge.width for column, (merge, _) in running.items() if merge.width > 1}
        yield Row(index + 1, cells, spans)


class _Place(NamedTuple):
    """The cells of a sheet that have a value, from the column ``left``; and the first column.

    A formula without its value may stand beside or below all of them.
    """

    first: int
    left: int
    width: int
    height: int

    @classmethod
    def of(cls, sheet: CalamineSheet, marks: MarkedCells) -> _Place:
        """The place of the cells of ``sheet``, and of its marked ones."""
        marked = min(map(min, marks.texts.values()), default=0)
        if sheet.start is None or sheet.end is None:
            return cls(marked, marked, 0, 0)
        left = sheet.start[1]
        first = min(left, marked) if marks.texts else left
        return cls(first, left, sheet.end[1] - left + 1, sheet.end[0] + 1)


def _cells(values: list[Value], index: int, place: _Place, marks: MarkedCells) -> Cells:
    """The texts of a row's cells, as the sheet's marks have them."""
    first, left = place.first, place.left
    cells = [""] * (left - first) + [_text(value) for value in values]
    for column in marks.percents.get(index, ()):
        if left <= column < left + len(values):
            cells[column - first] = _percent(values[column - left])
    for column, text in marks.texts.get(index, {}).items():
        cells += [""] * (column - first + 1 - len(cells))
        cells[column - first] = one_line(text)
    return cells


class _Merge(NamedTuple):
    """Merged cells: their first column, how many columns, and their last row."""

    column: int
    width: int
    last: int


def _merged(sheet: CalamineSheet, start: int) -> dict[int, list[_Merge]]:
    """First row to the merges that begin there; their columns count from ``start``."""
    found: defaultdict[int, list[_Merge]] = defaultdict(list)
    (_, left), (_, right) = sheet.start or (0, 0), sheet.end or (0, 0)
    for (top, first), (bottom, last) in sheet.merged_cell_ranges or ():
        if left <= first <= right:
            width = min(last, right) - first + 1
            found[top].append(_Merge(first - start, width, bottom))
    return found


def _text(value: Value) -> str:
    """A value as people write it: 12, not 12.0; dates as 2024-01-05; TRUE and FALSE."""
    if isinstance(value, str):
        return one_line(value) if value else ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, datetime.timedelta):
        return duration(value)
    if isinstance(value, datetime.datetime):
        return moment(value)
    return value.isoformat()


def _percent(value: Value) -> str:
    """A number as percent; what is none as it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return percent(value)
    return _text(value)
