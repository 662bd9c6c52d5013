"""Clauses of a span: a number or a verb belongs to the words of its own clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.lexicon import opposites
from helix.answering.proof.numbers import Number
from helix.language.terms import STOP_WORDS, terms

_STRONG = re.compile(r"[;|]|[.!?](?=\s)")
_WEAK = re.compile(
    r"[;|]|[.!?](?=\s)|,(?=[^\d])|(?<=[^\d]),"
    r"|\s(?:and|but|while|whereas|und|aber|während|sondern|then)(?=\s)"
)
_ROWS = re.compile(r"^[^,\n]+(?:[,\t][^,\n]*){2,}$", re.MULTILINE)
_MOST_CLAUSES = 40


class Clause:
    """A clause's words: stems, and names and codes, which count for more."""

    def __init__(self, whole: Facts, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.numbers = [n for n in whole.numbers if start <= n.start < end]
        self.tokens = [t for t in whole.tokens if start <= t.at < end]
        self.lows = {t.low for t in self.tokens}

    @cached_property
    def names(self) -> frozenset[str]:
        """Capitalised words and codes, and numbers, as the words they are."""
        return frozenset(
            _word(t)
            for t in self.tokens
            if t.code or t.raw[0].isdigit() or (t.capital and not t.first and _names(t))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(
            _word(t) for t in self.tokens if t.code or t.low not in STOP_WORDS or _is_letter(t)
        )


def _is_letter(token: Token) -> bool:
    """True if the token is a name of one letter, as the A of `Plan A` is."""
    return len(token.raw) == 1 and token.capital and not token.first


def _names(token: Token) -> bool:
    return token.low not in STOP_WORDS or (len(token.raw) == 1 and token.raw != "I")


def _word(token: Token) -> str:
    if len(token.raw) == 1 and token.raw.isupper():
        return token.raw
    return next(iter(terms(token.low)), token.low) if len(token.low) < 40 else token.low


def clauses_of(whole: Facts, pattern: re.Pattern[str]) -> list[Clause]:
    """The clauses of a text, cut by ``pattern``; rows of a table in commas are cut at their end."""
    text = whole.text
    cuts = [m.start() for m in pattern.finditer(text)]
    if "\n" in text and len(_ROWS.findall(text)) == text.count("\n") + 1:
        cuts = [at for at, c in enumerate(text) if c == "\n"]
    ends = [*sorted(set(cuts)), len(text)]
    starts = [0, *ends[:-1]]
    found = [Clause(whole, a, b) for a, b in zip(starts, ends, strict=True) if b > a]
    return [clause for clause in found if clause.tokens]


def misplaced(claim: Facts, span: Facts) -> bool:
    """True if a number of the claim belongs, in the span, to something else.

    Where several numbers of one kind stand in the span, the clause of the one that agrees has to
    hold what the claim says and only one clause has: a name of another clause makes it that
    one's. Words of a clause in front carry on to those behind it: `480 women and 320 men`.
    """
    if not claim.numbers or len(span.numbers) < 2:
        return False
    ours = _around_numbers(claim)
    return any(
        _is_number_of_another(number, clause, clauses)
        for clauses in _divided(span)
        for clause in ours[:_MOST_CLAUSES]
        for number in clause.numbers
        if number.sure
    )


def contradicted(claim: Facts, span: Facts) -> bool:
    """True if a word of the claim has its opposite in the clause that says the rest of it.

    `Allowed in the cabin`, of `allowed in the lounge but banned in the cabin`.
    """
    theirs = frozenset(span.lows)
    divided = [
        low for low in dict.fromkeys(claim.lows) if low in theirs and opposites(low) & theirs
    ]
    if not divided or claim.negations or claim.denies:
        return False
    whole = Clause(claim, 0, len(claim.text))
    for clauses in _divided(span):
        for low in divided:
            agreeing = [low in clause.lows for clause in clauses]
            competing = [not opposites(low).isdisjoint(clause.lows) for clause in clauses]
            if opposites(low).isdisjoint(claim.lows) and _is_of_another(
                whole, {low, *terms(low)}, clauses, agreeing, competing, carries=False
            ):
                return True
    return False


def _divided(span: Facts) -> Iterator[list[Clause]]:
    """The clauses of a span, cut at strong marks, then at weak ones too."""
    for pattern in (_STRONG, _WEAK):
        clauses = clauses_of(span, pattern)
        if 2 <= len(clauses) <= _MOST_CLAUSES:
            yield clauses


def _around_numbers(claim: Facts) -> list[Clause]:
    """The claim's clauses that have a number, each with the clauses without one before it."""
    found: list[Clause] = []
    start = 0
    for clause in clauses_of(claim, _WEAK):
        if clause.numbers:
            found.append(Clause(claim, start, clause.end))
            start = clause.end
    return found


def _is_number_of_another(number: Number, claim: Clause, clauses: list[Clause]) -> bool:
    def competes(other: Clause) -> bool:
        if any(one.agrees(each) for one in claim.numbers for each in other.numbers):
            return False
        return any(number.comparable(each) and each.sure for each in other.numbers)

    own = {_word(t) for t in claim.tokens if number.start <= t.at < number.until}
    agreeing = [any(number.agrees(each) for each in clause.numbers) for clause in clauses]
    return _is_of_another(claim, own, clauses, agreeing, list(map(competes, clauses)))


def _is_of_another(
    claim: Clause,
    own: set[str],
    clauses: list[Clause],
    agreeing: list[bool],
    competing: list[bool],
    *,
    carries: bool = True,
) -> bool:
    """True if the claim's words stand in a clause that competes with the ones that agree.

    Args:
        own: words of what the clauses agree on or compete about, which tell nothing.
        carries: whether what agrees may also be said of the words of clauses behind it.
    """
    if True not in agreeing or True not in competing:
        return False
    inside, before, behind = set[str](), set[str](), set[str]()
    for word in (claim.words | claim.names) - own:
        places = [n for n, c in enumerate(clauses) if word in c.words or word in c.names]
        if len(places) != 1:
            continue
        if agreeing[places[0]]:
            inside.add(word)
        elif competing[places[0]]:
            (before if places[0] < agreeing.index(True) else behind).add(word)
    if not before and not behind:
        return False
    named = frozenset().union(*(c.names for c in clauses))
    if not inside or behind & named or len(behind) > (len(inside) if carries else 0):
        return True
    theirs = (c.names for c, agrees in zip(clauses, agreeing, strict=True) if agrees)
    others = frozenset().union(*theirs) - claim.names - own
    return bool(before & named) and any(not name[0].isdigit() for name in others)
