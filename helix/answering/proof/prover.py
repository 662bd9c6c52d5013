"""Prove an answer: for each of its statements the span of a cited source that says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from helix.answering.proof.calculated import CalculatedProof, calculated
from helix.answering.proof.facts import Facts
from helix.answering.proof.model import (
    NO_MARKER,
    NO_SOURCE,
    UNPLACED,
    WORDS,
    Proof,
    Statement,
    Support,
)
from helix.answering.proof.passages import Passage, is_placed
from helix.answering.proof.presence import same_numbers
from helix.answering.proof.results import result_problem, support_of_result
from helix.answering.proof.rules import RULES, Candidate, Rule
from helix.answering.proof.statements import CitedPart, CitedSentence, statements_of
from helix.domain.calculations import Calculation
from helix.domain.context import Source
from helix.language.folding import copy_words
from helix.language.sentences import Span

ENOUGH = (0.65, 0.8, 0.8)
"""Least share of a claim's content words in a span of one, two and three sentences
(evals/PROOF.md). A wider span has more words by chance."""
_TOGETHER = 0.75  # of several sources' spans
_PART = 0.25  # and each one's own share
_TRIED = 3  # spans of each length that are looked at in full
_MOST_WORDS = 400  # of a claim that is no copy; no reader would call it one
_MOST_JOINED = 4  # sentences of an answer that are tried as one quote


class _Outcome(NamedTuple):
    """The spans found, or what was wrong with the closest, which has ``share`` of the words."""

    supports: tuple[Support, ...]
    problem: str | None
    closest: tuple[Passage, Span, Candidate] | None
    share: float


def prove(
    answer: str,
    sources: Sequence[Source],
    rules: Sequence[Rule] = RULES,
    calculations: Sequence[Calculation] = (),
    question: str = "",
    *,
    looks_up: bool = False,
) -> Proof:
    """The spans that the statements of ``answer`` rest on, among ``sources``, numbered from 1.

    A statement is supported when, for each of its parts (what stands in front of a marker), one
    span of a source cited there has all its numbers and names, denies what it denies, and has most
    of its content words; or the closest spans of several cited sources together do. A span is one
    to three consecutive sentences within one chunk, or the very words of the statement. So is one
    that writes out one of ``calculations``, whose operands stand in what it cites; and one that
    gives the result of a tool, which is a source of its own, of numbers of the ``question``.

    ``looks_up``: a statement that cites nothing is looked for in all sources, in their order, and
    supported by the first that has such a span (``Statement.by_proof``).

    Never raises. Takes about as long as reading what is cited: under 1 ms for two sentences that
    quote, a few for ones that paraphrase.
    """
    return _Prover(sources, rules, calculations, question, looks_up=looks_up).prove(answer)


def prover_of_pieces(
    sources: Sequence[Source], calculations: Sequence[Calculation] = (), question: str = ""
) -> Callable[[str], Proof]:
    """``prove``, which looks up, for the pieces of one answer: it reads each source once."""
    return _Prover(sources, RULES, calculations, question, looks_up=True).prove


class _Prover:
    """The passages of the sources, each read once an answer, and only where cited."""

    def __init__(
        self,
        sources: Sequence[Source],
        rules: Sequence[Rule],
        calculations: Sequence[Calculation] = (),
        question: str = "",
        *,
        looks_up: bool = False,
    ) -> None:
        self._question = question
        self._looks_up = looks_up
        self._sources = sources
        self._calculations = calculations
        self._rules = rules
        self._passages: dict[int, list[Passage]] = {}
        self._judged: dict[tuple[str, tuple[int, ...]], tuple[list[Support], str | None]] = {}

    def prove(self, answer: str) -> Proof:
        sentences = self._quotes_joined(statements_of(answer))
        return Proof(tuple(map(self._statement, sentences)))

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

    def _quotes_joined(self, sentences: list[CitedSentence]) -> list[CitedSentence]:
        """Sentences that cite nothing join the next one that does, where a source has them so.

        A quote of several sentences has one marker, at its end.
        """
        joined: list[CitedSentence] = []
        for each in sentences:
            joined.append(each)
            first, count = each.parts[0], 0
            for back in range(1, _MOST_JOINED if each.numbers else 0):
                if len(joined) <= back or joined[-1 - back].numbers:
                    break
                text = " ".join([*(one.text for one in joined[-1 - back : -1]), each.parts[0].text])
                if self._is_copy(text, each.parts[0].numbers):
                    first, count = CitedPart(text, each.parts[0].numbers), back
            if count:
                start = joined[-1 - count].start
                joined[-1 - count :] = [CitedSentence(start, each.end, [first, *each.parts[1:]])]
        return joined

    def _is_copy(self, text: str, numbers: Sequence[int]) -> bool:
        words = copy_words(text)
        line = " ".join(["", *words, ""])
        return any(
            any(passage.copies(line, len(words)))
            for n in numbers
            if self._is_source(n)
            for passage in self._passages_of(n)
        )

    def _statement(self, sentence: CitedSentence) -> Statement:
        start, end, numbers = sentence.start, sentence.end, sentence.numbers
        if not numbers:
            return self._looked_up(sentence)
        if not all(map(self._is_source, numbers)):
            return Statement(start, end, numbers, (), NO_SOURCE)
        supports: dict[Support, None] = {}
        if (computed := self._computed(sentence)) and computed.calculation:
            found = [passage.support(span) for passage, span in computed.spans]
            return Statement(
                start, end, numbers, tuple(found), None, calculation=computed.calculation
            )
        for part in sentence.parts:
            of_tools = any(self._sources[n - 1].hit.tool for n in part.numbers)
            found, problem = self._of_tools(part, sentence) if of_tools else self._part(part)
            if problem:
                problem = computed.problem if computed else problem
                return Statement(start, end, numbers, (), problem)
            supports |= dict.fromkeys(found)
        return Statement(start, end, numbers, tuple(supports), None)

    def _looked_up(self, sentence: CitedSentence) -> Statement:
        """A sentence that cites nothing, by the first source that bears it out."""
        start, end = sentence.start, sentence.end
        for n in range(1, len(self._sources) + 1 if self._looks_up else 1):
            part = CitedPart(sentence.text, (n,))
            of_tool = self._sources[n - 1].hit.tool
            found, problem = self._of_tools(part, sentence) if of_tool else self._part(part)
            if problem is None:
                return Statement(start, end, (n,), tuple(found), None, by_proof=True)
        return Statement(start, end, (), (), NO_MARKER)

    def _computed(self, sentence: CitedSentence) -> CalculatedProof | None:
        """What the calculations say of a sentence; None where it writes out none."""
        if not self._calculations:
            return None
        cited = [passage for n in sentence.numbers for passage in self._passages_of(n)]
        return calculated(sentence.text, self._calculations, cited)

    def _of_tools(
        self, part: CitedPart, sentence: CitedSentence
    ) -> tuple[list[Support], str | None]:
        """The result that bears a part out, or its problem; a passage cited beside does not."""
        beside = " ".join(
            other.text
            for other in sentence.parts
            if other.numbers and not any(self._sources[n - 1].hit.tool for n in other.numbers)
        )
        problem: str | None = None
        for n in part.numbers:
            hit = self._sources[n - 1].hit
            if not hit.tool:
                continue
            problem = result_problem(part.text, hit.tool, self._question, beside)
            if problem is None:
                return [support_of_result(n, hit)], None
        return [], problem

    def _part(self, part: CitedPart) -> tuple[list[Support], str | None]:
        """The spans of a part, or its problem; a text that an answer repeats is judged once."""
        key = part.text, part.numbers
        if key not in self._judged:
            claim = Facts(part.text)
            outcomes = [self._in_source(claim, n) for n in part.numbers]
            found = [support for outcome in outcomes for support in outcome.supports]
            found = found or self._together(claim, outcomes)
            closest = max(outcomes, key=lambda outcome: outcome.share)
            self._judged[key] = found, None if found else closest.problem
        return self._judged[key]

    def _in_source(self, claim: Facts, n: int) -> _Outcome:
        passages = self._passages_of(n)
        words = copy_words(claim.text)
        line = " ".join(["", *words, ""])
        for passage in passages:
            if span := _copied(claim, passage, line, len(words)):
                return _Outcome((passage.support(span),), None, None, 1.0)
        closest = _Outcome((), UNPLACED if not passages else WORDS, None, -1.0)
        for passage in passages:
            outcome = _of_cell(claim, passage)
            if outcome and outcome.supports:
                return outcome
            closest = max(closest, outcome or closest, key=lambda one: one.share)
        if len(words) > _MOST_WORDS:
            return closest
        for passage in passages:
            outcome = self._in_passage(claim, passage)
            if outcome.supports:
                return outcome
            closest = max(closest, outcome, key=lambda one: one.share)
        return closest

    def _in_passage(self, claim: Facts, passage: Passage) -> _Outcome:
        """The best of the spans of one to three sentences: the shortest, then the fullest."""
        wanted = claim.content
        best = _Outcome((), WORDS, None, 0.0)
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
                problem, final = self._problem(claim, candidate, enough=about and share >= enough)
                if problem is None:
                    return _Outcome((passage.support(span),), None, None, share)
                if share > best.share:
                    best = _Outcome((), problem, (passage, span, candidate), share)
                if final:
                    return _Outcome((), problem, None, share)
        return best

    def _problem(
        self, claim: Facts, candidate: Candidate, *, enough: bool
    ) -> tuple[str | None, bool]:
        """The first condition that fails, and whether that is the last word on the passage."""
        problems = (rule.problem(claim, candidate) for rule in self._rules if rule.of_presence)
        problem = next(filter(None, problems), None)
        if problem is None and not enough:
            return WORDS, False
        for rule in self._rules:
            if rule.of_presence or (problem and not rule.final):
                continue
            if found := rule.problem(claim, candidate):
                return found, rule.final
        return problem, False

    def _together(self, claim: Facts, outcomes: Sequence[_Outcome]) -> list[Support]:
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
        for rule in self._rules:
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


def _of_cell(claim: Facts, passage: Passage) -> _Outcome | None:
    """What the rows of a passage say of the claim; None where none of its numbers is a value."""
    if not passage.rows or not (proof := passage.rows.prove(claim.text)):
        return None
    return _Outcome(tuple(map(passage.support, proof.spans)), proof.problem, None, 1.0)


def _same_subject(claim: Facts, candidate: Candidate, passage: Passage) -> bool:
    """Whether a sentence has the claim's first content word, where the passage has it at all."""
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
    """Whether the first and the last part have words that no other has; the middle need not."""
    first, *middle, last = (part & words for part in parts)
    between = middle[0] if middle else 0
    return bool(first & ~(last | between)) and bool(last & ~(first | between))
