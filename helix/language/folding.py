"""Texts without what a copy may change: case, punctuation, white space, look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")

_BETWEEN = {code: " " for code in range(128) if not chr(code).isalnum()}


def plain_ascii(text: str) -> str:
    """ASCII in lower case with a space for all that is in no word; as long as ``text``."""
    return text.lower().translate(_BETWEEN)


def copy_words(text: str) -> list[str]:
    """Words without case, punctuation and white space: what a copy of a text has in common."""
    if text.isascii():  # some ten times as quick as a regular expression
        return plain_ascii(text).split()
    return WORD.findall(unicodedata.normalize("NFC", text).casefold())


def copy_words_in_place(text: str) -> list[str]:
    """The words of ``text`` one by one, as many as WORD finds in it as it stands."""
    if text.isascii():
        return plain_ascii(text).split()
    words = "\n".join(WORD.findall(text)).lower().splitlines()
    return [
        word if word.isascii() else unicodedata.normalize("NFC", word).casefold() for word in words
    ]


# Cyrillic and Greek letters that a reader takes for Latin ones.
_LOOK_ALIKES = str.maketrans(
    "авеіјкмнорсѕтухԁАВЕІЈКМНОРСЅТУХοανειτρυΑΒΕΗΙΚΜΝΟΡΤΥΧ",
    "abeijkmhopcstyxdABEIJKMHOPCSTYXoaveitpuABEHIKMNOPTYX",
)
_INVISIBLE = ("Cf", "Mn", "Me")
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"  # letters by category, blanks to the eye


@lru_cache(maxsize=4096)
def as_seen(character: str) -> str:
    """A character as a reader takes it: Latin for its look-alikes, compatible forms folded.

    Empty for what is not seen: format characters, combining marks, blank letters.
    """
    if character in _BLANK_LETTERS:
        return ""
    folded = unicodedata.normalize("NFKC", character).translate(_LOOK_ALIKES)
    return "".join(c for c in folded if unicodedata.category(c) not in _INVISIBLE)
