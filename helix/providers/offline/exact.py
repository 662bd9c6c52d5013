"""Exact checks of what is quoted: a question's numbers, identifiers and negation, and its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from helix.evidence.words import words_of
from helix.language.terms import STOP_WORDS, terms
from helix.language.word_lists import expression, numbers_by_word, tables, word_lists
from helix.language.words import words

_NEGATIONS = word_lists("words")["negations"] | word_lists("words")["exceptions"]
_VERSION = re.compile(r"v\d[\d.]*")
_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?>(?:[-/.][^\W_]++)+)")
_CELL_END = re.compile(r" ?\| ?")
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
_CARDINALS, _ORDINALS = map(numbers_by_word, ("cardinals", "ordinals"))
_VALUES = {word: str(value) for word, value in _CARDINALS.items()}
_COUNTS = {word: f"{value}{_SUFFIXES.get(value, 'th')}" for word, value in _ORDINALS.items()}
_COUNTS |= {word: value for word, value in _VALUES.items() if value not in "01"}
_COUNT = re.compile(
    r"(?<![^\W_])(?<!\d[.,])(?<![^\W\d_]-)(\d{1,2}(?:st|nd|rd|th)?|[^\W\d_]++(?>(?:-[^\W\d_]++)*))"
    r"(?=\s{1,2}([^\W\d_]+))",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"(?<![^\W_])(\d{{1,2}}|[^\W\d_]+)\s?(?:{expression('numbers', 'range')})\s?\Z", re.IGNORECASE
)
_BOUND = re.compile(
    rf"\b(?:(?P<upper>{expression('numbers', 'upper')})|{expression('numbers', 'lower')})\s+\Z",
    re.IGNORECASE,
)
_MOST_BEFORE = 40
"""Characters in front of a number within which the least of its range, or a bound, stands."""
_UNITS = frozenset(
    word
    for dimension in tables("units")["other"].values()
    for names in dimension.values()
    for word in names.split()
).union(numbers_by_word("scales"))
"""Units of money, time and the like, and thousands: such an amount may lie in a range of a text."""


@dataclass(frozen=True)
class Exact:
    """The numbers of a question, its words of letters and digits or underscores, its negation.

    ``joined`` are the words with a digit that marks join, such as ``SO-4``, ``line`` all its words;
    ``counts`` are the numbers of things that it counts (``counts_of``), ``pairs`` all its numbers
    with the stem of the word behind each.
    """

    numbers: frozenset[str]
    identifiers: frozenset[str]
    joined: frozenset[str]
    line: str
    is_negated: bool
    counts: frozenset[tuple[str, str]]
    pairs: frozenset[tuple[str, str]]

    def told(self, row: str) -> frozenset[str]:
        """The question's part that a table's row has whole: values of cells, joined words.

        A value of stop words alone, such as a grade `A`, may be in any question.
        """
        cells = (cell.rpartition(": ")[2] for cell in _CELL_END.split(row))
        values = (
            " ".join(found) for cell in cells if not STOP_WORDS.issuperset(found := words(cell))
        )
        return (self.joined & joined(row)).union(v for v in values if f" {v} " in self.line)

    @property
    def names(self) -> bool:
        """True of a question that has an identifier: then it names its thing itself."""
        return bool(self.identifiers or self.joined)

    def numbers_in(self, near: set[str], text: str) -> bool:
        """True where each number is among the words ``near``, or in the text before its word.

        `4 times` is `four times`, but error code 3 is not met by `three trays`.
        """
        lacking = self.numbers - near
        if not lacking:
            return True
        asked = {pair for pair in self.pairs if pair[0] in lacking}
        return lacking == {number for number, _ in asked & _pairs(text)}

    def counts_as(self, text: str) -> bool:
        """True where a text counts each thing of the question so too, or does not count it.

        `2 to 4 people` and `at most 4 people` count 3 people, too.
        """
        if not self.counts:
            return True
        told = list(_counted(text))
        return all(
            any(one.admits(number) for one in told if one.thing == thing)
            or all(one.thing != thing for one in told)
            for number, thing in self.counts
        )

    def denies_as(self, text: str) -> bool:
        """True where a text denies as the question does, or that does not."""
        return not self.is_negated or _denies(words(text))


def exact(question: str) -> Exact:
    """The parts of a question that must stand in what is quoted."""
    found = [word.form for word in words_of(question)]
    with_digit = frozenset(form for form in found if any(map(str.isdigit, form)))
    plain = frozenset(form for form in with_digit if not any(map(str.isalpha, form)))
    identifiers = (with_digit - plain) | {form for form in found if "_" in form}
    line = f" {' '.join(words(question))} "
    return Exact(
        plain, identifiers, joined(question), line, _denies(words(question)[1:]),
        frozenset(counts_of(question)), frozenset(_pairs(question)),
    )  # fmt: skip


def forms(text: str) -> set[str]:
    """The words of a text, and the numbers of its versions: who asks for 7 finds ``v7`` too."""
    found = {word.form for word in words_of(text)}
    return found | {form[1:] for form in found if _VERSION.fullmatch(form)}


def counts_of(text: str) -> set[tuple[str, str]]:
    """Numbers with the word behind them, as (`3`, `times`) or (`3rd`, `floor`); none of a unit.

    `one` counts nothing, as it stands for a thing as often, nor does a number of three digits,
    which may be a year or a name.
    """
    return {(one.number, one.thing) for one in _counted(text)}


def _pairs(text: str) -> set[tuple[str, str]]:
    """Every number by its digits, with the stem of the word behind it."""
    found = ((number.casefold(), thing) for number, thing in _COUNT.findall(text))
    return {
        (_VALUES.get(number, number), stem)
        for number, thing in found
        if number in _VALUES or number.isdigit()
        for stem in terms(thing)
    }


class _Counted(NamedTuple):
    """A number and the thing it counts, the word behind it; ``before`` is the text in front."""

    number: str
    thing: str
    before: str

    def admits(self, number: str) -> bool:
        """True of the number itself, and of one in the range or bound that the text gives."""
        if number == self.number:
            return True
        if not (number.isdigit() and self.number.isdigit()):
            return False
        if least := _FROM.search(self.before):
            said = least[1].casefold()
            first = _COUNTS.get(said, said)
            if first.isdigit():
                return int(first) <= int(number) <= int(self.number)
        bound = _BOUND.search(self.before)
        if bound is None:
            return False
        return (int(number) < int(self.number)) == bool(bound["upper"])


def _counted(text: str) -> Iterator[_Counted]:
    for match in _COUNT.finditer(text):
        number, thing = match[1].casefold(), match[2].casefold()
        is_number = number in _COUNTS or number[0].isdigit()
        if is_number and thing not in _UNITS and thing not in STOP_WORDS:
            before = text[max(0, match.start() - _MOST_BEFORE) : match.start()]
            yield _Counted(_COUNTS.get(number, number), thing, before)


def joined(text: str) -> frozenset[str]:
    """The words of a text that have a digit, and marks within."""
    found = (one.casefold() for one in _JOINED.findall(text))
    return frozenset(one for one in found if any(map(str.isdigit, one)))


def _denies(found: Sequence[str]) -> bool:
    """True if words deny; the one that opens a question does not: `Don't you ship to Norway?`."""
    return any(word in _NEGATIONS or word.endswith("n't") for word in found)
