"""Navigation within a text: lists of contents, indexes, running titles, lone numbers of sections.

It is told by form alone, in any language: dots that lead to page numbers which go up, terms in
alphabetical order with the pages they are on, links to places of the same text, lines that stand
again further on as headings, lines that are the same at the edges of pages. Such text leads to
what is said and says nothing, so it is neither quoted nor made into anything.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from helix.language.navigation.lines import (
    FEWEST_ENTRIES,
    LONGEST_ENTRY,
    PAGE,
    Line,
    are_ordered,
    folded,
    grown,
    lines_of,
    page_of,
    runs_of,
    with_name,
)
from helix.language.navigation.repeated_lines import repeated_lists
from helix.language.sentences import Span

_FEWEST_PAGES, _SHARE_OF_PAGES = 3, 0.27  # with the same line, as for PDF's furniture
_SHORT = 10_000  # characters: a chunk
_SECTION_NUMBER = re.compile(
    r"[\s#]*+(?:\d{1,3}(?:\.\d{1,3}){0,9}|[A-Z](?:\.\d{1,3}){1,9})[.:)]?\s*+"
)
_DIGITS = re.compile(r"\d{1,9}")
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


def is_navigation(text: str, headings: Sequence[str] = ()) -> bool:
    """True where all of ``text`` leads to something else and says nothing itself.

    That is a list of contents, an index, "2.1." by itself, or one of the ``headings`` above it.
    """
    if _SECTION_NUMBER.fullmatch(text):
        return True
    if headings and len(text) <= 2 * LONGEST_ENTRY:
        name = folded(text)
        if name and any(name == folded(heading) for heading in headings):
            return True
    covered = sum(end - start for start, end in navigation_spans(text))
    return covered > 0 and covered == len(text.strip())


def navigation_spans(text: str) -> list[Span]:
    """Half-open spans of the navigation in ``text``, in order, apart; whole lines, linear time.

    A list's name, a short line above it, goes with it where it is not the first line of ``text``.
    """
    return list(_kept_spans(text) if len(text) <= _SHORT else _spans(text))


def is_within(spans: Sequence[Span], at: int) -> bool:
    """True where one of the spans, which are in order, has the character at ``at``."""
    place = bisect_right(spans, at, key=itemgetter(0))
    return place > 0 and at < spans[place - 1][1]


def _spans(text: str) -> tuple[Span, ...]:
    lines = list(lines_of(text))
    runs = [*listed(lines), *repeated_lists(lines)]
    found = [with_name(lines, *grown(lines, first, last)) for first, last in runs]
    found += [(at, at) for at in _running_titles(text, lines)]
    merged: list[Span] = []
    for first, last in sorted(found):
        start, end = lines[first].start, lines[last].end
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


_kept_spans = lru_cache(maxsize=1024)(_spans)


def _running_titles(text: str, lines: Sequence[Line]) -> list[int]:
    """Places of the lines at the edges of pages that many pages have, but for their numbers."""
    breaks = [match.start() for match in re.finditer("\f", text)]
    if len(breaks) + 1 < _FEWEST_PAGES:
        return []
    pages: defaultdict[int, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        pages[bisect_right(breaks, line.start)].append(at)
    edges = [at for page in pages.values() for at in {page[0], page[-1]}]
    shapes = {at: _DIGITS.sub("#", lines[at].text.strip().casefold()) for at in edges}
    least = max(_FEWEST_PAGES, _SHARE_OF_PAGES * len(pages))
    often = {shape for shape, count in Counter(shapes.values()).items() if count >= least}
    return sorted(at for at, shape in shapes.items() if shape in often)


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
