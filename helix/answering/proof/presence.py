"""Tests that sentences have a claim's numbers and names, and that neither denies the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.lexicon import DENYING, EXCEPTIONS, NEGATIONS, OPPOSITE, opposites
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


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_JOINED = ("n't", "n’t", "cannot")


def polarity_differs(claim: Facts, span: Facts) -> bool:
    """True if one denies what the other says, or has the opposite of one of its words."""
    ours, theirs = claim.negations, span.negations
    if ours and not _denied_too(claim, span):
        return True
    if not ours and any(claim.stems.intersection(negation.denied) for negation in theirs):
        return True
    return bool(ours) == bool(theirs) and _opposed(claim, span)


def without_denials(claim: Facts) -> str:
    """The text of ``claim`` without its words such as `not`: of `don't` stays `do`."""
    text = claim.text
    for negation in reversed(claim.negations):
        if negation.word in NEGATIONS - EXCEPTIONS:
            end = _WORD.match(text, negation.at).end()  # type: ignore[union-attr]
            whole = text[negation.at : end]
            joined = whole.casefold().endswith(_JOINED) and len(whole) > len(negation.word)
            text = text[: end - 3 if joined else negation.at] + text[end:]
    return " ".join(text.split())


def _denied_too(claim: Facts, span: Facts) -> bool:
    """True if the span denies something of the words that each negation of the claim is about.

    An exception denies what stands behind it: `may renew it, unless somebody waits`.
    """
    about = {stem for one in span.negations for stem in (one.after if one.excepts else one.near)}
    return bool(span.negations) and all(
        negation.excepts or not negation.near or not about.isdisjoint(negation.near)
        for negation in claim.negations
    )


def _opposed(claim: Facts, span: Facts) -> bool:
    """True if the claim has the opposite of a word of the span, and neither has both."""
    ours, theirs = frozenset(claim.lows) - DENYING, frozenset(span.lows) - DENYING
    for word in ours - theirs:
        other = opposites(word)
        if other.isdisjoint(theirs) or not other.isdisjoint(ours):
            continue
        same = frozenset[str]().union(*(OPPOSITE.get(one, frozenset()) for one in other))
        if same.isdisjoint(theirs) and not _converse(claim, span, word):
            return True
    return False


def _converse(claim: Facts, span: Facts, word: str) -> bool:
    """True if `A is longer than B` and `B is shorter than A` say the same of A and B."""
    ours = _compared(claim, frozenset({word}))
    theirs = _compared(span, opposites(word))
    return bool(ours and theirs and ours[0] & theirs[1] and ours[1] & theirs[0])


def _compared(facts: Facts, words: frozenset[str]) -> tuple[frozenset[str], frozenset[str]] | None:
    """The stems on either side of `… than`, where one of the words stands in front of `than`."""
    lows = facts.lows
    for at, low in enumerate(lows[:-1]):
        if low in words and "than" in lows[at + 1 : at + 3]:
            than = lows.index("than", at)
            sides = (lows[max(0, at - 6) : at], lows[than + 1 : than + 6])
            before, behind = (frozenset(terms(" ".join(side))) for side in sides)
            return before - behind, behind - before
    return None
