"""Tests that an answer says a value: a number with its scale, or a short span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evals.metrics.wording import plain, says
from helix.domain.citations import MARKER

MOST_WORDS = 60
"""A statement of more words is a block, and no answer."""
MOST_NUMBERS = 8
"""A statement of more numbers is a part of a table, and no answer."""
_MOST_CELLS = 2
"""A statement with more bars between cells is a row of a table, and no answer."""
_SIGNIFICANT = 3
"""A rounded number counts from so many digits: "$39.7 billion" for 39,669 million."""

_SCALES = {
    "thousand": 1e3, "thousands": 1e3, "million": 1e6, "millions": 1e6, "m": 1e6, "mm": 1e6,
    "billion": 1e9, "billions": 1e9, "bn": 1e9, "trillion": 1e12,
}  # fmt: skip
_PERCENT = frozenset({"%", "percent", "per cent", "percentage"})
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?![\d]|,\d{3}|\.\d)\s*\)?\s*"
    r"(?P<scale>%|percent\b|per cent\b|(?:thousands?|millions?|billions?|trillion|bn|mm?)\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Number:
    """A number as printed; ``scale`` is a word such as "million", "percent", or ''."""

    value: float
    scale: str = ""
    decimals: int = 0
    digits: int = 0

    @property
    def full(self) -> float:
        """It in units."""
        return self.value * _SCALES.get(self.scale, 1.0)

    @property
    def is_percent(self) -> bool:
        """True where it counts hundredths."""
        return self.scale in _PERCENT


@dataclass(frozen=True)
class Expected:
    """The content that an answer must say: one of ``spans``; or one of ``numbers``, or all of them.

    A number's scale may be a word that is no scale ("years"): then only the number counts.
    """

    numbers: tuple[tuple[float, str], ...] = ()
    spans: tuple[str, ...] = ()
    all: bool = False

    def said_in(self, statements: Sequence[str]) -> bool:
        """True where one of an answer's statements says it; blocks and table rows do not count."""
        return self.printed_in([one for one in statements if is_answer(one)])

    def printed_in(self, texts: Sequence[str]) -> bool:
        """True where it is in the texts at all."""
        if self.spans:
            return any(says(plain(one), plain(span)) for one in texts for span in self.spans)
        found = [number for one in texts for number in numbers(one)]
        hits = (_is(found, value, scale) for value, scale in self.numbers)
        return all(hits) if self.all else any(hits)


def is_answer(statement: str) -> bool:
    """True where a statement is short enough to answer, and not a table's row."""
    is_row = statement.count(" | ") > _MOST_CELLS or len(list(numbers(statement))) > MOST_NUMBERS
    return len(statement.split()) <= MOST_WORDS and not is_row


def numbers(text: str) -> Iterator[Number]:
    """The numbers of ``text``, its markers left out, in order."""
    for found in _NUMBER.finditer(MARKER.sub(" ", text)):
        digits = found["digits"].replace(",", "")
        decimals = len(digits.partition(".")[2])
        significant = len(digits.replace(".", "").lstrip("0"))
        yield Number(float(digits), (found["scale"] or "").casefold(), decimals, significant)


def _is(found: Iterable[Number], value: float, scale: str) -> bool:
    wanted = Number(value, scale)
    return any(_same(one, wanted) for one in found)


def _same(said: Number, wanted: Number) -> bool:
    """A number without a scale is right as the table prints it; one with a scale must mean it."""
    if wanted.is_percent or said.is_percent:
        alike = said.scale in _PERCENT | {""} if wanted.is_percent else not wanted.scale
        return alike and said.value == wanted.value
    if not said.scale and said.value == abs(wanted.value):
        return True
    if not said.scale:
        return said.value == wanted.full
    half = 0.5 * 10**-said.decimals * _SCALES[said.scale]
    exact = abs(said.full - wanted.full) < 1e-9 * max(wanted.full, 1.0)
    return exact or (said.digits >= _SIGNIFICANT and abs(said.full - wanted.full) <= half)


def expected_of(text: str, scale: str) -> Expected:
    """The value that a published set's answer asks for: its number if it is one, else the span."""
    whole = text.strip().strip("$€£()").rstrip("%)").strip()
    if re.fullmatch(r"-?\d[\d,]*(\.\d+)?|-?\.\d+", whole):
        number = abs(float(whole.replace(",", "")))
        is_year = re.fullmatch(r"(19|20)\d\d", whole) and not scale
        if not is_year:
            return Expected(((number, scale.casefold()),))
    return Expected(spans=(text,))
