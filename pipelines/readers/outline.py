"""From the headings of a text to its sections; for every reader of a format that has headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.domain.records import Section
from helix.language.sentences import Span

LONGEST_TABLE = 2000  # characters of a table that is not cut; a longer one is cut between rows
_LONGEST_CAPTION = 300  # characters before a long table that go with it: its heading, its title
LONGEST_HEADING = 200  # characters; titles and paths go in front of every chunk that is embedded


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at ``start`` of the text, which its section includes. ``level`` is 1 outermost."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class TableSpan:
    """The lines of a table, or some of them, and its headers in words."""

    start: int
    end: int
    header: str


def sections(
    text: str,
    headings: Sequence[Heading],
    blocks: Sequence[Span] = (),
    tables: Sequence[TableSpan] = (),
) -> tuple[Section, ...]:
    """Sections that cover every character of ``text`` but white space around.

    All arguments are in the order of the text. ``blocks`` are not cut, nor are tables of at most
    LONGEST_TABLE characters; a longer one is a section of rows. Headings with nothing between them
    open one section, with the path of the last.
    """
    short = [(table.start, table.end) for table in tables if _is_short(table)]
    kept = _Spans(sorted([*blocks, *short]))
    long = _Tables([table for table in tables if not _is_short(table)])
    found: list[Section] = []
    for begin, end, path in _under_headings(text, headings):
        for left, right, table in long.cut(begin, end):
            left, right = trim(text, left, right)
            if left == right:
                continue
            if table:
                part = Section(left, right, path, context=table.header, rows=True)
            else:
                part = Section(left, right, path, blocks=kept.within(left, right))
            found.append(part)
    return tuple(found)


def short_title(text: str) -> str:
    """One line of at most LONGEST_HEADING characters."""
    return " ".join(text.split())[:LONGEST_HEADING].strip()


def _is_short(table: TableSpan) -> bool:
    return table.end - table.start <= LONGEST_TABLE


def _under_headings(
    text: str, headings: Sequence[Heading]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, end, heading path) of each part; one that is only headings goes with the next."""
    stops = [heading.start for heading in headings[1:]] + [len(text)]
    begin = headings[0].start if headings else len(text)
    yield 0, begin, ()
    stack: list[Heading] = []
    for heading, stop in zip(headings, stops, strict=False):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        if stop == len(text) or text[heading.end : stop].strip():
            yield begin, stop, tuple(part.title[:LONGEST_HEADING] for part in stack)
            begin = stop


def trim(text: str, start: int, end: int) -> Span:
    """The span without the white space at its ends."""
    part = text[start:end]
    left = start + len(part) - len(part.lstrip())
    return left, max(left, start + len(part.rstrip()))


class _Spans:
    """Spans handed out section by section, each looked at once."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._next = 0

    def within(self, start: int, end: int) -> tuple[Span, ...]:
        found: list[Span] = []
        while self._next < len(self._spans) and self._spans[self._next][0] < end:
            left, right = self._spans[self._next]
            left, right = max(left, start), min(right, end)
            if left < right and (not found or left >= found[-1][1]):
                found.append((left, right))
            self._next += 1
        return tuple(found)


class _Tables:
    """Long tables, which cut the sections that they lie in."""

    def __init__(self, tables: Sequence[TableSpan]) -> None:
        self._tables = tables
        self._next = 0

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int, TableSpan | None]]:
        while self._next < len(self._tables) and self._tables[self._next].start < end:
            table = self._tables[self._next]
            self._next += 1
            if start <= table.start and table.end <= end:
                if table.start - start > _LONGEST_CAPTION:
                    yield start, table.start, None
                    start = table.start
                yield start, table.end, table
                start = table.end
        yield start, end, None
