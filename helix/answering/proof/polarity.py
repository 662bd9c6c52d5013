"""Polarity: a test that a claim denies what a sentence says, or the other way round."""

from __future__ import annotations

import re

from helix.answering.proof.facts import Facts
from helix.answering.proof.lexicon import DENYING, EXCEPTIONS, NEGATIONS, OPPOSITE, opposites
from helix.language.terms import terms

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
