"""Near copies: claims with a sentence's words but for a change that makes them say otherwise.

What is compared is exact: numbers, names and denials in the places where both have the same words,
the order of the words, and the clause that a number stands in. Sentences that say it in other
words are left to reading (helix.answering.proof.reading).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise

from helix.answering.proof.clauses import is_contradicted, is_number_of_another
from helix.answering.proof.facts import Facts, Token
from helix.answering.proof.lexicon import (
    CONDITIONS,
    EXCEPTIONS,
    NEGATIONS,
    changes_claim,
    opposites,
)
from helix.answering.proof.model import CLAIM, NAME, NEGATION, NUMBER
from helix.answering.proof.numbers import NUMBER_WORDS
from helix.answering.proof.presence import number_missing, polarity_differs
from helix.language.terms import STOP_WORDS, terms
from helix.language.word_lists import word_lists

_CLOSE = 0.6
"""Share of a claim's words that stand in a sentence in order, from which word by word differences
are taken for alterations."""
_NEARLY_ALL = 0.8
_RUN = 3  # words in a row that call for the same number or name after them; one less in near copies
_SHORT = 3  # words of a difference that puts one thing for another
_MOST_WORDS = 400  # of a claim or a sentence compared word by word
_JOINING = frozenset("and but or und aber oder".split())
_COMMON = frozenset("company corporation group firm agency organization university".split())
_UN = ("un", "in", "im", "il", "ir", "non", "dis")
_AGENT = frozenset("by von durch".split())
_ARTICLES = frozenset(
    "the a an its his her their our your der die das den dem des ein eine einen einem einer".split()
)
_BEING = frozenset("is are was were be been being ist sind war waren wird werden".split())
_SILENT = STOP_WORDS | word_lists("words")["german_stop_words"]
Code = tuple[str, int, int, int, int]


def change(claim: Facts, sentence: Facts) -> str | None:
    """The kind of change in a claim that has nearly all its words from ``sentence``.

    Returns ``number``, ``name``, ``negation`` or ``claim``, which is another quantity, duty or
    condition; None where nothing of that is found.
    """
    if number_missing(claim, [sentence]):
        return NUMBER
    if polarity_differs(claim, sentence) or is_contradicted(claim, sentence):
        return NEGATION
    if is_number_of_another(claim, sentence):
        return NUMBER
    return _altered(claim, sentence) or (NAME if _swapped(claim, sentence) else None)


def _altered(claim: Facts, span: Facts) -> str | None:
    """The fault in the first place where a claim and a sentence with its words in order differ."""
    ours, theirs = claim.tokens, span.tokens
    if max(len(ours), len(theirs)) > _MOST_WORDS or len(set(claim.lows)) * 4 < len(ours):
        return None  # the comparison takes cubic time on what repeats itself
    matcher = SequenceMatcher(None, span.lows, claim.lows, autojunk=False)
    blocks = matcher.get_matching_blocks()
    matched = sum(block.size for block in blocks)
    if matched < max(1, _CLOSE * len(ours)):
        return None
    run = _RUN - (matched >= _NEARLY_ALL * len(ours))
    first, last = blocks[0], blocks[-2]
    edges = {0, last.a + last.size} - {first.a, len(theirs)}
    if CONDITIONS.isdisjoint(claim.lows) and any(theirs[at].low in CONDITIONS for at in edges):
        return CLAIM
    codes = matcher.get_opcodes()
    for place, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            # what goes on otherwise after the same words: `Physics in 1911` for `Physics in 1903`
            joins = any(_joins(code, theirs, ours) for code in codes[place + 1 : place + 2])
            after = (theirs[b : b + 1], ours[d : d + 1])
            goes_on = b - a >= run and all(after) and not joins
            found = _exchanged(*after, span, claim) if goes_on else None
        elif b <= first.a:
            found = _difference(theirs[max(a, b - _SHORT) : b], ours[c:d], span, claim, inner=False)
        elif a >= last.a + last.size:
            found = _difference(theirs[a : min(b, a + _SHORT)], ours[c:d], span, claim, inner=False)
        else:
            found = _difference(theirs[a:b], ours[c:d], span, claim, inner=True)
        if found:
            return found
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
    """The fault where both differ in one place; at its ends a sentence may be cut freely."""
    denied = sum(map(claim.is_negation, ours)) - sum(map(span.is_negation, theirs))
    excepted = any(n.excepts for n in span.negations) and not any(
        n.excepts for n in claim.negations
    )
    if denied > 0 and not excepted:
        return NEGATION
    near = inner and len(theirs) <= _SHORT + 1
    # `may not on Sundays`, of `may except on Sundays`
    turned = excepted and claim.negations and any(t.low in EXCEPTIONS for t in theirs)
    if denied < 0 and near and not turned:
        return NEGATION
    if near and _loses_prefix(theirs, ours):
        return NEGATION
    if max(len(ours), len(theirs)) > _SHORT:
        return None
    if changes_claim([t.low for t in theirs], [t.low for t in ours], claim.lows):
        return CLAIM
    return _exchanged(theirs, ours, span, claim) if theirs and ours else None


def _exchanged(theirs: list[Token], ours: list[Token], span: Facts, claim: Facts) -> str | None:
    lows = {t.low for t in theirs}
    wanted = {t.low for t in ours} - lows
    if any(_numeric(t) for t in ours if t.low in wanted) and any(map(_numeric, theirs)):
        return None if _same_values(ours, theirs, claim, span) else NUMBER
    flipped = bool(NEGATIONS & wanted) != bool(NEGATIONS & (lows - {t.low for t in ours}))
    if not flipped and any(not lows.isdisjoint(opposites(low)) for low in wanted):
        return NEGATION
    names = [t for t in ours if t.low in wanted and _looks_named(t) and not claim.measures(t)]
    if names and any(_looks_named(t) and t.low not in _COMMON for t in theirs):
        known = {stem for t in theirs for stem in terms(t.low)}
        letters = "".join(t.raw[0] for t in theirs)
        if not all(set(terms(t.low)) & known or t.raw in letters for t in names):
            return NAME
    return NAME if _renamed(theirs, ours, claim) else None


def _loses_prefix(theirs: list[Token], ours: list[Token]) -> bool:
    """True if the claim has a word without the prefix that denies it: `effective`."""
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


def _swapped(claim: Facts, span: Facts) -> bool:
    """True if two things have changed places around a third: `Carthage defeated Rome`.

    A phrase that moves as a whole goes backwards once (`in May prices fell`); two things that
    change places do so twice. Other words between them, as of a passive, may turn them around.
    """
    ours, theirs = _SILENT.intersection(claim.lows), _SILENT.intersection(span.lows)
    if not ours <= theirs or _AGENT & (theirs - ours) or claim.negations or span.negations:
        return False
    there = {key: (at, led) for at, (key, led) in enumerate(_in_order(span))}
    said = [(key, led) for key, led in _in_order(claim) if key in there]
    places = [there[key][0] for key, led in said if not led or led != there[key][1]]
    return sum(behind < before for before, behind in pairwise(places)) > 1


def _in_order(facts: Facts) -> list[tuple[str, str]]:
    """The content words that come once, in their order; without numbers and items of lists."""
    found = list(_keys_in_order(facts))
    keys = [key for key, _ in found]
    return [one for one in found if keys.count(one[0]) == 1][:_MOST_WORDS]


def _keys_in_order(facts: Facts) -> Iterator[tuple[str, str]]:
    tokens = facts.tokens
    for at, token in enumerate(tokens):
        letter = len(token.raw) == 1 and token.capital and not token.first and token.raw != "I"
        if (token.low in _SILENT and not letter) or facts.measures(token):
            continue
        end = token.at + len(token.raw)
        commas = "," in facts.text[max(0, token.at - 2) : token.at] + facts.text[end : end + 1]
        beside = {t.low for t in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])}
        if not commas and beside.isdisjoint(_JOINING):
            led = next((t.low for t in tokens[:at][::-1] if t.low not in _ARTICLES), "")
            key = token.raw if letter else next(iter(terms(token.low)), token.low)
            yield key, led if led in _SILENT - _BEING else ""
