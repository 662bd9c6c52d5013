"""Rows of a Markdown table, each cell with the header that stands at the top of its column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from helix.language.rows import Named, TableRow, is_label, rows_of
from helix.language.sentences import Span

_Line = list[Span]
"""The spans of the cells of a line."""


def table_rows(text: str) -> Iterator[tuple[TableRow, Span]]:
    """The rows of a text's tables, as ``rows_of`` has them, Markdown's behind the others."""
    return chain(rows_of(text), _markdown_rows(text) if "|" in text else ())


def _markdown_rows(text: str) -> Iterator[tuple[TableRow, Span]]:
    """The rows below a header and its line of dashes, with the span of the line above both.

    A table without them, as a part of one that was cut, gives none.
    """
    headers: list[str] = []
    before: _Line = []
    above, at = (0, 0), 0
    for line in text.splitlines(keepends=True):
        cells = _cells(text, at, at + len(line.rstrip()))
        if not cells:
            headers = []
            above = (at, at + len(line.rstrip())) if line.strip() else above
        elif not headers and _is_rule(line) and len(before) == len(cells):
            headers = [text[slice(*span)] for span in before]
        elif len(cells) == len(headers):
            yield _row(text, headers, cells, (at, at + len(line.rstrip()))), above
        before = cells
        at += len(line)


def _is_rule(line: str) -> bool:
    return "-" in line and set(line.strip()) <= set("|:- \t")


def _cells(text: str, start: int, end: int) -> _Line:
    """The spans between the bars of a line; none where it is no row, or a bar may be a cell's."""
    line = text[start:end]
    if not line.startswith("|") or not line.endswith("|") or "\\" in line or "`" in line:
        return []
    found: _Line = []
    at = start + 1
    for piece in line[1:-1].split("|"):
        value = piece.strip()
        first = at + (piece.index(value) if value else 0)
        found.append((first, first + len(value)))
        at += len(piece) + 1
    return found


def _row(text: str, headers: Sequence[str], cells: Sequence[Span], line: Span) -> TableRow:
    named = [
        Named(header, text[start:end], start, end)
        for header, (start, end) in zip(headers, cells, strict=True)
        if end > start
    ]
    label = text[slice(*cells[0])]
    if not label or not is_label(label):
        return TableRow(*line, "", (), tuple(named))
    return TableRow(*line, headers[0], (label,), tuple(named[1:]))
