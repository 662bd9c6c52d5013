"""Tests that sentences have a claim's numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.numbers import MONTHS, NUMBER_WORDS
from helix.language.terms import STOP_WORDS, terms

_ACRONYM = 5  # letters at most
_SEPARATORS = re.compile("[-‐‑_/]")
_TAIL = re.compile(r"(?:-[a-z]{3,30}){1,9}\Z")  # of `GPT-4-based`


def number_missing(claim: Facts, spans: Sequence[Facts]) -> bool:
    """True if a number of the claim is in none of the spans."""
    if not claim.numbers:
        return False
    found = [number for span in spans for number in (*span.numbers, *span.implied)]
    return any(
        number.sure and not any(number.agrees(other) for other in found) for number in claim.numbers
    )


def name_missing(claim: Facts, spans: Sequence[Facts], title: str, known: frozenset[str]) -> bool:
    """True if a name of the claim is in none of the spans.

    Args:
        title: title and headings of the source, whose words count as found.
        known: words that the chunk writes with a capital within its sentences; a capital at the
            claim's start makes a name of these alone.
    """
    if not all(_has_code(code, spans, title) for code in claim.codes):
        return True
    named = [t for t in claim.tokens if _is_name(t, known) and not claim.measures(t)]
    return not all(
        any(_has_name(span, token) for span in spans) or _has_name(Facts(title), token)
        for token in named
    )


def _is_name(token: Token, known: frozenset[str]) -> bool:
    if token.code:
        return True
    if not token.capital or token.low in STOP_WORDS or token.low in NUMBER_WORDS:
        return False
    return not token.first or token.low in known


def _has_code(code: str, spans: Sequence[Facts], title: str) -> bool:
    """True if a span or the title has a part number or address whole, however it is joined."""
    if "@" in code or "://" in code:
        return any(code in span.codes for span in spans)
    parts = _SEPARATORS.split(_TAIL.sub("", code))
    pattern = r"[\s\-‐‑_/]?".join(map(re.escape, parts))
    whole = re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])", re.IGNORECASE)
    return any(whole.search(text) for text in (*(span.text for span in spans), title))


def _has_name(span: Facts, token: Token) -> bool:
    if token.code and len(token.raw) <= 3 and token.raw.isalpha():  # US is not `us`
        if token.raw in span.raws:
            return True
    elif token.low in span.words or set(terms(token.low)) & span.stems:
        return True
    if token.low in MONTHS:  # of a date in digits
        return any(token.low in number.values for number in span.numbers)
    if token.code and token.raw.isalpha() and len(token.raw) <= _ACRONYM:
        return token.raw in span.initials
    return False
