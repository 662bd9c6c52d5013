"""What an answer says: keywords, gold spans, forbidden words, markers that point at nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.citations import marker_numbers

_MARKER = re.compile(r"\s*\[[\d,\s]+\]")
_EDGES = " \t\n.,;:!?\"'“”‘’"


def plain(text: str) -> str:
    """``text`` without markers, with single spaces, in one case."""
    return " ".join(_MARKER.sub("", text).casefold().split())


def keyword_coverage(answer: str, keywords: Sequence[str]) -> float | None:
    """The share of ``keywords`` that the answer has, 0 to 1; None where none is wanted."""
    if not keywords:
        return None
    said = plain(answer)
    return sum(plain(word) in said for word in keywords) / len(keywords)


def has_gold(text: str, golds: Sequence[str]) -> bool | None:
    """Whether one of ``golds`` is in ``text``, but for the punctuation at their ends."""
    if not golds:
        return None
    said = plain(text)
    return any((wanted := plain(gold).strip(_EDGES)) and wanted in said for gold in golds)


def forbidden_said(answer: str, forbidden: Sequence[str]) -> list[str]:
    """Those of ``forbidden`` that the answer has as they are written, whatever the case."""
    return [word for word in forbidden if word.casefold() in answer.casefold()]


def hallucinated_markers(answer: str, sources: int) -> list[int]:
    """Numbers that the answer cites and none of its ``sources`` has."""
    return [number for number in marker_numbers(answer) if not 1 <= number <= sources]
