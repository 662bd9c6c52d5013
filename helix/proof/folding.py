"""Words as a copy has them in common with its original: no case, punctuation or white space."""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")

_BETWEEN = {code: " " for code in range(128) if not chr(code).isalnum()}


def plain_ascii(text: str) -> str:
    """ASCII in lower case with a space for all that is in no word; as long as ``text``."""
    return text.lower().translate(_BETWEEN)


def folded_words(text: str) -> list[str]:
    """Words without case, punctuation and white space: what a copy of a text has in common."""
    if text.isascii():  # some ten times as quick as a regular expression
        return plain_ascii(text).split()
    return WORD.findall(unicodedata.normalize("NFC", text).casefold())


def folded_each(text: str) -> list[str]:
    """The words of ``text`` one by one, as many as WORD finds in it as it stands."""
    if text.isascii():
        return plain_ascii(text).split()
    words = "\n".join(WORD.findall(text)).lower().splitlines()
    return [
        word if word.isascii() else unicodedata.normalize("NFC", word).casefold() for word in words
    ]
