"""Spans: the sentences of a source that say a claim, by their words and by rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from helix.answering.proof.facts import Facts
from helix.answering.proof.model import UNPLACED, WORDS, Support
from helix.answering.proof.passages import Passage
from helix.answering.proof.presence import same_numbers
from helix.answering.proof.rules import Candidate, Rule
from helix.language.folding import copy_words
from helix.language.sentences import Span

ENOUGH = (0.65, 0.8, 0.8)
"""Least share of a claim's content words in a span of one, two and three sentences
(evals/PROOF.md). A wider span has more words by chance."""
_TOGETHER = 0.75  # of several sources' spans
_PART = 0.25  # and each one's own share
_TRIED = 3  # spans of each length that are looked at in full
_MOST_WORDS = 400  # of a claim that is no copy; no reader would call it one


class Outcome(NamedTuple):
    """The spans found, or what was wrong with the closest, which has ``share`` of the words.

    ``is_exact``: the spans have the claim's very words, or are the cells that it gives; or the
    claim nearly copies a sentence, and has something else in it.
    """

    supports: tuple[Support, ...]
    problem: str | None
    closest: tuple[Passage, Span, Candidate] | None
    share: float
    is_exact: bool = False


def outcome_of(claim: Facts, passages: Sequence[Passage], rules: Sequence[Rule]) -> Outcome:
    """The span of one source, by its ``passages``, that says ``claim``, or what is wrong."""
    words = copy_words(claim.text)
    line = " ".join(["", *words, ""])
    for passage in passages:
        if span := _copied(claim, passage, line, len(words)):
            return Outcome((passage.support(span),), None, None, 1.0, is_exact=True)
    closest = Outcome((), UNPLACED if not passages else WORDS, None, -1.0)
    for passage in passages:
        outcome = _of_cell(claim, passage)
        if outcome and outcome.supports:
            return outcome
        closest = max(closest, outcome or closest, key=lambda one: one.share)
    if len(words) > _MOST_WORDS:
        return closest
    for passage in passages:
        outcome = _in_passage(claim, passage, rules)
        if outcome.supports:
            return outcome
        closest = max(closest, outcome, key=lambda one: one.share)
    return closest


def _in_passage(claim: Facts, passage: Passage, rules: Sequence[Rule]) -> Outcome:
    """The best of the spans of one to three sentences: the shortest, then the fullest."""
    wanted = claim.content
    best = Outcome((), WORDS, None, 0.0)
    masks: dict[int, int] = {}
    for bit, stem in enumerate((*wanted, *(claim.keys - wanted))):
        for place in passage.places_of.get(stem, ()):
            masks[place] = masks.get(place, 0) | 1 << bit
    for length, enough in enumerate(ENOUGH, 1):
        for share, units in _fullest(masks, length, len(wanted)):
            span = passage.units[units.start][0], passage.units[units.stop - 1][1]
            facts = tuple(passage.facts[units.start : units.stop])
            candidate = Candidate(facts, (passage,))
            about = length > 1 or _same_subject(claim, candidate, passage)
            problem, final = _problem(claim, candidate, rules, enough=about and share >= enough)
            if problem is None:
                return Outcome((passage.support(span),), None, None, share)
            if share > best.share:
                best = Outcome((), problem, (passage, span, candidate), share)
            if final:
                return Outcome((), problem, None, share, is_exact=True)
    return best


def _problem(
    claim: Facts, candidate: Candidate, rules: Sequence[Rule], *, enough: bool
) -> tuple[str | None, bool]:
    """The first condition that fails, and whether that is the last word on the passage."""
    problems = (rule.problem(claim, candidate) for rule in rules if rule.of_presence)
    problem = next(filter(None, problems), None)
    if problem is None and not enough:
        return WORDS, False
    for rule in rules:
        if rule.of_presence or (problem and not rule.final):
            continue
        if found := rule.problem(claim, candidate):
            return found, rule.final
    return problem, False


def together(claim: Facts, outcomes: Sequence[Outcome], rules: Sequence[Rule]) -> list[Support]:
    """The closest spans of several sources, where they say the claim only together."""
    parts = [one.closest for one in outcomes if one.closest and one.share >= _PART]
    if len(parts) < 2:
        return []
    facts = tuple(each for _, _, candidate in parts for each in candidate.facts)
    passages = tuple(passage for passage, _, _ in parts)
    covered = claim.content & frozenset[str]().union(*(each.keys for each in facts))
    if len(covered) < _TOGETHER * len(claim.content):
        return []
    whole = Candidate(facts, passages)
    each_alone = [Candidate((one,), passages) for one in facts]
    for rule in rules:
        tried = [whole] if rule.of_presence else each_alone if rule.final else []
        if any(rule.problem(claim, candidate) for candidate in tried):
            return []
    return [passage.support(span) for passage, span, _ in parts]


def _copied(claim: Facts, passage: Passage, line: str, count: int) -> Span | None:
    """The span that the claim copies word for word: whole sentences, or more than three."""
    for place in passage.copies(line, count):
        span, whole = passage.widened(place)
        if not whole or not claim.says:
            continue
        copy = passage.text[slice(*span)]
        if copy == claim.text.strip() or same_numbers(claim, Facts(copy)):
            return span
    return None


def _of_cell(claim: Facts, passage: Passage) -> Outcome | None:
    """Proof of the claim by the rows of a passage; None where none of its numbers is a value."""
    if not passage.rows or not (proof := passage.rows.prove(claim.text)):
        return None
    spans = tuple(map(passage.support, proof.spans))
    return Outcome(spans, proof.problem, None, 1.0, is_exact=True)


def _same_subject(claim: Facts, candidate: Candidate, passage: Passage) -> bool:
    """True if a sentence has the claim's first content word, where the passage has it at all."""
    first = claim.first_key
    return first not in passage.places_of or first in candidate.facts[0].keys


def _fullest(masks: dict[int, int], length: int, count: int) -> Iterator[tuple[float, range]]:
    """The spans of so many units that have most of the words, at most a few: share and units.

    The first ``count`` bits of a mask are content words, the others numbers, which only decide
    between equals. Of several units the first and the last have words that the others have not:
    one that only brings in a number may belong to something else.
    """
    scored: list[tuple[int, int, int]] = []
    words = (1 << count) - 1
    for start in masks:
        parts = [masks.get(place, 0) for place in range(start, start + length)]
        whole = 0
        for part in parts:
            whole |= part
        if length == 1 or _all_add(parts, words):
            scored.append(((whole & words).bit_count(), (whole & ~words).bit_count(), -start))
    scored.sort(reverse=True)
    for matched, _, start in scored[:_TRIED] if count else ():
        yield matched / count, range(-start, -start + length)


def _all_add(parts: list[int], words: int) -> bool:
    """True if the first and the last part have words that no other has; the middle need not."""
    first, *middle, last = (part & words for part in parts)
    between = middle[0] if middle else 0
    return bool(first & ~(last | between)) and bool(last & ~(first | between))
