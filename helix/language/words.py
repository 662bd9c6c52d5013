"""The words of a text as search takes them: case-folded, numbers and identifiers whole.

``copy_words`` has those without what a copy may change: punctuation, spaces, look-alike letters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(
    r"§\s*\d+(?:[^\W\d_](?![^\W_]))?(?:\.\d+)*"  # §3, § 15a, § 1.2
    r"|[^\W\d_]++(?:-[^\W\d_]++){0,3}-\d[^\W_]*+"  # an identifier: GPT-4, COVID-19, SARS-CoV-2
    r"|\d+(?:[.,]\d+)+"
    r"|[^\W_]+(?:['’][^\W_]+)*"
)
# the same of folded ASCII, in one look at each character
_ASCII_WORD = re.compile(
    r"[a-z]++(?:(?:-[a-z]++){0,3}-\d[a-z0-9]*+|[a-z0-9]*+(?>(?:'[a-z0-9]++)*))"
    r"|\d++(?:(?>(?:[.,]\d++)+)|[a-z0-9]*+(?>(?:'[a-z0-9]++)*))",
    re.ASCII,
)
_BETWEEN_WORDS = {
    code: " "
    for code in range(128)
    if chr(code) not in "abcdefghijklmnopqrstuvwxyz0123456789'-.,_/:#"
}
OF_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
"""The characters of scripts written without spaces, for the brackets of a regular expression."""
_STRETCH = re.compile(f"[{OF_UNSPACED}]+|[^{OF_UNSPACED}]+")
_UNSPACED = re.compile(f"[{OF_UNSPACED}]+")

_WIDTHS = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFF10, 0xFF5B), *range(0xFF66, 0xFFA0))
    if chr(code).isalnum()
}
"""Letters and digits as wide as an ideograph, for those that ASCII has, and half-width katakana."""
_HAS_WIDTH = re.compile("[\uff10-\uff5a\uff66-\uff9f]")
_WRAP = re.compile(rf"([{OF_UNSPACED}])[^\S\n]*+\n[^\S\n]*+(?=[{OF_UNSPACED}])")
"""A line's end in a stretch without spaces, where the words go on."""
_MARKS = "\u2070\xb9\xb2\xb3\u2074-\u2079"
_RAISED = re.compile(rf"([^\W\d_{_MARKS}]+)[{_MARKS}]+")
"""A word with raised digits: a unit, as km², or one that has a note's mark."""
_LONGEST_UNIT = 3  # letters: m, km, yd; what is longer is a word with the mark of a note
_HYPHEN = re.compile("[\u2010\u2011]")
WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")

_BETWEEN = {code: " " for code in range(128) if not chr(code).isalnum()}
# Cyrillic and Greek letters that a reader takes for Latin ones.
_LOOK_ALIKES = str.maketrans(
    "авеіјкмнорсѕтухԁАВЕІЈКМНОРСЅТУХοανειτρυΑΒΕΗΙΚΜΝΟΡΤΥΧ",
    "abeijkmhopcstyxdABEIJKMHOPCSTYXoaveitpuABEHIKMNOPTYX",
)
_INVISIBLE = ("Cf", "Mn", "Me")
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"  # letters by category, blanks to the eye


def _plain(text: str) -> str:
    """``text`` with one spelling for what looks alike: composed letters, one hyphen and width."""
    unwrapped = _WRAP.sub(r"\1", text.translate(_WIDTHS))
    return _HYPHEN.sub("-", unicodedata.normalize("NFC", unwrapped))


def words(text: str) -> list[str]:
    """The words of a text, case-folded, in order, numbers and identifiers whole.

    ``404B``, ``§3``, ``GPT-4`` and ``1,000.5`` are one word each; other compounds fall apart at
    their hyphens. Scripts written without spaces give their overlapping pairs of characters,
    which is how search engines index them; a number or a Latin name among them is a word.
    Raised digits are as in ``as_typed``.
    """
    return words_of_folded(text.lower() if text.isascii() else _plain(text).casefold())


def words_of_folded(text: str) -> list[str]:
    """``words`` of a text that is case-folded, and plain, already."""
    if text.isascii():  # nothing of what follows is in it
        return _ASCII_WORD.findall(text)
    found: list[str] = []
    for word in _WORD.findall(text):
        if word.isascii():
            found.append(word)
            continue
        word = word.replace("’", "'")
        word = re.sub(r"\s+", "", word) if word[0] == "§" else word
        if _UNSPACED.search(word):
            for stretch in _STRETCH.findall(word):
                found.extend(_pairs(stretch) if _UNSPACED.match(stretch) else [stretch])
        else:
            found.append(as_typed(word))
    return found


def as_typed(word: str) -> str:
    """``km2`` for ``km²``; a longer word with raised digits without them, which mark a note."""
    raised = _RAISED.fullmatch(word)
    if raised is None:
        return word
    is_unit = len(raised[1]) <= _LONGEST_UNIT
    return unicodedata.normalize("NFKC", word) if is_unit else raised[1]


def _pairs(stretch: str) -> list[str]:
    return [stretch[i : i + 2] for i in range(max(len(stretch) - 1, 1))]


def folded_tokens(text: str) -> list[str] | None:
    """A text case-folded and cut where no word goes on: ``words`` of the parts are those of all.

    Many parts are the same, so that each need be looked at once. None where words cannot be told
    from spaces: before a number after ``§``, and in letters that are not composed.
    """
    if text.isascii():
        folded = text.lower().translate(_BETWEEN_WORDS)
    elif (
        "§" in text
        or not unicodedata.is_normalized("NFC", text)
        or _HYPHEN.search(text)
        or _HAS_WIDTH.search(text)
        or _WRAP.search(text)
    ):
        return None
    else:
        folded = text.casefold()
        for mark in "()[];":
            folded = folded.replace(mark, " ")
    for mark in ". ", ", ", ": ":
        folded = folded.replace(mark, " ")
    return folded.split()


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


@lru_cache(maxsize=4096)
def as_seen(character: str) -> str:
    """A character as a reader takes it: Latin for its look-alikes, compatible forms folded.

    Empty for what is not seen: format characters, combining marks, blank letters.
    """
    if character in _BLANK_LETTERS:
        return ""
    folded = unicodedata.normalize("NFKC", character).translate(_LOOK_ALIKES)
    return "".join(c for c in folded if unicodedata.category(c) not in _INVISIBLE)
