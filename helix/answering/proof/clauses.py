"""Clauses of a sentence: a number belongs to the words of its own clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.lexicon import opposites
from helix.answering.proof.numbers import Number
from helix.language.terms import STOP_WORDS, terms

_STRONG = re.compile(r"[;|\n]|[.!?](?=\s)")
_WEAK = re.compile(
    r"[;|\n]|[.!?](?=\s)|,(?=[^\d])|(?<=[^\d]),"
    r"|\s(?:and|but|while|whereas|und|aber|während|sondern|then)(?=\s)"
)
_MOST = 40  # clauses


@dataclass(frozen=True)
class _Clause:
    """The words of a clause as they are and by their stems, the names among them, and numbers."""

    lows: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    numbers: Sequence[Number]


def is_number_of_another(claim: Facts, span: Facts) -> bool:
    """True if a number of the claim belongs, in the span, to something else.

    Where several numbers of one kind stand in the span, the clause of the one that agrees has to
    hold what the claim says and only one clause has. Words of a clause in front carry on to those
    behind it: `480 women and 320 men`.
    """
    if not claim.numbers or len(span.numbers) < 2:
        return False
    ours = _around_numbers(claim)[:_MOST]
    return any(
        _has_number_of_another(number, one, theirs)
        for theirs in _divided(span)
        for one in ours
        for number in one.numbers
        if number.sure
    )


def is_contradicted(claim: Facts, span: Facts) -> bool:
    """True if a word of the claim has its opposite in the clause that says the rest of it.

    `Allowed in the cabin`, of `allowed in the lounge but banned in the cabin`.
    """
    ours, theirs = frozenset(claim.lows), frozenset(span.lows)
    both = [
        low for low in ours & theirs
        if not opposites(low).isdisjoint(theirs) and opposites(low).isdisjoint(ours)
    ]  # fmt: skip
    if not both or claim.negations:
        return False
    words = frozenset[str]().union(*(one.words for one in _clauses(claim, _WEAK)))
    for clauses in _divided(span):
        for low in both:
            whole = words - {low, *terms(low)}
            agreeing = [low in one.lows for one in clauses]
            competing = [not opposites(low).isdisjoint(one.lows) for one in clauses]
            if _is_of_another(whole, clauses, agreeing, competing):
                return True
    return False


def _divided(span: Facts) -> Iterator[list[_Clause]]:
    """The clauses of a span, cut at strong marks, then at weak ones too."""
    for cut in (_STRONG, _WEAK):
        clauses = _clauses(span, cut)
        if 2 <= len(clauses) <= _MOST:
            yield clauses


def _around_numbers(claim: Facts) -> list[_Clause]:
    """The claim's clauses that have a number, each with the words of those before it."""
    found: list[_Clause] = []
    before = frozenset[str]()
    for clause in _clauses(claim, _WEAK):
        before |= clause.words
        if clause.numbers:
            found.append(replace(clause, words=before))
            before = frozenset()
    return found


def _has_number_of_another(number: Number, claim: _Clause, clauses: Sequence[_Clause]) -> bool:
    agreeing = [any(number.agrees(each) for each in one.numbers) for one in clauses]
    competing = [
        any(number.comparable(each) and each.sure for each in one.numbers)
        and not any(each.agrees(other) for each in claim.numbers for other in one.numbers)
        for one in clauses
    ]
    return _is_of_another(claim.words, clauses, agreeing, competing)


def _is_of_another(
    words: frozenset[str],
    clauses: Sequence[_Clause],
    agreeing: Sequence[bool],
    competing: Sequence[bool],
) -> bool:
    """True if ``words`` stand in a clause that competes with those that agree, more than in them.

    A name of a competing clause decides alone.
    """
    if True not in agreeing or True not in competing:
        return False
    inside, before, behind = set[str](), set[str](), set[str]()
    for word in words:
        places = [at for at, one in enumerate(clauses) if word in one.words]
        if len(places) == 1 and agreeing[places[0]]:
            inside.add(word)
        elif len(places) == 1 and competing[places[0]]:
            (before if places[0] < agreeing.index(True) else behind).add(word)
    named = frozenset[str]().union(*(one.names for one in clauses))
    if not before and not behind:
        return False
    if not inside or behind & named or len(behind) > len(inside):
        return True
    own = (one.names for one, agrees in zip(clauses, agreeing, strict=True) if agrees)
    return bool(before & named and frozenset[str]().union(*own) - words)


def _clauses(whole: Facts, cut: re.Pattern[str]) -> list[_Clause]:
    ends = [*(match.start() for match in cut.finditer(whole.text)), len(whole.text)]
    found = []
    for start, end in zip([0, *ends], ends, strict=False):
        tokens = [t for t in whole.tokens if start <= t.at < end and not whole.measures(t)]
        numbers = [n for n in whole.numbers if start <= n.start < end]
        words = frozenset(_word(t) for t in tokens if t.code or _is_said(t))
        names = frozenset(_word(t) for t in tokens if t.code or (_is_said(t) and _is_name(t)))
        if tokens or numbers:
            found.append(_Clause(frozenset(t.low for t in tokens), words, names, numbers))
    return found


def _is_said(token: Token) -> bool:
    letter = len(token.raw) == 1 and token.capital and not token.first and token.raw != "I"
    return letter or token.low not in STOP_WORDS


def _is_name(token: Token) -> bool:
    return token.capital and not token.first


def _word(token: Token) -> str:
    if len(token.raw) == 1 and token.raw.isupper():
        return token.raw
    return next(iter(terms(token.low)), token.low) if len(token.low) < 40 else token.low
