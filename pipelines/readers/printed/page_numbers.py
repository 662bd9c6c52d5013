"""Page numbers that are printed: "13", "iv", "F-3", "Page 4 of 9", "4 / 9", going up with pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_NUMBER = re.compile(
    r"(?P<prefix>(?:[A-Z]{1,2}-)?)(?:(?P<digits>\d{1,4})|(?P<roman>[ivxlc]{1,7}))(?:/\d{1,4})?"
)
_AROUND = "-–—|•·()[],"
_BESIDE = frozenset(("page", "of", "seite", "von", "p.", "pg.", ""))
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ALONE = "alone"
_LEAST_PAGES = 3
_FEW_PAGES = 2  # so short a document has no sequence: its numbers must be those of its pages


class Numbering(NamedTuple):
    """One way in which pages are numbered: what stands before the number, its kind, and how far
    it is from the page's place in the file. ``where`` in its row it is: first, last or alone; or
    all other words of the row, where it stands among them."""

    prefix: str
    is_roman: bool
    offset: int
    where: str


def labels_of(rows: Sequence[tuple[int, tuple[str, ...]]], pages: int) -> list[str]:
    """The page number in each row of (page from 1, words), '' where it has none.

    A number counts where it goes up with the pages on at least three of them; in a document of one
    or two pages where it stands alone and is the number of its page.
    """
    candidates = [dict(_candidates(page, _with_total(words))) for page, words in rows]
    counts: Counter[Numbering] = Counter()
    seen: set[tuple[int, Numbering]] = set()
    for (page, _), found in zip(rows, candidates, strict=True):
        seen |= {(page, numbering) for numbering in found}
    for _, numbering in seen:
        counts[numbering] += 1
    return [_best(found, counts, pages) for found in candidates]


def _best(found: dict[Numbering, str], counts: Counter[Numbering], pages: int) -> str:
    known = [numbering for numbering in found if _is_known(numbering, counts, pages)]
    if not known:
        return ""
    return found[max(known, key=lambda numbering: (numbering.where == _ALONE, counts[numbering]))]


def _is_known(numbering: Numbering, counts: Counter[Numbering], pages: int) -> bool:
    if pages <= _FEW_PAGES:
        return numbering.where == _ALONE and numbering.offset == 0 and not numbering.is_roman
    return counts[numbering] >= _LEAST_PAGES


def _with_total(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a row, "4 / 9" at an end of it as the one word "4/9"."""
    for place in dict.fromkeys((0, max(0, len(words) - 3))):
        if words[place + 1 : place + 2] == ("/",):
            joined = "".join(words[place : place + 3])
            return *words[:place], joined, *words[place + 3 :]
    return words


def _candidates(page: int, words: tuple[str, ...]) -> Iterator[tuple[Numbering, str]]:
    """The numbers at both ends of a row, or the one among words that go with page numbers; where
    neither end has one, those within it.
    """
    count = len(words)
    first, last = 0, count - 1
    while first < count and _goes_with_number(words[first]):
        first += 1
    while last > first and _goes_with_number(words[last]):
        last -= 1
    last = max(first, last)
    found = [
        (place, match)
        for place in dict.fromkeys((first, last))
        if place < count and (match := _NUMBER.fullmatch(words[place].strip(_AROUND)))
    ]
    if not found:
        yield from _inner_candidates(page, words)
        return
    is_pair = first < last and all(map(_goes_with_number, words[first + 1 : last]))
    alone = len(found) == 1 + is_pair and (is_pair or first == last)  # "4", "4 of 9"
    for place, match in found[:1] if alone else found:
        roman = match["roman"]
        value = _value(roman) if roman else int(match["digits"])
        where = _ALONE if alone else "first" if place == first else "last"
        label = match["prefix"] + (roman or match["digits"])
        yield Numbering(match["prefix"], bool(roman), value - page, where), label


def _inner_candidates(page: int, words: tuple[str, ...]) -> Iterator[tuple[Numbering, str]]:
    """Numbers within a row, such as "Edited in May Page 3 of 21 All rights reserved"."""
    for place, word in enumerate(words):
        if (match := _NUMBER.fullmatch(word)) and match["digits"] and not match["prefix"]:
            others = " ".join((*words[:place], *words[place + 1 :]))
            yield Numbering("", False, int(match["digits"]) - page, others), match["digits"]


def _goes_with_number(word: str) -> bool:
    return word.strip(_AROUND).casefold() in _BESIDE


def _value(roman: str) -> int:
    values = [_ROMAN[letter] for letter in roman]
    following = [*values[1:], 0]
    return sum(-one if one < after else one for one, after in zip(values, following, strict=True))
