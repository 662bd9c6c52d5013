"""Lines of a text that may name one part of it each, and runs of such lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from helix.language.sentences import Span

LONGEST_ENTRY = 160  # characters of a line that names one part or one term
FEWEST_ENTRIES = 3
ORDERED = 0.65  # of neighbours are in order; two columns read across have 0.7, chance 0.5
LEAST_SHARE = 0.5  # of a list's lines are entries
STOPS = (".", ":", ";", ",", "。", "：")
PAGE = r"(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})"
"""A page number as it is printed, Roman ones among them."""
RULE = re.compile(r"\s*+([-=~^\"'`#*+_.:])\1{2,}+\s*+")
"""A line drawn under a heading."""
_LONGEST_NAME = 60  # of the line above a list that names it
_MOST_BETWEEN = 2  # lines between two entries: a letter of an index, the rest of a long title
_LINE = re.compile(r"(?<![^\n\f])[^\S\n\f]*+\S[^\n\f]*+")
_PAGE_LAST = re.compile(rf"[\s.·…]({PAGE})\s*+\Z")
_LONE_LETTERS = re.compile(r"\s*+[^\W\d_](?:\s++[^\W\d_]){0,3}\s*+")


@dataclass(slots=True)
class Line:
    """A line with what is visible: where it is, and whether nothing is right above it."""

    start: int
    end: int
    text: str
    alone: bool


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a text that have something visible; a page's end ends a line too."""
    before = 0
    for match in _LINE.finditer(text):
        gap = text.count("\n", before, match.start()) + text.count("\f", before, match.start())
        line = match[0]
        left = len(line) - len(line.lstrip())
        yield Line(match.start() + left, match.start() + len(line.rstrip()), line, gap != 1)
        before = match.end()


def runs_of(lines: Sequence[Line], entries: Mapping[int, object]) -> Iterator[list[int]]:
    """Places of entries that follow each other with few and short lines between."""
    run: list[int] = []
    for at in entries:
        if run and not _is_near(lines, run[-1], at):
            yield from [run] if is_dense(run) else []
            run = []
        run.append(at)
    yield from [run] if run and is_dense(run) else []


def _is_near(lines: Sequence[Line], one: int, other: int) -> bool:
    between = lines[one + 1 : other]
    return len(between) <= _MOST_BETWEEN and not any(map(is_stopped, between))


def is_stopped(line: Line) -> bool:
    """True where a line is no part of a title: a sentence, a row, a long one."""
    return len(line.text) > LONGEST_ENTRY or line.text.endswith(STOPS) or "|" in line.text


def is_dense(run: Sequence[int]) -> bool:
    return len(run) >= LEAST_SHARE * (run[-1] - run[0] + 1)


def are_ordered(values: Sequence[int] | Sequence[str], least: float = ORDERED) -> bool:
    pairs = list(pairwise(values))
    return sum(one <= other for one, other in pairs) >= least * len(pairs)  # type: ignore[operator]


def folded(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def page_of(printed: str) -> int:
    return int(printed) if printed.isdecimal() else -1


def grown(lines: Sequence[Line], first: int, last: int) -> Span:
    """A list with the lines around it that end with a page too, where most of its own do."""
    pages = [page for line in lines[first : last + 1] if (page := _last_page(line)) is not None]
    if len(pages) < LEAST_SHARE * (last - first + 1):
        return first, last
    low, high = min(pages), max(pages)
    while first and (page := _last_page(lines[first - 1])) is not None and page <= low:
        first, low = first - 1, page
    for line in lines[last + 1 :]:
        if (page := _last_page(line)) is None or page < high:
            break
        last, high = last + 1, page
    return first, last


def _last_page(line: Line) -> int | None:
    match = None if is_stopped(line) else _PAGE_LAST.search(line.text)
    return page_of(match[1]) if match else None


def with_name(lines: Sequence[Line], first: int, last: int) -> Span:
    """A list with the short line above it that names it, and that line's underline."""
    at = first - 1
    while at > 0 and (RULE.fullmatch(lines[at].text) or _LONE_LETTERS.fullmatch(lines[at].text)):
        at -= 1
    name = lines[at].text.strip() if at > 0 else ""
    is_name = 0 < len(name) <= _LONGEST_NAME and not name.endswith((".", ",", ";", "。"))
    return (at if is_name and "|" not in name else first), last
