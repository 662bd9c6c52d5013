"""Prove an answer: for each of its statements the span of a cited source that says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from helix.context import Source
from helix.proof.agreement import (
    alteration,
    name_missing,
    number_missing,
    polarity_differs,
    same_numbers,
)
from helix.proof.clauses import contradicted, misplaced
from helix.proof.facts import Facts
from helix.proof.folding import folded_words
from helix.proof.model import (
    CLAIM,
    NAME,
    NEGATION,
    NO_MARKER,
    NO_SOURCE,
    NUMBER,
    UNPLACED,
    WORDS,
    Proof,
    Statement,
    Support,
)
from helix.proof.passages import Passage, is_placed
from helix.proof.qualifiers import claims_more, roles_swapped
from helix.proof.statements import Part, Said, statements_of
from helix.text import Span

ENOUGH = (0.65, 0.8, 0.8)
"""Least share of a statement's content words in a span of one, two and three sentences
(evals/PROOF.md). A wider span has more words by chance."""
_TOGETHER = 0.75  # of several sources' spans
_PART = 0.25  # and each one's own share
_TRIED = 3  # spans of each length that are looked at in full
_MOST_WORDS = 400  # of a statement that is no copy; no reader would call it one
_MOST_JOINED = 4  # sentences of an answer that are tried as one quote


class _Outcome(NamedTuple):
    """The span found, or what was wrong with the closest: ``closest`` is its units' facts."""

    support: Support | None
    problem: str | None
    closest: tuple[Passage, Span, tuple[Facts, ...]] | None
    share: float


class _Closest(NamedTuple):
    share: float
    units: range


def prove(answer: str, sources: Sequence[Source]) -> Proof:
    """The spans that the statements of ``answer`` rest on, among ``sources``, numbered from 1.

    A statement is supported when, for each of its parts (what stands in front of a marker), one
    span of a source cited there has all its numbers and names, denies what it denies, and has most
    of its content words; or the closest spans of several cited sources together do. A span is one
    to three consecutive sentences within one chunk, or the very words of the statement.

    Never raises. Takes about as long as reading what is cited: under 1 ms for two sentences that
    quote, a few for ones that paraphrase.
    """
    return _Prover(sources).prove(answer)


class _Prover:
    """The passages of the sources, each read once an answer, and only where cited."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._passages: dict[int, list[Passage]] = {}
        self._judged: dict[tuple[str, tuple[int, ...]], tuple[list[Support], str | None]] = {}

    def prove(self, answer: str) -> Proof:
        said = self._joined(answer, statements_of(answer))
        return Proof(tuple(map(self._statement, said)))

    def _passages_of(self, n: int) -> list[Passage]:
        if n not in self._passages:
            source = self._sources[n - 1]
            placed = [hit for hit in source.hits if is_placed(hit)]
            # the hit that the source is cited by comes first, where several have the words
            placed.sort(key=lambda hit: hit.chunk_id != source.chunk_id)
            self._passages[n] = [Passage(n, source, hit) for hit in placed]
        return self._passages[n]

    def _is_source(self, n: int) -> bool:
        return 1 <= n <= len(self._sources)

    def _joined(self, answer: str, said: list[Said]) -> list[Said]:
        """Sentences that cite nothing join the next one that does, where a source has them so.

        A quote of several sentences has one marker, at its end.
        """
        joined: list[Said] = []
        for each in said:
            joined.append(each)
            if not each.numbers:
                continue
            best = 0
            for back in range(1, _MOST_JOINED):
                before = joined[-1 - back : -1]
                if len(before) < back or before[0].numbers:
                    break
                text = " ".join([*(one.text for one in before), each.parts[0].text])
                best = back if self._is_copy(text, each.parts[0].numbers) else best
            if best:
                before = joined[-1 - best : -1]
                first = Part(" ".join([*(b.text for b in before), each.parts[0].text]),
                             each.parts[0].numbers)  # fmt: skip
                whole = Said(before[0].start, each.end, [first, *each.parts[1:]])
                joined[-1 - best :] = [whole]
        return joined

    def _is_copy(self, text: str, numbers: Sequence[int]) -> bool:
        words = folded_words(text)
        line = " ".join(["", *words, ""])
        return any(
            any(passage.copies(line, len(words)))
            for n in numbers
            if self._is_source(n)
            for passage in self._passages_of(n)
        )

    def _statement(self, said: Said) -> Statement:
        numbers = said.numbers
        if not numbers:
            return Statement(said.start, said.end, (), (), NO_MARKER)
        if not all(map(self._is_source, numbers)):
            return Statement(said.start, said.end, numbers, (), NO_SOURCE)
        supports: list[Support] = []
        problem = None
        for part in said.parts:
            found, wrong = self._part_once(part)
            supports += [support for support in found if support not in supports]
            problem = problem or wrong
        return Statement(said.start, said.end, numbers, tuple(supports) if not problem else (),
                         problem)  # fmt: skip

    def _part_once(self, part: Part) -> tuple[list[Support], str | None]:
        """Each text that an answer repeats is judged once."""
        key = part.text, part.numbers
        if key not in self._judged:
            self._judged[key] = self._part(part)
        return self._judged[key]

    def _part(self, part: Part) -> tuple[list[Support], str | None]:
        said = Facts(part.text)
        outcomes = [self._in_source(said, n) for n in part.numbers]
        found = [outcome.support for outcome in outcomes if outcome.support]
        if found:
            return found, None
        if len(outcomes) > 1:
            found = _together(said, outcomes)
            if found:
                return found, None
        return [], max(outcomes, key=lambda outcome: outcome.share).problem

    def _in_source(self, said: Facts, n: int) -> _Outcome:
        passages = self._passages_of(n)
        words = folded_words(said.text)
        line = " ".join(["", *words, ""])
        for passage in passages:
            span = _copied(said, passage, line, len(words))
            if span:
                return _Outcome(passage.support(span), None, None, 1.0)
        closest = _Outcome(None, UNPLACED if not passages else WORDS, None, -1.0)
        if len(words) > _MOST_WORDS:
            return closest
        for passage in passages:
            outcome = _in_passage(said, passage)
            if outcome.support:
                return outcome
            closest = max(closest, outcome, key=lambda one: one.share)
        return closest


def _copied(said: Facts, passage: Passage, line: str, count: int) -> Span | None:
    """The span that the statement copies word for word: whole sentences, or more than three."""
    for place in passage.copies(line, count):
        span, whole = passage.widened(place)
        if not whole or not said.says:
            continue
        copy = passage.text[slice(*span)]
        if copy == said.text.strip() or same_numbers(said, Facts(copy)):
            return span
    return None


def _in_passage(said: Facts, passage: Passage) -> _Outcome:
    """The best of the spans of one to three sentences: the shortest, then the fullest."""
    wanted = said.content
    if not wanted:
        return _Outcome(None, WORDS, None, 0.0)
    masks: dict[int, int] = {}
    for bit, stem in enumerate((*wanted, *(said.stems - wanted))):
        for place in passage.places_of.get(stem, ()):
            masks[place] = masks.get(place, 0) | 1 << bit
    best = _Outcome(None, WORDS, None, 0.0)
    for length, enough in enumerate(ENOUGH, 1):
        for share, units in _fullest(masks, length, len(wanted)):
            facts = tuple(passage.facts[units.start : units.stop])
            span = passage.units[units.start][0], passage.units[units.stop - 1][1]
            problem, final = _problem(said, passage, facts, enough=share >= enough)
            if problem is None:
                return _Outcome(passage.support(span), None, None, share)
            if share > best.share:
                best = _Outcome(None, problem, (passage, span, facts), share)
            if final:
                return _Outcome(None, problem, None, share)
    return best


def _fullest(masks: dict[int, int], length: int, count: int) -> Iterator[_Closest]:
    """The spans of so many units that have most of the words, at most a few.

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
    for matched, _, start in scored[:_TRIED]:
        yield _Closest(matched / count, range(-start, -start + length))


def _all_add(parts: list[int], words: int) -> bool:
    """Whether the first and the last part have words that no other has; the middle need not."""
    first, *middle, last = (part & words for part in parts)
    between = middle[0] if middle else 0
    return bool(first & ~(last | between)) and bool(last & ~(first | between))


def _problem(
    said: Facts, passage: Passage, facts: tuple[Facts, ...], *, enough: bool
) -> tuple[str | None, bool]:
    """The first condition that fails, and whether that is the last word on the passage."""
    problem = None
    if number_missing(said, facts):
        problem = NUMBER
    elif name_missing(said, facts, passage.title, passage.capitals):
        problem = NAME
    elif polarity_differs(said, facts):
        problem = NEGATION
    elif not enough:
        problem = WORDS
    if problem == WORDS:
        return problem, False
    whole = facts[0] if len(facts) == 1 else _whole(facts)
    altered = alteration(said, whole)
    if altered:
        return altered, True
    return problem or _misread(said, whole, one=len(facts) == 1), False


def _misread(said: Facts, span: Facts, *, one: bool) -> str | None:
    """What is wrong though every word, number and name is there."""
    if misplaced(said, span):
        return NUMBER
    if contradicted(said, span):
        return NEGATION
    if one and roles_swapped(said, span):
        return NAME
    return CLAIM if claims_more(said, span) else None


def _whole(facts: tuple[Facts, ...]) -> Facts:
    return Facts("\n".join(each.text for each in facts))


def _together(said: Facts, outcomes: Sequence[_Outcome]) -> list[Support]:
    """The closest spans of several sources, where they say the statement only together."""
    parts = [one.closest for one in outcomes if one.closest and one.share >= _PART]
    if len(parts) < 2:
        return []
    facts = [each for _, _, several in parts for each in several]
    covered = said.content & frozenset[str]().union(*(each.stems for each in facts))
    titles = " ".join(passage.title for passage, _, _ in parts)
    known = frozenset().union(*(passage.capitals for passage, _, _ in parts))
    if len(covered) < _TOGETHER * len(said.content):
        return []
    if number_missing(said, facts) or name_missing(said, facts, titles, known):
        return []
    if polarity_differs(said, facts) or any(alteration(said, each) for each in facts):
        return []
    return [passage.support(span) for passage, span, _ in parts]
