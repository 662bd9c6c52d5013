"""Lists of contents and indexes that are told by their own lines: leaders, pages, links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from helix.language.navigation.lines import (
    FEWEST_ENTRIES,
    LONGEST_ENTRY,
    PAGE,
    Line,
    are_ordered,
    folded,
    page_of,
    runs_of,
)
from helix.language.sentences import Span

_FEWEST_PAGED, _FEWEST_TERMS = 4, 5
# possessive and atomic: a line of dots without a page is given up in linear time
_LED = re.compile(
    r"(?<![.·․…‥_])(?<![.·․…‥_]\s)(?>(?:[.·․…‥_]\s?){3,}|…{1,3})\s*+"
    rf"({PAGE})(?=\s|\Z)"
)
_ON_PAGES = re.compile(r"(?<!\s)(?:,|\s\s|\t)\s*+((?:\d{1,4}(?:[-–]\d{1,4})?(?:,\s?|\Z)){1,60})\Z")
_FIRST_OF_RANGE = re.compile(r"(?<![-–\d])\d+")
_LINKED = re.compile(r"\s*+(?:[-*+]|\d{1,3}[.)])?\s*+\[[^\]\n]{1,200}\]\(#[^)\s]{0,200}\)\s*+")

_Entry = tuple[str, tuple[int, ...]]
"""The title of an entry, and its pages: -1 for a Roman one, which stands before the others."""


def listed(lines: Sequence[Line]) -> Iterator[Span]:
    """First and last line of lists of contents and indexes, by leaders, pages and links."""
    led = {at: names for at, line in enumerate(lines) if (names := _led(line.text))}
    for run in runs_of(lines, led):
        entries = [entry for at in run for entry in led[at]]
        if len(entries) >= _FEWEST_PAGED and _are_in_order(entries):
            yield run[0], run[-1]
    terms = {at: term for at, line in enumerate(lines) if (term := _term(line.text))}
    for run in runs_of(lines, terms):
        if _is_index([terms[at] for at in run]):
            yield run[0], run[-1]
    linked = {at: 1 for at, line in enumerate(lines) if _LINKED.fullmatch(line.text)}
    for run in runs_of(lines, linked):
        if len(run) >= FEWEST_ENTRIES:
            yield run[0], run[-1]


def _led(line: str) -> list[_Entry]:
    """The entries of a line with dots that lead to a page; several where lines were joined."""
    found: list[_Entry] = []
    end = 0
    for match in _LED.finditer(line):
        name = line[end : match.start()].strip()
        if any(map(str.isalpha, name)) and len(name) <= LONGEST_ENTRY:
            found.append((name, (page_of(match[1]),)))
        end = match.end()
    return found if not line[end:].strip() else []


def _term(line: str) -> _Entry | None:
    """The entry of an index: a term, then its pages, which go up."""
    line = line.strip()
    match = _ON_PAGES.search(line) if len(line) <= LONGEST_ENTRY else None
    if not match or not any(map(str.isalpha, line[: match.start()])) or "|" in line:
        return None
    pages = tuple(map(int, _FIRST_OF_RANGE.findall(match[1])))
    return (line[: match.start()], pages) if _go_up(pages) else None


def _go_up(pages: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise(pages))


def _are_in_order(entries: Sequence[_Entry]) -> bool:
    """True where most neighbours are in the order of their pages, or of the alphabet."""
    first_pages = [pages[0] for _, pages in entries]
    names = [folded(name) for name, _ in entries]
    return (len(set(first_pages)) > 1 and are_ordered(first_pages)) or are_ordered(names)


def _is_index(entries: Sequence[_Entry]) -> bool:
    """True where terms are in order, and some are on more pages than others.

    Rows of a table, which look alike, have as many numbers each.
    """
    counts = {len(pages) for _, pages in entries}
    names = [folded(name) for name, _ in entries]
    return len(entries) >= _FEWEST_TERMS and len(counts) > 1 and are_ordered(names)
