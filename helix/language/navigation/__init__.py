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
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from helix.language.navigation.entries import listed
from helix.language.navigation.lines import LONGEST_ENTRY, Line, folded, grown, lines_of, with_name
from helix.language.navigation.repeated_lines import repeated_lists
from helix.language.sentences import Span

_FEWEST_PAGES, _SHARE_OF_PAGES = 3, 0.27  # with the same line, as for PDF's furniture
_SHORT = 10_000  # characters: a chunk
_SECTION_NUMBER = re.compile(
    r"[\s#]*+(?:\d{1,3}(?:\.\d{1,3}){0,9}|[A-Z](?:\.\d{1,3}){1,9})[.:)]?\s*+"
)
_DIGITS = re.compile(r"\d{1,9}")


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
