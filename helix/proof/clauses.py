"""Which clause of a span says what: a number or a verb belongs to what stands in its own clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from helix.proof.facts import Facts, Token
from helix.proof.lexicon import opposites
from helix.proof.numbers import Number
from helix.terms import STOP_WORDS, terms

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
            _word(t.low, t.raw)
            for t in self.tokens
            if t.code or t.raw[0].isdigit() or (t.capital and not t.first and _names(t.low, t.raw))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(
            _word(t.low, t.raw)
            for t in self.tokens
            if t.code or t.low not in STOP_WORDS or _is_letter(t)
        )


def _is_letter(token: Token) -> bool:
    """Whether it is the A of `Plan A`."""
    return len(token.raw) == 1 and token.capital and not token.first


def _names(low: str, raw: str) -> bool:
    return low not in STOP_WORDS or (len(raw) == 1 and raw != "I")


def _word(low: str, raw: str) -> str:
    if len(raw) == 1 and raw.isupper():
        return raw
    return next(iter(terms(low)), low) if len(low) < 40 else low


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


def misplaced(said: Facts, span: Facts) -> bool:
    """Whether a number of the statement belongs, in the span, to something else.

    Where several numbers of one kind stand in the span, the clause of the one that agrees has to
    hold what the statement says and only one clause has: a name of another clause makes it that
    one's. Words of a clause in front carry on to those behind it: `480 women and 320 men`.
    """
    if not said.numbers or len(span.numbers) < 2:
        return False
    return any(
        _elsewhere(clause, clauses, _numbers_asked(clause))
        for clause, clauses in _pairs(said, span)
        if clause.numbers
    )


def contradicted(said: Facts, span: Facts) -> bool:
    """Whether a word of the statement has its opposite in the clause that says the rest of it.

    `Allowed in the cabin`, of `allowed in the lounge but banned in the cabin`.
    """
    theirs = set(span.lows)
    split = [low for low in said.lows if low in theirs and not theirs.isdisjoint(opposites(low))]
    if not split:
        return False
    return any(
        _elsewhere(clause, clauses, _words_asked(clause, split))
        for clause, clauses in _pairs(said, span)
    )


_Asked = tuple[Callable[[Clause], bool], Callable[[Clause], bool], frozenset[str]]
"""Whether a clause agrees, whether it says another thing instead, and what not to go by."""


def _pairs(said: Facts, span: Facts) -> Iterator[tuple[Clause, list[Clause]]]:
    ours = clauses_of(said, _WEAK)
    for pattern in (_STRONG, _WEAK):
        clauses = clauses_of(span, pattern)
        if 2 <= len(clauses) <= _MOST_CLAUSES:
            for clause in ours[:_MOST_CLAUSES]:
                yield clause, clauses


def _numbers_asked(clause: Clause) -> Iterator[_Asked]:
    for number in clause.numbers:
        if number.sure:
            yield _of_number(clause, number)


def _of_number(clause: Clause, number: Number) -> _Asked:
    def agrees(other: Clause) -> bool:
        return any(number.agrees(each) for each in other.numbers)

    def competes(other: Clause) -> bool:
        if any(one.agrees(each) for one in clause.numbers for each in other.numbers):
            return False
        return any(number.comparable(each) and each.sure for each in other.numbers)

    own = frozenset(
        _word(t.low, t.raw) for t in clause.tokens if number.start <= t.at < number.until
    )
    return agrees, competes, own


def _words_asked(clause: Clause, split: Sequence[str]) -> Iterator[_Asked]:
    for low in dict.fromkeys(split):
        if low in clause.lows:
            yield _of_word(low)


def _of_word(low: str) -> _Asked:
    other = opposites(low)

    def agrees(clause: Clause) -> bool:
        return low in clause.lows

    def competes(clause: Clause) -> bool:
        return low not in clause.lows and not other.isdisjoint(clause.lows)

    return agrees, competes, frozenset(terms(low)) | {low}


def _elsewhere(said: Clause, clauses: list[Clause], asked: Iterator[_Asked]) -> bool:
    for agrees, competes, own in asked:
        agreeing = [n for n, clause in enumerate(clauses) if agrees(clause)]
        if agreeing and _is_of_another(said, clauses, agreeing, competes, own):
            return True
    return False


def _is_of_another(
    said: Clause,
    clauses: list[Clause],
    agreeing: list[int],
    competes: Callable[[Clause], bool],
    own: frozenset[str],
) -> bool:
    inside: set[str] = set()
    before: set[str] = set()
    behind: set[str] = set()
    for word in (said.words | said.names) - own:
        places = [n for n, c in enumerate(clauses) if word in c.words or word in c.names]
        if len(places) != 1:
            continue
        if places[0] in agreeing:
            inside.add(word)
        elif competes(clauses[places[0]]):
            (before if places[0] < min(agreeing) else behind).add(word)
    if not before and not behind:
        return False
    if not inside:
        return True
    if behind & frozenset().union(*(c.names for c in clauses)):
        return True
    others = frozenset().union(*(clauses[n].names for n in agreeing)) - said.names - own
    others = frozenset(name for name in others if not name[0].isdigit())
    return bool(others and before & frozenset().union(*(c.names for c in clauses)))
