"""The blocks of an answer, in order, as one plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helix.answering.form.blocks import Block, Code, Prose, Row
from helix.answering.form.schema import CODE, LIST_ITEM, TABLE_ROW


class BlockWriter:
    """Writes blocks one after another: open, feed and cite, close; ``end`` after the last.

    Paragraphs, lists, tables and code stand apart by a blank line; list items and table rows follow
    each other line by line. The first of several rows becomes the header of a table. ``known``: how
    many sources there are.
    """

    def __init__(self, known: int) -> None:
        self.wrote = False
        self._known = known
        self._block: Block = Prose(known)
        self._kind = ""
        self._kind_before = ""
        self._inside = False  # something of the present block was written
        self._header: Row | None = None  # a row that waits for a second one
        self._in_table = False

    def open(self, kind: str) -> str:
        """Begin a block of ``kind``; the text that was waiting for it to begin."""
        given = "" if kind == TABLE_ROW else self._table_end()
        self._kind, self._inside = kind, False
        self._block = _MADE.get(kind, Prose)(self._known)
        return given

    def feed(self, text: str) -> str:
        return self._placed(self._block.feed(text))

    def cite(self, sources: Sequence[int]) -> str:
        return self._placed(self._block.cite(sources))

    def close(self) -> str:
        """The rest of the block."""
        rest = self._block.close()
        if isinstance(self._block, Row):
            return self._row(self._block)
        return self._placed(rest)

    def end(self) -> str:
        """The rest of the answer."""
        return self._table_end()

    def _placed(self, text: str) -> str:
        """``text`` of the present block, behind what stands between it and the one before."""
        if not text or self._inside:
            return text
        together = self._kind == self._kind_before and self._kind in (LIST_ITEM, TABLE_ROW)
        gap = ("\n" if together else "\n\n") if self.wrote else ""
        self.wrote = self._inside = True
        self._kind_before = self._kind
        return gap + text

    def _row(self, row: Row) -> str:
        """A row that was read whole; the first of a table waits for the second."""
        if not row.says:  # or the line below the header, which is made here
            return ""
        if self._in_table:
            return self._placed(row.marked)
        header, self._header = self._header, row
        if header is None:
            return ""
        self._header, self._in_table = None, True
        return self._placed(f"{header.bare}\n{header.underline}\n{row.marked}")

    def _table_end(self) -> str:
        """A single row is no table."""
        row, self._header, self._in_table = self._header, None, False
        return self._placed(row.marked) if row else ""


_MADE: dict[str, Callable[[int], Block]] = {
    LIST_ITEM: lambda known: Prose(known, "- "),
    CODE: lambda _: Code(),
    TABLE_ROW: Row,
}
