"""Roles around a verb: a test that two things have changed places around a word."""

from __future__ import annotations

from helix.answering.proof.facts import Facts
from helix.language.terms import STOP_WORDS, terms
from helix.language.word_lists import word_lists

_LISTS = word_lists("qualifiers")
_PASSIVE = _LISTS["passive"]
_DETERMINERS = _LISTS["determiners"]
_PREPOSITIONS = _LISTS["prepositions"]
_BEING = _LISTS["being"]
_SILENT = STOP_WORDS | word_lists("words")["german_stop_words"]


def roles_swapped(claim: Facts, span: Facts) -> bool:
    """True if two things have changed places around a verb that both have between them.

    `Carthage defeated Rome`, of `Rome defeated Carthage`; not where one of the verbs is passive,
    nor in a list, nor where a phrase with its preposition has moved (`in May prices fell`).
    """
    ours, theirs = _places(claim), _places(span)
    if len(ours) < 3 or not _mostly(ours, theirs):
        return False
    if _PASSIVE & (set(claim.lows) ^ set(span.lows)) or claim.negations or span.negations:
        return False
    common = [key for key in theirs if key in ours]
    moved = [key for key in common if not _same_phrase(claim, ours[key], span, theirs[key])]
    alike = len(common) >= 0.8 * len(theirs)
    for middle in common:
        at, there = ours[middle], theirs[middle]
        if not _may_be_verb(claim, at) or not _may_be_verb(span, there):
            continue
        if _is_passive(claim, at) != _is_passive(span, there):
            continue
        first = [k for k in moved if theirs[k] < there and ours[k] > at]
        second = [k for k in moved if theirs[k] > there and ours[k] < at]
        if (
            first
            and second
            and (alike or (_named(span, theirs, first) and _named(span, theirs, second)))
        ):
            return True
    return False


def _may_be_verb(facts: Facts, at: int) -> bool:
    """True if a word may be a verb: no name, in no list, behind no article or preposition."""
    token = facts.tokens[at]
    before = facts.tokens[at - 1].low if at else ""
    named = token.capital and not token.first
    return not named and not _listed(facts, at) and before not in _DETERMINERS | _PREPOSITIONS


def _is_passive(facts: Facts, at: int) -> bool:
    return not _BEING.isdisjoint(facts.lows[max(0, at - 2) : at])


def _same_phrase(claim: Facts, at: int, span: Facts, there: int) -> bool:
    """True if both have the word behind the same preposition: then it keeps its role."""
    ours, theirs = _preposition(claim, at), _preposition(span, there)
    return ours is not None and ours == theirs


def _preposition(facts: Facts, at: int) -> str | None:
    """The preposition in front of a word, or of its article or adjective."""
    before = facts.lows[max(0, at - 2) : at][::-1]
    return next((low for low in before if low in _PREPOSITIONS), None)


def _named(span: Facts, theirs: dict[str, int], keys: list[str]) -> bool:
    tokens = [span.tokens[theirs[key]] for key in keys]
    return any(token.capital or token.code for token in tokens)


def _mostly(ours: dict[str, int], theirs: dict[str, int]) -> bool:
    return len(ours.keys() & theirs.keys()) >= 0.8 * len(ours) and len(theirs) <= 40


def _places(facts: Facts) -> dict[str, int]:
    """The place of each content word that comes once; numbers left out."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for at, token in enumerate(facts.tokens):
        single = len(token.raw) == 1 and token.capital and not token.first and token.raw != "I"
        if (token.low in _SILENT and not single) or facts.measures(token):
            continue
        key = token.raw if single else next(iter(terms(token.low)), token.low)
        if key in found:
            twice.add(key)
        found[key] = at
    return {key: at for key, at in found.items() if key not in twice}


def _listed(facts: Facts, at: int) -> bool:
    """True if a word is one of a list: next to a comma, `and` or `or`."""
    tokens = facts.tokens
    near = {t.low for t in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])}
    token = tokens[at]
    end = token.at + len(token.raw)
    commas = "," in facts.text[max(0, token.at - 2) : token.at] + facts.text[end : end + 1]
    return commas or not near.isdisjoint(("and", "or", "und", "oder"))
