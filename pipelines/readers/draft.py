"""A text as a reader writes it, section by section, with the offsets kept."""

from __future__ import annotations

from collections.abc import Iterable

from helix.domain.records import Section
from helix.domain.tables import Cell, HeaderPath, Table
from helix.language.sentences import Span
from pipelines.readers import ReadText, UnreadableFile
from pipelines.readers.grids import (
    MOST_CELLS,
    CellPlace,
    GridHead,
    GridRow,
    Landing,
    compose,
    first_cells,
    moved,
    sections_of,
    texts_of,
)

_APART = "\n\n"  # between two sections


class Draft:
    """Sections put one after another; what lies between two is white space."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.landed: list[Landing] = []
        """The places of those entries of tables that have an origin, in the order written."""
        self.free_cells = MOST_CELLS
        """The number of cells that the document may still keep by row and column."""
        self._pieces: list[str] = []
        self.length = 0
        self._sections: list[Section] = []
        self._tables: list[Table] = []

    @property
    def next_start(self) -> int:
        """The place where a section that is added next begins."""
        return self.length + len(_APART) if self._pieces else 0

    def add(
        self,
        text: str,
        *,
        heading_path: tuple[str, ...] = (),
        page: int | None = None,
        label: str = "",
        context: str = "",
        blocks: Iterable[Span] = (),
        tables: Iterable[Table] = (),
        rows: bool = False,
        gap: str = _APART,
    ) -> int:
        """One section, ``gap`` after the last; where it starts in the whole text.

        ``blocks`` and ``tables`` count from the start of ``text``. Nothing is added for white space
        alone.
        """
        if not text.strip():
            return self.length
        if self._pieces:
            self._append(gap)
        start = self.length
        self._append(text)
        uncut = tuple((start + first, start + last) for first, last in blocks)
        self._sections.append(
            Section(start, self.length, heading_path, page, label, context, uncut, rows)
        )
        for table in tables:
            self.keep(moved(table, start))
        return start

    def keep(self, table: Table) -> None:
        """A table of the text so far, as far as the document's cells go."""
        if first := first_cells(table, self.free_cells):
            self.free_cells -= len(first.cells)
            self._tables.append(first)

    def tail(self, start: int) -> str:
        """The text so far from ``start`` on, which is near its end."""
        pieces: list[str] = []
        begin = self.length
        for piece in reversed(self._pieces):
            if begin <= start:
                break
            pieces.append(piece)
            begin -= len(piece)
        return "".join(reversed(pieces))[start - begin :]

    def finish(self, title: str | None) -> ReadText:
        """The whole; raises UnreadableFile when nothing was added."""
        if not self._pieces:
            raise UnreadableFile("empty: there is no text in it")
        tables = tuple(sorted(self._tables, key=lambda table: table.start))
        return ReadText(
            "".join(self._pieces),
            title or None,
            tuple(self._sections),
            tuple(self.warnings),
            tables,
        )

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)


class TableDraft:
    """A table written part by part, such as one that goes on over pages; ``close`` ends it.

    Other sections may be added to the draft between two parts.
    """

    def __init__(self, draft: Draft, head: GridHead, heading_path: tuple[str, ...] = ()) -> None:
        self._draft = draft
        self._head = head
        self._names, self._repeated = head.names, head.repeated
        self._heading_path = heading_path
        self._end = -1
        self._page: int | None = None
        self._span: Span | None = None
        self._count = 0
        self._rows: list[HeaderPath] = []
        self._cells: list[Cell] = []

    def add(self, rows: Iterable[GridRow], *, page: int | None = None, label: str = "") -> None:
        """Further rows, in sections of at most 20.

        Where they have numbers, ``label`` ("sheet Budget, ") is put in front of them ("rows 2-21");
        without, it is the label of each section ("page 3").
        """
        for group in sections_of(self._head, rows):
            self._add(group, page, label + _numbers(group))

    def close(self) -> None:
        """Keeps the table with the document."""
        if self._span is None:
            return
        head = self._head
        self._draft.keep(
            Table(
                *self._span,
                tuple(self._rows),
                tuple(map(texts_of, head.columns)),
                tuple(self._cells),
                self._page,
                head.caption.text,
                head.units.text,
            )
        )

    def _add(self, group: list[GridRow], page: int | None, label: str) -> None:
        # a table of a million rows keeps its first ones only, and no more in memory
        is_kept = len(self._cells) <= self._draft.free_cells
        lines = compose(self._head, group, self._count, names=self._repeated, with_cells=is_kept)
        if not lines.text.strip():
            return
        start = self._draft.add(
            lines.text,
            heading_path=self._heading_path,
            page=page,
            label=label,
            context=self._names,
            rows=True,
            gap="\n" if self._draft.length == self._end else "\n\n",
        )
        self._end = self._draft.length
        self._draft.landed += [
            Landing(start + first, start + last, origin) for first, last, origin in lines.landed
        ]
        self._count += len(group)
        if is_kept:
            self._page = page if self._span is None else self._page
            self._keep(group, lines.cells, start, start + lines.length)

    def _keep(self, group: list[GridRow], cells: list[CellPlace], start: int, end: int) -> None:
        self._rows += [texts_of(row.path) for row in group]
        self._cells += [
            Cell(row, column, start + first, start + last) for row, column, first, last in cells
        ]
        self._span = (self._span[0] if self._span else start, end)


def _numbers(group: list[GridRow]) -> str:
    first, last = group[0].number, group[-1].number
    if first is None:
        return ""
    return f"rows {first}-{last}" if first != last else f"row {first}"
