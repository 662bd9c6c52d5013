"""The words of an answer: keywords, gold spans, forbidden words, markers without a source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.domain.citations import MARKER, marker_numbers

_EDGES = " \t\n.,;:!?\"'“”‘’"
_UNSPACED = "\u0e00"
"""From here on scripts write no spaces, so that a word may begin anywhere."""


def plain(text: str) -> str:
    """``text`` without markers, with single spaces, in one case."""
    return " ".join(MARKER.sub("", text).casefold().split())


def says(said: str, wanted: str) -> bool:
    """True where ``wanted`` is in ``said``, both ``plain``, as whole words and whole numbers.

    "5" is neither in "1995" nor in "1.5" and "5,000".
    """
    before = after = ""
    if _in_word(wanted[:1]):
        before = r"(?<!\w)(?<!\d[.,])" if wanted[0].isdigit() else r"(?<!\w)"
    if _in_word(wanted[-1:]):
        after = r"(?!\w)(?![.,]\d)" if wanted[-1].isdigit() else r"(?!\w)"
    return bool(wanted and re.search(before + re.escape(wanted) + after, said))


def _in_word(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def keyword_coverage(answer: str, keywords: Sequence[str]) -> float | None:
    """The share of ``keywords`` that the answer has, 0 to 1; None where none is wanted."""
    if not keywords:
        return None
    said = plain(answer)
    return sum(says(said, plain(word)) for word in keywords) / len(keywords)


def has_gold(text: str, golds: Sequence[str]) -> bool | None:
    """True where one of ``golds`` is in ``text``, but for the punctuation at their ends."""
    if not golds:
        return None
    said = plain(text)
    return any(says(said, plain(gold).strip(_EDGES)) for gold in golds)


def forbidden_said(answer: str, forbidden: Sequence[str]) -> list[str]:
    """The words of ``forbidden`` in the answer, within words too, whatever the case."""
    return [word for word in forbidden if word.casefold() in answer.casefold()]


def hallucinated_markers(answer: str, sources: int) -> list[int]:
    """Numbers that the answer cites and none of its ``sources`` has."""
    return [number for number in marker_numbers(answer) if not 1 <= number <= sources]
