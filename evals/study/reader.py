"""A reader that shares nothing with Helix's proof: it aligns words and compares numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from difflib import SequenceMatcher

from helix.study.items import BLANK

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*|[%$€£°]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”)\]]*\s+|\n+")
_TIMES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_GAP = "\0"
_COMMON = frozenset(
    "a an and are as at be been by for from had has have in into is it its of on or than that the"
    " their this to was were which who will with".split()
)


def tokens(text: str) -> list[str]:
    """Words, numbers with their separators, and signs of units, in lower case."""
    return [token.lower() for token in _TOKEN.findall(text)]


def sentences(text: str) -> list[str]:
    """A text cut at full stops, question marks, exclamation marks and line breaks."""
    return [piece for piece in _SENTENCE_END.split(text) if piece.strip()]


def content_words(text: str) -> set[str]:
    """The tokens of a text without the commonest words."""
    return set(tokens(text)) - _COMMON


def value_of(words: Sequence[str]) -> Decimal | None:
    """The number that words are, 2.3 million like 2,300,000; None where they say anything else."""
    plain = [word for word in words if word not in ("%", "$", "€", "£", "°", "percent")]
    if not plain or not plain[0][0].isdigit() or len(plain) > 2:
        return None
    digits = plain[0].replace(",", "")
    times = _TIMES.get(plain[1]) if len(plain) == 2 else 1
    return Decimal(digits) * times if times and digits.count(".") <= 1 else None


def is_same(one: Sequence[str], other: Sequence[str]) -> bool:
    """True where two lists of tokens are the same words, or the same number."""
    value = value_of(one)
    return list(one) == list(other) or (value is not None and value == value_of(other))


def holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """True where the tokens ``phrase`` stand together in ``words``, numbers also in other forms."""
    size = len(phrase)
    if any(list(words[n : n + size]) == list(phrase) for n in range(len(words) - size + 1)):
        return True
    value = value_of(phrase)
    return value is not None and any(number == value for number in _numbers(words))


def _numbers(words: Sequence[str]) -> Iterator[Decimal]:
    for n, word in enumerate(words):
        if word[0].isdigit():
            two = value_of(words[n : n + 2])
            value = value_of([word]) if two is None else two
            if value is not None:
                yield value


def says(text: str, quote: str) -> bool:
    """True where all words of ``text`` stand in ``quote`` in this order."""
    remaining = iter(tokens(quote))
    return all(word in remaining for word in tokens(text))


def in_the_gap(statement: str, quote: str) -> list[str] | None:
    """The words of ``quote`` that stand where ``statement`` has its gap.

    None where the words beside the gap are not in it.
    """
    before, after = (tokens(part) for part in statement.split(BLANK))
    statement_words, quote_words = [*before, _GAP, *after], tokens(quote)
    gap = len(before)
    blocks = SequenceMatcher(
        None, statement_words, quote_words, autojunk=False
    ).get_matching_blocks()
    ends = [block.b + block.size for block in blocks if block.a + block.size == gap]
    starts = [block.b for block in blocks if block.a == gap + 1 and block.size]
    if (before and not ends) or (after and not starts):
        return None
    gap_words = quote_words[ends[0] if before else 0 : starts[0] if after else len(quote_words)]
    return gap_words or None
