"""The rows of an HTML table: spans over columns and rows resolved, headers as they are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import takewhile

from lxml.etree import _Element  # type: ignore[import-untyped]

from pipelines.readers.grids import LONGEST_NAME
from pipelines.readers.markup_text import one_line_of, tag_of
from pipelines.readers.table_heads import Row

_MOST_COLUMNS = 1_000  # the standard's own limit of what a cell spans; here of a row's repetitions
_MOST_SQUARES = 200_000  # a table; beyond, spans are not followed
_MOST_BOLD = 2  # rows that are headers by that alone; more, and they are data
_CLOSING = ")%‰"
_SIGN = re.compile(r"[$€£¥(]+|[)%‰]+")
_OF_NUMBER = re.compile(r"[$€£¥(+−–—-]*(?:[\d.]|\Z)")
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))


def is_layout(table: _Element) -> bool:
    """A table that only arranges a page: it holds headings, code, or tables of its own."""
    inner = {tag_of(part) for part in table.iterdescendants() if isinstance(part.tag, str)}
    return bool(inner & {"table", "pre", *_HEADINGS}) or not inner & {"td", "th"}


def rows_of(table: _Element) -> Iterator[Row]:
    """Rows numbered from 1, a caption being the first. A cell over several rows is repeated, each
    row being a line, unless it is longer than a name."""
    elements = list(table.iter("tr"))
    headers = _headers(elements)
    squares = _Squares()
    captions = [text for one in table.iterchildren("caption") if (text := one_line_of(one))]
    for number, text in enumerate(captions, 1):
        yield Row(number, [text], is_header=bool(headers) and elements[0] in headers)
    rows = [squares.read(each, number) for number, each in enumerate(elements, len(captions) + 1)]
    for element, row in zip(elements, _with_signs(rows), strict=True):
        yield row._replace(is_header=element in headers, is_unmarked=not headers)


def _headers(rows: Sequence[_Element]) -> set[_Element]:
    """The rows in the table's head or of header cells alone; else the first ones, if bold."""
    marked = {row for row in rows if _has_header_cells(row)}
    if marked:
        return marked
    wide = [row for row in rows if sum(bool(one_line_of(cell)) for cell in _cells(row)) > 1]
    bold = list(takewhile(_is_bold, wide[: _MOST_BOLD + 1]))
    if not bold or len(bold) > min(_MOST_BOLD, len(wide) - 1):
        return set()
    # a bold text above, which spans columns, is of the header too
    above = takewhile(_is_bold, rows[: rows.index(bold[0])])
    return {*above, *bold}


def _has_header_cells(row: _Element) -> bool:
    """True in the table's head, and for several cells that are all header cells."""
    parent = row.getparent()
    if parent is not None and tag_of(parent) == "thead":
        return True
    cells = [cell for cell in _cells(row) if one_line_of(cell)]
    return len(cells) > 1 and all(tag_of(cell) == "th" for cell in cells)


def _is_bold(row: _Element) -> bool:
    """True where each cell is bold from end to end, and no longer than a name."""
    texts = [(text, cell) for cell in _cells(row) if (text := one_line_of(cell))]
    return all(
        len(text) <= LONGEST_NAME and "".join(_bold_in(cell)) == text for text, cell in texts
    )


def _bold_in(element: _Element) -> Iterator[str]:
    for child in element:
        if isinstance(child.tag, str):
            is_bold = tag_of(child) in ("b", "strong")
            yield from [one_line_of(child)] if is_bold else _bold_in(child)


def _cells(row: _Element) -> Iterator[_Element]:
    yield from (cell for cell in row if isinstance(cell.tag, str) and tag_of(cell) in ("td", "th"))


def _with_signs(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows whose numbers have the signs that stand in columns of their own: `$ | (12 | )`."""
    single = {
        (column, cell)
        for row in rows
        for column, cell in enumerate(row.cells)
        if cell and row.spans.get(column, 1) == 1
    }
    others = {column for column, cell in single if not _SIGN.fullmatch(cell)}
    signs = {column for column, _ in single} - others
    for row in rows:
        yield row._replace(cells=_joined(row.cells, signs)) if signs else row


def _joined(cells: Sequence[str], signs: Set[int]) -> list[str]:
    """Cells with the signs in some columns put to the next number, or the one before.

    Each cell is passed twice, however many signs stand in a row.
    """
    joined = list(cells)
    filled = [column for column, cell in enumerate(cells) if cell]
    for opens, order in ((False, filled), (True, filled[::-1])):
        number = 0  # the column passed last that is not empty; the first one has labels
        for column in order:
            is_sign = column in signs and (cells[column][0] in _CLOSING) != opens
            if is_sign and number and number not in signs and _is_number(joined[number]):
                texts = (joined[number], joined[column])
                joined[number] = "".join(reversed(texts) if opens else texts)
                joined[column] = ""
            elif joined[column]:
                number = column
    return joined


def _is_number(text: str) -> bool:
    return len(text) <= LONGEST_NAME and bool(_OF_NUMBER.match(text))


class _Squares:
    """Row after row, with the cells that reach into those below."""

    def __init__(self) -> None:
        self._below: dict[int, tuple[int, str]] = {}  # column to rows left, and the text
        self._count = 0

    def read(self, element: _Element, number: int) -> Row:
        cells: list[str] = []
        spans: dict[int, int] = {}
        labels, in_labels = 0, True
        for cell in _cells(element):
            self._repeat(cells)
            text = one_line_of(cell)
            width, height = self._spanned(cell, "colspan"), self._spanned(cell, "rowspan")
            if width > 1:
                spans[len(cells)] = width
            for column in range(len(cells), len(cells) + width):
                first = column == len(cells)
                if height > 1:
                    kept = text if first and len(text) <= LONGEST_NAME else ""
                    self._below[column] = (height - 1, kept)
            in_labels = in_labels and tag_of(cell) == "th"
            cells += [text, *[""] * (width - 1)]
            labels = len(cells) if in_labels else labels
        self._repeat(cells)
        self._count += len(cells)
        if self._count > _MOST_SQUARES:
            self._below.clear()
        return Row(number, cells, spans, labels=0 if in_labels else labels)

    def _repeat(self, cells: list[str]) -> None:
        """The cells from above that come next in the row."""
        while (column := len(cells)) in self._below and column < _MOST_COLUMNS:
            left, text = self._below[column]
            if left > 1:
                self._below[column] = (left - 1, text)
            else:
                del self._below[column]
            cells.append(text)

    def _spanned(self, cell: _Element, name: str) -> int:
        given = cell.get(name, "").strip()
        if self._count > _MOST_SQUARES or not re.fullmatch(r"[1-9]\d{0,4}", given):
            return 1
        return min(int(given), _MOST_COLUMNS)
