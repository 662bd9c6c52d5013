"""Patterns of instruction-like text: the phrases of ``helix/language/data/injection.toml``."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from helix.language.word_lists import tables

_TABLES = tables("injection")


class Phrase(NamedTuple):
    """A pattern of one kind; each text that it is found in has one of ``words``, in lower case.

    And one of each of ``also``.
    """

    kind: str
    words: frozenset[bytes]
    also: tuple[frozenset[bytes], ...]
    pattern: re.Pattern[str]


_LETTERS = bytes(c if (c < 128 and chr(c).isalnum()) or c == 95 else 32 for c in range(256))
_WORD_SHAPE = bytes(48 if letter != 32 else 32 for letter in _LETTERS)
_DIGIT_SHAPE = bytes(48 if chr(c) in "+/-" else shape for c, shape in enumerate(_WORD_SHAPE))
_DIGIT_AS_LETTER = "0134578@$!9"
_IN_WORDS = _DIGIT_AS_LETTER.replace("@", "")  # that one alone is an address, and no disguise
_MIXED_SHAPE = bytes(
    97 if chr(c).isalpha() and c < 128 else 48 if chr(c) in _IN_WORDS else 32 for c in range(256)
)
READ_AS = tuple(str.maketrans(_DIGIT_AS_LETTER, f"o{one}eastbasig") for one in "il")
"""`1gn0r3 4ll`: which letters digits and signs in words stand for; a one is an i or an l."""


def lower(text: str) -> bytes:
    """A text in lower case as words_of and has_run look at it."""
    low = text.lower()
    if not low.isascii():  # re.IGNORECASE takes these two for s and i
        low = low.replace("\u017f", "s").replace("\u0131", "i")
    return low.encode(errors="replace")


def words_of(low: bytes) -> list[bytes]:
    """The words of ``lower``, those with other than ASCII letters in pieces.

    It takes a quarter of the time that a regular expression would.
    """
    return low.translate(_LETTERS).split()


def has_run(low: bytes, digits: int, letters: int) -> bool:
    """True if ``low`` has a run of ``digits`` Base64 digits, in either alphabet.

    Somewhere it must have a run of ``letters`` letters too, for hyphens and slashes also stand
    between words.
    """
    if b"0" * digits not in low.translate(_DIGIT_SHAPE):
        return False
    return b"0" * letters in low.translate(_WORD_SHAPE)


def has_digit_in_word(low: bytes) -> bool:
    """True if one or two digits or signs that look like letters are between letters in ``low``."""
    shape = low.translate(_MIXED_SHAPE)
    return b"a0a" in shape or b"a00a" in shape


def _phrase(entry: dict[str, Any]) -> Phrase:
    """A phrase of the file; of each of its words the longest piece is kept."""
    source = "|".join(entry["patterns"])
    for name, part in _TABLES["parts"].items():
        source = source.replace(f"%{name}%", part)
    needed, *also = map(_pieces, entry.get("words", [""]))
    pattern = re.compile(source, re.IGNORECASE | re.MULTILINE)
    return Phrase(entry["kind"], needed, tuple(also), pattern)


def _pieces(words: str) -> frozenset[bytes]:
    return frozenset(max(words_of(lower(word)), key=len) for word in words.split())


PHRASES = tuple(map(_phrase, _TABLES["phrase"]))
UNSPACED = _phrase(_TABLES["unspaced"][0])
UNSPACED_TRACES: list[str] = _TABLES["unspaced"][0]["traces"]
"""Without a Latin letter, so that no word leads to it, but one of these pieces does."""

KNOWN = frozenset[bytes]().union(*(words for one in PHRASES for words in (one.words, *one.also)))
"""Every word that a phrase may need."""

BY_WORD: dict[bytes, list[Phrase]] = {}
for _phrase_of_kind in PHRASES:
    for _word in _phrase_of_kind.words:
        BY_WORD.setdefault(_word, []).append(_phrase_of_kind)
