"""Prove an answer: for each of its statements the span of a cited source that says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from helix.answering.proof.aggregated import aggregated
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
from helix.answering.proof.passages import Passage, exact, is_placed
from helix.answering.proof.reading import missing, read
from helix.answering.proof.results import result_problem, support_of_result
from helix.answering.proof.statements import (
    CitedPart,
    CitedSentence,
    Claims,
    claims_of,
    statements_of,
)
from helix.domain.aggregates import Computed
from helix.domain.context import Source
from helix.language.words import copy_words

_LONGEST_READ = 2000  # characters of a claim that is read
_LOOKED_UP = 2  # sources in which a statement without a marker is read
_MOST_JOINED = 4  # sentences of an answer that are tried as one quote


class _Verdict(NamedTuple):
    """The spans of a part of a statement, or its problem; ``probability`` of what was read."""

    supports: Sequence[Support]
    problem: str | None
    probability: float | None = None


def prove(
    answer: str,
    sources: Sequence[Source],
    calculations: Sequence[Computed] = (),
    question: str = "",
    *,
    looks_up: bool = False,
) -> Proof:
    """The spans that the statements of ``answer`` rest on, among ``sources``, numbered from 1.

    A statement is supported when each of its parts (what stands in front of a marker) is in what is
    cited there: its very words; or the cells of a table that it gives; or, where all its numbers
    and names stand in the sources, the words of sentences that likely bear it out
    (helix.answering.proof.reading). So is one that writes out one of ``calculations``, whose
    operands stand in what it cites; and one that gives the result of a tool, which is a source of
    its own, of numbers of the ``question``.

    A statement that what it cites does not bear out is looked for in the other sources, which may
    have its very words: it stays unsupported, and has the spans of that source.

    ``looks_up``: a statement that cites nothing is looked for in the sources that have most of its
    words, and supported by the first that bears it out (``Statement.by_proof``).

    Never raises. Takes under 1 ms for two sentences that quote, some 30 for one in other words.
    """
    return _Prover(sources, calculations, question, looks_up=looks_up).prove(answer)


def prover_of_pieces(
    sources: Sequence[Source], calculations: Sequence[Computed] = (), question: str = ""
) -> Callable[[str], Proof]:
    """``prove``, which looks up, for the pieces of one answer: it reads each source once."""
    return _Prover(sources, calculations, question, looks_up=True).prove


class _Prover:
    """The passages of the sources, each read once an answer, and only where cited."""

    def __init__(
        self,
        sources: Sequence[Source],
        calculations: Sequence[Computed] = (),
        question: str = "",
        *,
        looks_up: bool = False,
    ) -> None:
        self._question = question
        self._looks_up = looks_up
        self._sources = sources
        self._calculations = calculations
        self._passages: dict[int, list[Passage]] = {}
        self._judged: dict[tuple[str, tuple[int, ...]], _Verdict] = {}

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
            operands = tuple(passage.support(span) for passage, span in computed.spans)
            return Statement(start, end, numbers, operands, None, calculation=computed.calculation)
        read: list[float] = []
        for part in sentence.parts:
            of_tools = any(self._sources[n - 1].hit.tool for n in part.numbers)
            one = self._of_tools(part, sentence) if of_tools else self._part(part)
            read += [] if one.probability is None else [one.probability]
            if one.problem:
                problem = computed.problem if computed else one.problem
                found = self._elsewhere(sentence)
                return Statement(start, end, numbers, found, problem, probability=one.probability)
            supports |= dict.fromkeys(one.supports)
        least = min(read, default=None)
        return Statement(start, end, numbers, tuple(supports), None, probability=least)

    def _looked_up(self, sentence: CitedSentence) -> Statement:
        """A sentence that cites nothing, by the first source that bears it out."""
        start, end = sentence.start, sentence.end
        for n in self._nearest(sentence.text) if self._looks_up else ():
            part = CitedPart(sentence.text, (n,))
            of_tool = self._sources[n - 1].hit.tool
            one = self._of_tools(part, sentence) if of_tool else self._part(part)
            if one.problem is None:
                found = tuple(one.supports)
                return Statement(
                    start, end, (n,), found, None, by_proof=True, probability=one.probability
                )
        return Statement(start, end, (), (), NO_MARKER)

    def _elsewhere(self, sentence: CitedSentence) -> tuple[Support, ...]:
        """The spans of a source that a sentence does not cite, with all of its words or cells."""
        claim = Facts(" ".join(part.text for part in sentence.parts))
        for n, source in enumerate(self._sources, 1):
            if n in sentence.numbers or source.hit.tool:
                continue
            if found := exact(claim, self._passages_of(n)).supports:
                return found
        return ()

    def _nearest(self, text: str) -> Sequence[int]:
        """The tools' results, and of the other sources those with most of the words of ``text``."""
        claim = Facts(text)
        numbers = range(1, len(self._sources) + 1)
        tools = [n for n in numbers if self._sources[n - 1].hit.tool]
        near = {n: self._nearness(claim, n) for n in numbers if n not in tools}
        return tools + sorted(near, key=lambda n: near[n], reverse=True)[:_LOOKED_UP]

    def _nearness(self, claim: Facts, n: int) -> tuple[bool, int]:
        """True where a source has the claim itself; how many of its words a sentence has."""
        passages = self._passages_of(n)
        shared = (len(claim.content & one.stems) for each in passages for one in each.facts)
        return bool(exact(claim, passages).supports), max(shared, default=0)

    def _computed(self, sentence: CitedSentence) -> CalculatedProof | None:
        """Proof of a sentence by the calculations; None where it writes out none."""
        if not self._calculations:
            return None
        cited = [passage for n in sentence.numbers for passage in self._passages_of(n)]
        found = aggregated(sentence.text, self._calculations, cited)
        return found or calculated(sentence.text, self._calculations, cited)

    def _of_tools(self, part: CitedPart, sentence: CitedSentence) -> _Verdict:
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
                return _Verdict([support_of_result(n, hit)], None)
        return _Verdict((), problem)

    def _part(self, part: CitedPart) -> _Verdict:
        """The spans of a part, or its problem; a text that an answer repeats is judged once."""
        key = part.text, part.numbers
        if key not in self._judged:
            self._judged[key] = self._judge(Facts(part.text), part.numbers)
        return self._judged[key]

    def _judge(self, claim: Facts, numbers: Sequence[int]) -> _Verdict:
        """By the very words or a table's cells, else by reading what else is cited."""
        found = {n: exact(claim, self._passages_of(n)) for n in numbers}
        if supports := [support for one in found.values() for support in one.supports]:
            return _Verdict(supports, None)
        problem = next((one.problem for one in found.values() if one.problem), None)
        passages = [passage for n in numbers for passage in self._passages_of(n)]
        if not any(passage.units for passage in passages) or len(claim.text) > _LONGEST_READ:
            return _Verdict((), problem or (WORDS if passages else UNPLACED))
        if several := claims_of(claim.text):
            return self._all(several, numbers)
        reading = read(claim, passages)
        supports = [] if reading.problem else reading.supports(claim)
        problem = (problem or reading.problem) if reading.problem else None
        return _Verdict(supports, problem, reading.probability)

    def _all(self, claims: Claims, numbers: Sequence[int]) -> _Verdict:
        """The spans of all claims of a part, or the problem of the first that has one."""
        passages = [passage for n in numbers for passage in self._passages_of(n)]
        if problem := missing(Facts(claims.label), passages):
            return _Verdict((), problem)
        each = [self._part(CitedPart(text, tuple(numbers))) for text in claims.sentences]
        if failed := next((one for one in each if one.problem), None):
            return failed
        read = [one.probability for one in each if one.probability is not None]
        supports = dict.fromkeys(support for one in each for support in one.supports)
        return _Verdict(tuple(supports), None, min(read, default=None))
