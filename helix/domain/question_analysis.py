"""A question taken apart: what it is about, its proper names, its periods. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from helix.domain.input_text import judged
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.word_lists import tables
from helix.language.words import words

_CAPITAL = re.compile(r"(?<!^)\b[^\W\d_a-z][\w'’-]+")
_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_NUMBER_WORDS = {
    word: value
    for value, *named in (one.split() for one in tables("numbers")["cardinals"].split(";"))
    for word in named
    if int(value) <= 12
}


@dataclass(frozen=True)
class AskedQuestion:
    """A question as it is judged."""

    text: str

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The periods that it names."""
        return tuple(periods(self.text))

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Meanings of its words, without its periods."""
        return tuple(dict.fromkeys(meanings(without_periods(self.text))))

    @cached_property
    def named(self) -> frozenset[str]:
        """Meanings of its proper names: what has a capital where no sentence begins."""
        if self.text.isupper():
            return frozenset()
        names = " ".join(_CAPITAL.findall(self.text.lstrip()))
        return frozenset(meanings(names)).intersection(self.subject)


@text_cache(most_bytes=2 * MEBIBYTE, bytes_a_character=50)
def read_question(text: str) -> AskedQuestion:
    """Take a question apart, as it is judged."""
    return AskedQuestion(judged(text))


def numbers_in(text: str) -> set[str]:
    """Every number of a text in digits, without thousands separators; small ones in words too."""
    found = {number.replace(",", "") for number in _DIGITS.findall(text)}
    return found | {_NUMBER_WORDS[word] for word in words(text) if word in _NUMBER_WORDS}
