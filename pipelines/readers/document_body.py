"""The body of a text document as it is written: a section under each heading, with its path.

Readers of Word and OpenDocument walk their elements and give them here in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from helix.domain.tables import Table
from helix.language.sentences import Span
from pipelines.readers import ReadText
from pipelines.readers.draft import Draft
from pipelines.readers.grids import GROUP, moved
from pipelines.readers.outline import LONGEST_TABLE, short_title
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import add_table, small_tables, uncut

_ITEM = re.compile(r"(?:\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5})[.)] )?")
"""The numbers that tell an item of a list; with another its paragraph stands alone, as a clause."""


@dataclass
class _Part:
    """The section being written: its pieces and their length in all, what of it is not cut, and
    the tables within it."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Span] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    in_list: bool = False
    only_headings: bool = True

    def add(self, text: str, gap: str) -> None:
        added = [gap, text] if self.pieces else [text]
        self.pieces += added
        self.length += sum(map(len, added))


class DocumentBody:
    """The text so far, and the headings above the place that it is at."""

    def __init__(self) -> None:
        self._draft = Draft()
        self.warnings = self._draft.warnings
        self._title = ""
        self._first_heading = ""
        self._first_level = 0  # of the first heading, while none is beside or above it
        self._path: list[tuple[int, str]] = []
        self._part = _Part()
        self._tables = 0

    def heading(self, text: str, level: int, number: str = "") -> None:
        """A heading with the number in front of it; ``level`` 0 is the document's title."""
        # a heading right above one of its parts is read with it, not cited on its own
        if not self._part.only_headings or (self._path and level <= self._path[-1][0]):
            self._end_section()
        name = short_title(text)
        if level:
            above = [(other, heading) for other, heading in self._path if other < level]
            self._path = [*above, (level, short_title(number + text))]
            if not self._first_heading:
                self._first_heading, self._first_level = name, level
            elif level <= self._first_level:
                self._first_level = 0
        else:  # the document's title is no heading of its parts
            self._path = []
            self._title = self._title or name
        self._part.add(number + text, "\n\n")

    def item(self, text: str, depth: int, number: str) -> None:
        """A paragraph of a list; without a number it has a bullet."""
        if _ITEM.fullmatch(number):
            self.line(f"{'  ' * depth}{number or '- '}{text}", in_list=True)
        else:
            self.line(number + text)

    def line(self, text: str, *, in_list: bool = False) -> None:
        part = self._part
        part.add(text, "\n" if in_list and part.in_list else "\n\n")
        part.in_list, part.only_headings = in_list, False

    def table(self, rows: Sequence[Row]) -> None:
        """A table; a long one is in sections of its own."""
        self._tables += 1
        lines, tables = small_tables(rows)
        if len(rows) <= GROUP + 1 and len(lines) <= LONGEST_TABLE:
            self.small_table(lines, tables)
        else:
            self._end_section()
            add_table(self._draft, rows, self._headings(), f"table {self._tables}, ")

    def small_table(self, lines: str, tables: Sequence[Table]) -> None:
        """In one piece with the text around it, which says what it is about."""
        if lines:
            self.line(lines)
            start = self._part.length - len(lines)
            self._part.blocks += uncut(lines, start)
            self._part.tables += [moved(table, start) for table in tables]

    def finish(self, title: str | None) -> ReadText:
        """The whole, by its own title where it has one."""
        self._end_section()
        # "Chapter 1" before "Chapter 2" is the first of several: the file's name says more
        heading = self._first_heading if self._first_level else None
        return self._draft.finish(title or self._title or heading)

    def _headings(self) -> tuple[str, ...]:
        return tuple(heading for _, heading in self._path)

    def _end_section(self) -> None:
        part = self._part
        self._draft.add(
            "".join(part.pieces),
            heading_path=self._headings(),
            blocks=part.blocks,
            tables=part.tables,
        )
        self._part = _Part()
