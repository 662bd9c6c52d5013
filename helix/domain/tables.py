"""A table of a document: the header path of each row and column, and where each cell's text is."""

from __future__ import annotations

from dataclasses import dataclass

from helix.language.sentences import Span

HeaderPath = tuple[str, ...]
"""Headers from the outermost inwards: ("Three Months Ended", "July 1, 2023")."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table's body.

    ``row`` and ``column`` count from 0 and index ``Table.rows`` and ``Table.columns``. ``start``
    and ``end`` are the half-open span of its value in the document's text, which is the value as
    it is printed ("$39,669", "(4)%").
    """

    row: int
    column: int
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Characters of the document's text."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it was read, whatever the format.

    ``start`` and ``end`` are the span of all its lines in the document's text. ``page`` is the
    page it begins on, from 1, where the format has pages. ``units`` is the scale of its numbers as
    printed ("in millions, except per-share amounts"), '' where none is. ``rows`` holds the path of
    each row (group, then label), ``columns`` that of each column; the column of the row labels is
    none of them. ``cells`` are in the order of the text; an empty cell is not among them.
    """

    start: int
    end: int
    rows: tuple[HeaderPath, ...]
    columns: tuple[HeaderPath, ...]
    cells: tuple[Cell, ...]
    page: int | None = None
    caption: str = ""
    units: str = ""
