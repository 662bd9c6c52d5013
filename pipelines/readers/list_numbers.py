"""The numbers of lists as a document counts on: "4.2", "Article 3" or "(b)".

They are nowhere in the text of Word's and OpenDocument's files, but follow from the paragraphs
above each and from the definition of its list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN, _MOST_LETTERS, _MOST_IDEOGRAPHS = 3999, 26 * 9, 99
_DIGITS = " 一二三四五六七八九"


def numeral(number: int, form: str) -> str:
    """A number in a form that is named as Word does: "lowerRoman", "upperLetter", "none".

    In figures where it is beyond the form, or that is rare.
    """
    if form.endswith("Letter") and 0 < number <= _MOST_LETTERS:
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form.endswith("Roman") and 0 < number <= _MOST_ROMAN:
        text = ""
        for value, letters in _ROMAN:
            text += letters * (number // value)
            number %= value
    elif "ounting" in form and 0 < number <= _MOST_IDEOGRAPHS:
        tens, ones = divmod(number, 10)
        text = (_DIGITS[tens].replace("一", "") + "十" if tens else "") + _DIGITS[ones]
    else:
        text = "" if form in ("none", "bullet") else str(number)
    return text.upper().strip() if form.startswith("upper") else text.strip()


_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True)
class ListLevel:
    """``text`` is "%1.%2 " for "4.2 ", ``form`` as numerals.py names it, "bullet" for none.

    ``restarts``: the number of levels above which begin this one anew. ``decimal``: its numbers are
    figures, whatever form their levels have.
    """

    start: int
    form: str
    text: str
    restarts: int
    decimal: bool = False


@dataclass
class NumberedList:
    """``counts`` are shared by lists of one definition; ``anew``: levels begun at its first use."""

    levels: Mapping[int, ListLevel]
    counts: dict[int, int] = field(default_factory=dict)
    anew: set[int] = field(default_factory=set)


class Numbering:
    """The lists of a document by their ids, each counting on as its paragraphs come."""

    def __init__(self, lists: dict[str, NumberedList]) -> None:
        self.lists = lists

    def next(self, listed: str, depth: int) -> str:
        """The number in front of the next paragraph of a list; '' for a bullet."""
        found = self.lists.get(listed, NumberedList({}))
        level, counts = found.levels.get(depth), found.counts
        if level is None:
            return ""
        if depth in found.anew:
            found.anew.remove(depth)
            counts.pop(depth, None)
        for deeper in [one for one in counts if one > depth]:
            if deeper not in found.levels or depth < found.levels[deeper].restarts:
                del counts[deeper]
        for above in range(depth):
            counts.setdefault(above, found.levels[above].start if above in found.levels else 1)
        counts[depth] = counts[depth] + 1 if depth in counts else level.start
        return "" if level.form == "bullet" else _PLACE.sub(_shown(found, level), level.text)


def _shown(found: NumberedList, level: ListLevel) -> Callable[[re.Match[str]], str]:
    def number(place: re.Match[str]) -> str:
        depth = int(place[1]) - 1
        form = found.levels[depth].form if depth in found.levels else ""
        return numeral(found.counts.get(depth, 1), "decimal" if level.decimal else form)

    return number
