"""Lists of contents whose entries stand again further on, each a line above its text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from helix.language.navigation.lines import (
    FEWEST_ENTRIES,
    LONGEST_ENTRY,
    PAGE,
    RULE,
    STOPS,
    Line,
    are_ordered,
    is_dense,
    is_stopped,
    runs_of,
)
from helix.language.sentences import Span

_MOST_BROKEN = 8  # lines between two parts of one list
_MOST_TIMES = 3  # that an entry stands alone in a text: in two lists and as a heading
_IN_ORDER, _WITH_TEXT = 0.8, 0.6  # of the headings that entries stand for
_TIMES_AS_LONG = 3  # as the list: what is under the headings, but the last
_INTRODUCES = 4  # words of a sentence that announces a list: such a list says something
_NUMBERING = re.compile(
    r"\s*+(?:[-*+•‣◦#>]{1,6}\s++)?(?:[^\W\d_]{1,20}\s)?"
    r"(?:(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,6}[.:)]?|[IVXLC]{1,7}[.:)])\s++(?=\S)"
)
_ITEM = re.compile(r"\s*+(?:[-*+•‣◦]|\d{1,3}(?:\.\d{1,3}){0,6}[.)]?)\s")
_LETTERS = re.compile(r"[^\W\d_]++")
_ENDING_PAGE = re.compile(rf"(?<!\s)(?:\t|\s\s|\.\s)\s*+{PAGE}\s*+\Z|(?<![\s.·․…‥_])[\s.·․…‥_]++\Z")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{0,300}\)")


def repeated_lists(lines: Sequence[Line]) -> list[Span]:
    """Lists each of whose entries is a line by itself further on, with text under most."""
    keys = [_key(line.text) for line in lines]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, key in enumerate(keys):
        if key and _may_be_heading(lines, at):
            places[key].append(at)
    again = {
        at: found for at, key in enumerate(keys)
        if key and (found := places[key])[-1:] > [at] and len(found) <= _MOST_TIMES
    }  # fmt: skip
    lists = [span for run in runs_of(lines, again) if (span := _repeated(lines, run, again))]
    return _joined(lines, lists)


def _repeated(
    lines: Sequence[Line], run: Sequence[int], again: Mapping[int, Sequence[int]]
) -> Span | None:
    """First and last of the run's entries that stand again behind all of them, in their order."""
    headings: dict[int, int] = {}
    before = run[-1]
    for at in run:
        if later := [place for place in again[at] if place > run[-1]]:
            before = headings[at] = next((place for place in later if place > before), later[0])
    if len(headings) < FEWEST_ENTRIES or not is_dense([*headings]):
        return None
    if _is_announced(lines, min(headings)) or not _lead_to_text(lines, headings):
        return None
    return min(headings), max(headings)


def _lead_to_text(lines: Sequence[Line], headings: Mapping[int, int]) -> bool:
    """True where the headings come in the entries' order, with text between them."""
    found = [*headings.values()]
    pairs = list(pairwise(found))
    with_text = sum(other - one > 1 for one, other in pairs)
    if not are_ordered(found, _IN_ORDER) or with_text < _WITH_TEXT * len(pairs):
        return False
    length = lines[max(headings)].end - lines[min(headings)].start
    return lines[max(found)].end - lines[min(found)].start >= _TIMES_AS_LONG * length


def _joined(lines: Sequence[Line], lists: Sequence[Span]) -> list[Span]:
    """Lists with those that follow after a few lines, which long titles are broken into."""
    joined: list[Span] = []
    for first, last in lists:
        between = lines[joined[-1][1] + 1 : first] if joined else ()
        if joined and len(between) <= _MOST_BROKEN and not any(map(is_stopped, between)):
            joined[-1] = joined[-1][0], last
        else:
            joined.append((first, last))
    return joined


def _key(line: str) -> str:
    """The title in a line, without mark, number and page; '' of one that is too long."""
    if len(line) > LONGEST_ENTRY or "|" in line or line.rstrip().endswith(STOPS):
        return ""
    line = _LINK.sub(r"\1", line)
    line = _ENDING_PAGE.sub("", line.rstrip())
    numbering = _NUMBERING.match(line)
    line = line[numbering.end() :] if numbering else line
    name = "".join(_LETTERS.findall(line)).casefold()
    return name if len(name) > 2 else ""


def _may_be_heading(lines: Sequence[Line], at: int) -> bool:
    """True where a line stands alone, is marked as a heading or has a line drawn under it."""
    if lines[at].text.startswith("#"):
        return True
    if at + 1 == len(lines):
        return False  # nothing is under it
    below = lines[at + 1]
    return bool(RULE.fullmatch(below.text)) or (lines[at].alone and below.alone)


def _is_announced(lines: Sequence[Line], first: int) -> bool:
    """True where a sentence with a colon stands above, as above a list that says something."""
    while first and _ITEM.match(lines[first - 1].text):
        first -= 1
    above = lines[first - 1].text.rstrip("*_ \t\r") if first else ""
    return above.endswith((":", "：")) and len(above.split()) >= _INTRODUCES
