"""Whether a span says what a statement says: the conditions, each decided by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from helix.proof.facts import Facts, Token
from helix.proof.lexicon import (
    CONTRAST,
    NEGATIONS,
    OPPOSITE,
    STRONG_DENIAL,
    STRONG_PARTICIPLE,
    opposites,
)
from helix.proof.model import NAME, NEGATION, NUMBER, WORDS
from helix.proof.number_words import NUMBER_WORDS
from helix.proof.numbers import MONTH_NUMBERS
from helix.terms import STOP_WORDS, terms

_CLOSE = 0.6
"""Share of a statement's words that stand in a span in order, from which word by word differences
are taken for alterations."""
_NEARLY_ALL = 0.8
_RUN = 3  # words in a row that call for the same number or name after them; one less in near copies
_SHORT = 3  # words of a difference that puts one thing for another
_MOST_WORDS = 400  # of a statement or a span compared word by word
_ACRONYM = 5
_JOINING = frozenset("and but or und aber oder".split())
_DENIED = 4  # content words on either side of a strong denial that it may be about
_SEPARATORS = re.compile("[-‐‑_/]")
_TAIL = re.compile(r"(?:-[a-z]{3,})+\Z")  # of `GPT-4-based`
_COMMON = frozenset("company corporation group firm agency organization university".split())


def number_missing(said: Facts, spans: Sequence[Facts]) -> bool:
    """Whether a number of the statement is in none of the spans."""
    if not said.numbers:
        return False
    found = [number for span in spans for number in (*span.numbers, *span.implied)]
    return any(
        number.sure and not any(number.agrees(other) for other in found) for number in said.numbers
    )


def same_numbers(said: Facts, span: Facts) -> bool:
    """Whether both have the same numbers in the same order: a copy's digits, units and signs."""
    ours, theirs = said.numbers, span.numbers
    return len(ours) == len(theirs) and all(
        one.agrees(other) and one.unit == other.unit
        for one, other in zip(ours, theirs, strict=True)
    )


def name_missing(said: Facts, spans: Sequence[Facts], named: str, known: frozenset[str]) -> bool:
    """Whether a name of the statement is in none of the spans.

    Args:
        named: title and headings of the source, whose words count as found.
        known: words that the chunk writes with a capital within its sentences; a capital at the
            statement's start makes a name of these alone.
    """
    if not all(_has_code(code, spans, named) for code in said.codes):
        return True
    wanted = [t for t in said.tokens if _is_name(t, known) and not said.measures(t)]
    if not wanted:
        return False
    return not all(
        any(_has_name(span, token) for span in spans) or _has_name(Facts(named), token)
        for token in wanted
    )


def _is_name(token: Token, known: frozenset[str]) -> bool:
    if token.code:
        return True
    if not token.capital or token.low in STOP_WORDS or token.low in NUMBER_WORDS:
        return False
    return not token.first or token.low in known


def _has_code(code: str, spans: Sequence[Facts], named: str) -> bool:
    """Whether a part number or address stands there whole, its parts joined by whatever it is."""
    if "@" in code or "://" in code:
        return any(code in span.codes for span in spans)
    parts = _SEPARATORS.split(_TAIL.sub("", code))
    pattern = r"[\s\-‐‑_/]?".join(map(re.escape, parts))
    whole = re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])", re.IGNORECASE)
    return any(whole.search(text) for text in (*(span.text for span in spans), named))


def _has_name(span: Facts, token: Token) -> bool:
    if token.code and len(token.raw) <= 3 and token.raw.isalpha():  # US is not `us`
        if token.raw in span.raws:
            return True
    elif token.low in span.words or set(terms(token.low)) & span.stems:
        return True
    if token.low in MONTH_NUMBERS:  # of a date in digits
        return any(token.low in number.values for number in span.numbers)
    if token.code and token.raw.isalpha() and len(token.raw) <= _ACRONYM:
        return token.raw in span.initials
    return False


def polarity_differs(said: Facts, spans: Sequence[Facts]) -> bool:
    """Whether statement and spans differ in what they deny, or one has the other's opposite."""
    ours = said.negations
    theirs = [negation for span in spans for negation in span.negations]
    if ours and not _answered(said, spans):
        return True
    denying = said.denies.difference(*(span.denies for span in spans))
    if not ours and not denying:
        stems = said.stems
        for negation in theirs:
            if stems.intersection(negation.denied):
                return True
        if any(_denial_dropped(said, span) for span in spans):
            return True
    return bool(ours) == bool(theirs) and _opposed(said, spans)


def _denial_dropped(said: Facts, span: Facts) -> bool:
    """Whether the span has a denying word that the statement lacks, next to what it does say."""
    if not span.denies:
        return False
    tokens = span.tokens
    for at, token in enumerate(tokens):
        if not STRONG_DENIAL.match(token.low) or token.low in said.words:
            continue
        if said.denies or set(terms(token.low)) & said.stems:
            return False
        near = tokens[at + 1 : at + 1 + 2 * _DENIED]
        if token.low in ("false", "untrue") or STRONG_PARTICIPLE.match(token.low):
            near = tokens[max(0, at - 2 * _DENIED) : at + 1 + _DENIED]
        stems = {stem for each in near for stem in terms(each.low) if each.low not in STOP_WORDS}
        if stems & said.stems:
            return True
    return False


def _answered(said: Facts, spans: Sequence[Facts]) -> bool:
    """Whether each negation of the statement has one of the spans that is about the same words."""
    theirs = [negation for span in spans for negation in span.negations]
    denying = frozenset().union(*(span.denies for span in spans))
    if all(negation.excepts for negation in said.negations):
        return bool(theirs or denying)
    if denying - said.denies:
        return True
    about = {stem for negation in theirs for stem in negation.before + negation.after}
    return all(
        negation.excepts or not about.isdisjoint(negation.before + negation.after)
        or not (negation.before + negation.after)
        for negation in said.negations
    ) and bool(theirs)  # fmt: skip


def _opposed(said: Facts, spans: Sequence[Facts]) -> bool:
    ours = frozenset(said.lows)
    theirs: frozenset[str] = frozenset().union(*(span.lows for span in spans))
    for word in ours:
        other = opposites(word)
        if other.isdisjoint(theirs) or not other.isdisjoint(ours) or word in theirs:
            continue
        same = frozenset().union(*(OPPOSITE.get(one, frozenset()) for one in other))
        if same.isdisjoint(theirs):
            return True
    return False


def alteration(said: Facts, span: Facts) -> str | None:
    """What was put in another's place, where the statement nearly is a copy of the span's words.

    Returns ``number``, ``name`` or ``negation``, or ``words`` of what is too long or repetitive to
    compare; None where nothing was altered, or they are not that near.
    """
    ours, theirs = said.tokens, span.tokens
    if not ours or not theirs:
        return None
    if max(len(ours), len(theirs)) > _MOST_WORDS or len(set(said.lows)) * 4 < len(ours):
        return WORDS  # the comparison takes cubic time on what repeats itself
    matcher = SequenceMatcher(None, span.lows, said.lows, autojunk=False)
    blocks = matcher.get_matching_blocks()
    matched = sum(block.size for block in blocks)
    if matched < _CLOSE * len(ours):
        return None
    run = _RUN - (matched >= _NEARLY_ALL * len(ours))
    first, last = blocks[0], blocks[-2]
    codes = matcher.get_opcodes()
    for place, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            goes_on = b - a >= run and not _leaves_out(codes[place + 1 : place + 2], theirs)
            fault = _next(theirs[b : b + 1], ours[d : d + 1], span, said) if goes_on else None
        elif b <= first.a:
            fault = _difference(theirs[max(a, b - _SHORT) : b], ours[c:d], span, said, inner=False)
        elif a >= last.a + last.size:
            fault = _difference(theirs[a : min(b, a + _SHORT)], ours[c:d], span, said, inner=False)
        else:
            fault = _difference(theirs[a:b], ours[c:d], span, said, inner=True)
        if fault:
            return fault
    return None


def _leaves_out(code: Sequence[tuple[str, int, int, int, int]], theirs: list[Token]) -> bool:
    """Whether the statement leaves out the first of two things that `and` or `but` joins.

    `Enrolled [480 women and] 320 men`: helix.proof.clauses tells whether the rest holds.
    """
    return any(tag == "delete" and theirs[b - 1].low in _JOINING for tag, _, b, _, _ in code)


def _next(theirs: list[Token], ours: list[Token], span: Facts, said: Facts) -> str | None:
    """What goes on otherwise after the same words: `Physics in 1911` for `Physics in 1903`."""
    return _exchanged(theirs, ours, span, said) if theirs and ours else None


def _difference(
    theirs: list[Token], ours: list[Token], span: Facts, said: Facts, *, inner: bool
) -> str | None:
    """What differs in one place. At the span's ends the statement may leave out what it likes."""
    denied = sum(t.low in NEGATIONS for t in ours) - sum(t.low in NEGATIONS for t in theirs)
    excepted = any(n.excepts for n in span.negations) and not any(n.excepts for n in said.negations)
    if denied > 0 and not span.denies - said.denies and not excepted:
        return NEGATION
    near = inner and len(theirs) <= _SHORT + 1
    if denied < 0 and near and not said.denies - span.denies:
        return NEGATION
    if near and _stops_denying(theirs, ours, said):
        return NEGATION
    if not theirs or not ours or len(ours) > _SHORT:
        return None
    if len(theirs) > _SHORT:
        return None
    return _exchanged(theirs, ours, span, said)


def _exchanged(theirs: list[Token], ours: list[Token], span: Facts, said: Facts) -> str | None:
    lows = {t.low for t in theirs}
    wanted = {t.low for t in ours} - lows
    if any(_numeric(t) for t in ours if t.low in wanted) and any(map(_numeric, theirs)):
        return None if _same_values(ours, theirs, said, span) else NUMBER
    flipped = bool(NEGATIONS & wanted) != bool(NEGATIONS & (lows - {t.low for t in ours}))
    if not flipped and any(not lows.isdisjoint(opposites(low)) for low in wanted):
        return NEGATION
    if _contrasted(wanted, lows - {t.low for t in ours}):
        return NAME
    names = [t for t in ours if t.low in wanted and _looks_named(t) and not said.measures(t)]
    if names and any(_looks_named(t) and t.low not in _COMMON for t in theirs):
        known = {stem for t in theirs for stem in terms(t.low)}
        letters = "".join(t.raw[0] for t in theirs)
        if not all(set(terms(t.low)) & known or t.raw in letters for t in names):
            return NAME
    return NAME if _renamed(theirs, ours, said) else None


def _stops_denying(theirs: list[Token], ours: list[Token], said: Facts) -> bool:
    """Whether a denying word of the span has gone: `fails to start`, `ineffective`."""
    if any(STRONG_DENIAL.match(t.low) or t.low in NEGATIONS for t in ours):
        return False
    if any(STRONG_DENIAL.match(t.low) and t.low not in said.words for t in theirs):
        return True
    plain = {t.low for t in ours}
    return any(t.low.removeprefix(p) in plain for t in theirs for p in _UN if t.low.startswith(p))


def _renamed(theirs: list[Token], ours: list[Token], said: Facts) -> bool:
    """Whether one capitalised word stands where another did, which the statement has nowhere.

    At the start of a sentence too, where a capital says nothing: the rest of it is a copy, and
    `Returns` for `Refunds` changes whom it is about as `Rome` for `Carthage` does.
    """
    if len(ours) != len(theirs):
        return False
    pairs = [(one, other) for one, other in zip(theirs, ours, strict=True) if one.low != other.low]
    return any(
        one.capital and other.capital and one.first == other.first
        and (one.low not in STOP_WORDS or one.low == "there") and one.low not in said.lows
        and not set(terms(one.low)) & set(terms(other.low))
        and not (one.first and other.low in STOP_WORDS)
        for one, other in pairs
    )  # fmt: skip


_UN = ("un", "in", "im", "il", "ir", "non", "dis")


def _contrasted(ours: set[str], theirs: set[str]) -> bool:
    """Whether one of each is of the same kind, as left and right are."""
    kinds = {CONTRAST[low] for low in theirs if low in CONTRAST}
    return any(CONTRAST.get(low) in kinds for low in ours)


def _numeric(token: Token) -> bool:
    return token.raw[0].isdigit() or token.low in NUMBER_WORDS


def _same_values(ours: list[Token], theirs: list[Token], said: Facts, span: Facts) -> bool:
    """Whether each number of ours agrees with one of theirs, each read where it stands."""
    values = [number for t in theirs if (number := span.number_at(t))]
    plain = {t.low for t in theirs}
    for token in filter(_numeric, ours):
        number = said.number_at(token)
        if number is None and token.low not in plain:
            return False
        if number and number.sure and not any(number.agrees(other) for other in values):
            return False
    return True


def _looks_named(token: Token) -> bool:
    if token.low in STOP_WORDS or token.low in NEGATIONS:
        return False
    return token.capital or token.code
