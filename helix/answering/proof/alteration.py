"""A number, name or negation exchanged in a claim that otherwise copies a span's words."""

from __future__ import annotations

from difflib import SequenceMatcher

from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.lexicon import (
    CONTRAST,
    EXCEPTIONS,
    NEGATIONS,
    STRONG_DENIAL,
    opposites,
)
from helix.answering.proof.model import NAME, NEGATION, NUMBER, WORDS
from helix.answering.proof.numbers import NUMBER_WORDS
from helix.language.terms import STOP_WORDS, terms

_CLOSE = 0.6
"""Share of a claim's words that stand in a span in order, from which word by word differences
are taken for alterations."""
_NEARLY_ALL = 0.8
_RUN = 3  # words in a row that call for the same number or name after them; one less in near copies
_SHORT = 3  # words of a difference that puts one thing for another
_MOST_WORDS = 400  # of a claim or a span compared word by word
_JOINING = frozenset("and but or und aber oder".split())
Code = tuple[str, int, int, int, int]
_COMMON = frozenset("company corporation group firm agency organization university".split())
_UN = ("un", "in", "im", "il", "ir", "non", "dis")


def alteration(claim: Facts, span: Facts) -> str | None:
    """Find the word that a claim exchanged where it otherwise copies the span's words.

    Returns ``number``, ``name`` or ``negation``; ``words`` where the two are too long or repetitive
    to compare; None where nothing was altered, or where the claim is no near copy.
    """
    ours, theirs = claim.tokens, span.tokens
    if not ours or not theirs:
        return None
    if max(len(ours), len(theirs)) > _MOST_WORDS or len(set(claim.lows)) * 4 < len(ours):
        return WORDS  # the comparison takes cubic time on what repeats itself
    matcher = SequenceMatcher(None, span.lows, claim.lows, autojunk=False)
    blocks = matcher.get_matching_blocks()
    matched = sum(block.size for block in blocks)
    if matched < _CLOSE * len(ours):
        return None
    run = _RUN - (matched >= _NEARLY_ALL * len(ours))
    first, last = blocks[0], blocks[-2]
    codes = matcher.get_opcodes()
    for place, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            # what goes on otherwise after the same words: `Physics in 1911` for `Physics in 1903`
            joins = any(_joins(code, theirs, ours) for code in codes[place + 1 : place + 2])
            after = (theirs[b : b + 1], ours[d : d + 1])
            goes_on = b - a >= run and all(after) and not joins
            fault = _exchanged(*after, span, claim) if goes_on else None
        elif b <= first.a:
            fault = _difference(theirs[max(a, b - _SHORT) : b], ours[c:d], span, claim, inner=False)
        elif a >= last.a + last.size:
            fault = _difference(theirs[a : min(b, a + _SHORT)], ours[c:d], span, claim, inner=False)
        else:
            fault = _difference(theirs[a:b], ours[c:d], span, claim, inner=True)
        if fault:
            return fault
    return None


def _joins(code: Code, theirs: list[Token], ours: list[Token]) -> bool:
    """True if the claim leaves out, or puts in front, one of two things that `and` joins.

    `Enrolled [480 women and] 320 men`: helix.answering.proof.clauses tells whether the rest holds.
    """
    tag, _, b, _, d = code
    last = theirs[b - 1] if tag == "delete" else ours[d - 1]
    return tag in ("delete", "insert") and last.low in _JOINING


def _difference(
    theirs: list[Token], ours: list[Token], span: Facts, claim: Facts, *, inner: bool
) -> str | None:
    """The fault where claim and span differ in one place; at its ends a span may be cut freely."""
    denied = sum(map(claim.is_negation, ours)) - sum(map(span.is_negation, theirs))
    excepted = any(n.excepts for n in span.negations) and not any(
        n.excepts for n in claim.negations
    )
    if denied > 0 and not span.denies - claim.denies and not excepted:
        return NEGATION
    near = inner and len(theirs) <= _SHORT + 1
    # `may not on Sundays`, of `may except on Sundays`
    turned = excepted and claim.negations and any(t.low in EXCEPTIONS for t in theirs)
    if denied < 0 and near and not turned and not claim.denies - span.denies:
        return NEGATION
    if near and _stops_denying(theirs, ours, claim):
        return NEGATION
    if not theirs or not ours or max(len(ours), len(theirs)) > _SHORT:
        return None
    return _exchanged(theirs, ours, span, claim)


def _exchanged(theirs: list[Token], ours: list[Token], span: Facts, claim: Facts) -> str | None:
    lows = {t.low for t in theirs}
    wanted = {t.low for t in ours} - lows
    if any(_numeric(t) for t in ours if t.low in wanted) and any(map(_numeric, theirs)):
        return None if _same_values(ours, theirs, claim, span) else NUMBER
    flipped = bool(NEGATIONS & wanted) != bool(NEGATIONS & (lows - {t.low for t in ours}))
    if not flipped and any(not lows.isdisjoint(opposites(low)) for low in wanted):
        return NEGATION
    if _contrasted(wanted, lows - {t.low for t in ours}):
        return NAME
    names = [t for t in ours if t.low in wanted and _looks_named(t) and not claim.measures(t)]
    if names and any(_looks_named(t) and t.low not in _COMMON for t in theirs):
        known = {stem for t in theirs for stem in terms(t.low)}
        letters = "".join(t.raw[0] for t in theirs)
        if not all(set(terms(t.low)) & known or t.raw in letters for t in names):
            return NAME
    return NAME if _renamed(theirs, ours, claim) else None


def _stops_denying(theirs: list[Token], ours: list[Token], claim: Facts) -> bool:
    """True if a denying word of the span has gone: `fails to start`, `ineffective`."""
    if any(STRONG_DENIAL.match(t.low) or t.low in NEGATIONS for t in ours):
        return False
    if any(STRONG_DENIAL.match(t.low) and t.low not in claim.words for t in theirs):
        return True
    plain = {t.low for t in ours}
    return any(t.low.removeprefix(p) in plain for t in theirs for p in _UN if t.low.startswith(p))


def _renamed(theirs: list[Token], ours: list[Token], claim: Facts) -> bool:
    """True if a capitalised word replaces another one, which the claim has nowhere.

    At the start of a sentence too, where a capital says nothing: the rest of it is a copy, and
    `Returns` for `Refunds` changes whom it is about as `Rome` for `Carthage` does.
    """
    if len(ours) != len(theirs):
        return False
    pairs = [(one, other) for one, other in zip(theirs, ours, strict=True) if one.low != other.low]
    return any(
        one.capital and other.capital and one.first == other.first
        and (one.low not in STOP_WORDS or one.low == "there") and one.low not in claim.lows
        and not set(terms(one.low)) & set(terms(other.low))
        and not (one.first and other.low in STOP_WORDS)
        for one, other in pairs
    )  # fmt: skip


def _contrasted(ours: set[str], theirs: set[str]) -> bool:
    """True if a word of each belongs to the same group of contrasts, as left and right do."""
    kinds = {CONTRAST[low] for low in theirs if low in CONTRAST}
    return any(CONTRAST.get(low) in kinds for low in ours)


def _numeric(token: Token) -> bool:
    return token.raw[0].isdigit() or token.low in NUMBER_WORDS


def _same_values(ours: list[Token], theirs: list[Token], claim: Facts, span: Facts) -> bool:
    """True if each number of ours agrees with one of theirs, each read where it stands."""
    values = [number for t in theirs if (number := span.number_at(t))]
    plain = {t.low for t in theirs}
    for token in filter(_numeric, ours):
        number = claim.number_at(token)
        if number is None and token.low not in plain:
            return False
        if number and number.sure and not any(number.agrees(other) for other in values):
            return False
    return True


def _looks_named(token: Token) -> bool:
    if token.low in STOP_WORDS or token.low in NEGATIONS:
        return False
    return token.capital or token.code
