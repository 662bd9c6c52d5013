"""Reading: how likely what is cited bears a claim out, in whatever words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from helix.answering.proof.copies import change
from helix.answering.proof.facts import Facts
from helix.answering.proof.model import NAME, NUMBER, WORDS, Support
from helix.answering.proof.passages import Passage
from helix.answering.proof.presence import name_missing, number_missing, without_denials
from helix.evidence.forms import ASKS
from helix.evidence.statements import (
    MOST_READ,
    MOST_SENTENCE,
    MOST_STATEMENT,
    Signs,
    closest,
    statement_reader,
)
from helix.language.sentences import Span
from helix.language.text_cache import MEBIBYTE, text_cache

_CHANGED, _NAME = 1, 2  # words that a sentence may lack where a change is sure: those changed
_COVERED = 0.9
"""Share of the words that all sentences read have, from which on no further one is pointed at."""
_MARKS, _QUOTES = " \n\t#*_!)]", ('"', "'", "“", "”", "„", "«", "»", "‘", "’")
_MOST_SPANS = 3
_LEAST_SHARE = 0.2
"""Share of a claim's words that the sentences read must have more of: of 2,426 claims that hold and
pass 10 have no more, of 957 others 17, and of 13 held against another text 8."""
_BELOW = 0.01
"""The least distance from the bar to the probability of a claim that shares no more."""
_HEARD = 0.05
"""Of 199 true claims with a `not` put in, one passes so, and 28 without; of 110 that deny and hold
33 and 57; of 208 that deny and do not hold 5 and 40."""

Unit = tuple[Passage, int]
"""A passage and the place of one of its sentences."""


@dataclass(frozen=True)
class Reading:
    """The sentences closest to a claim, closest first, and how likely they bear it out, 0 to 1.

    ``probability`` is None where exact checks decide; ``problem`` is None where they bear it out.
    """

    units: tuple[Unit, ...]
    probability: float | None
    problem: str | None

    def supports(self, claim: Facts) -> list[Support]:
        """The sentences that have the claim's words, neighbours as one span."""
        chosen = _joined(_covering(claim, self.units))
        return [passage.support(span) for passage, span in chosen]


@dataclass(frozen=True)
class Comparison:
    """The share of a claim's words that the sentence closest to it lacks, and what is otherwise.

    ``change`` is a problem's name; None where nothing of that kind is found.
    """

    words: int
    lacking: int
    change: str | None

    @property
    def is_sure(self) -> bool:
        """True where the change is all that the sentence lacks; a name may be of two words."""
        if self.change == NAME and self.lacking * 3 <= self.words:
            return self.lacking <= _NAME
        return self.change is not None and self.lacking <= _CHANGED

    @property
    def is_copy(self) -> bool:
        """True where one sentence has all of the claim's words, and none is otherwise."""
        return self.change is None and self.lacking == 0 < self.words

    @property
    def is_near(self) -> bool:
        """True where one sentence has most of the claim's words, and none is otherwise."""
        return self.change is None and self.lacking * 3 <= self.words


def read(claim: Facts, passages: Sequence[Passage]) -> Reading:
    """The reading of ``claim`` in ``passages``; exact checks come first and outweigh the encoder.

    Some 20 ms of a processor where none of them decides.
    """
    if problem := missing(claim, passages):
        return Reading((), None, problem)
    if not _said(claim):  # letters that the encoder has no token for
        return Reading((), None, WORDS)
    units = closest_units(claim, passages)
    if not units:  # the encoder's doubt of a claim read with nothing means nothing
        return Reading((), None, WORDS)
    units, told = _with_answers(claim, units)
    if _is_asked(claim, units):
        return Reading((), None, WORDS)
    compared = comparison(claim, told)
    if compared.is_sure or compared.is_copy:
        return Reading(units, None, compared.change)
    signs = signs_of(claim, units, compared)
    probability = statement_reader().probability(signs)
    if signs.share <= _LEAST_SHARE:
        probability = min(probability, statement_reader().bar - _BELOW)
    if probability >= statement_reader().bar:
        probability = _with_denials_heard(claim, passages, probability)
    is_enough = probability >= statement_reader().bar
    return Reading(units, probability, None if is_enough else compared.change or WORDS)


def _with_answers(claim: Facts, units: Sequence[Unit]) -> tuple[tuple[Unit, ...], list[Unit]]:
    """The units, behind each question among them the next sentence; and those that do not ask.

    Of a claim that asks, questions are statements too. The last units are left out where answers
    take the room of what is read.
    """
    if _is_question(claim.text):
        return tuple(units), list(units)
    found, room = dict[Unit, None](), MOST_READ
    for passage, place in units:
        own = (
            [(passage, place), (passage, place + 1)]
            if _asks((passage, place))
            else [(passage, place)]
        )
        for unit in own:
            if unit not in found and unit[1] < len(passage.units) and room > 0:
                found[unit] = None
                room -= len(_tokens_of(unit))
    return tuple(found), [unit for unit in found if not _asks(unit)]


def _is_asked(claim: Facts, units: Sequence[Unit]) -> bool:
    """True where words of the claim stand in questions alone, and what else is said adds none.

    `Is it open? No.` does not bear out that it is open. That a `Yes.` would is left in doubt.
    """
    if _is_question(claim.text):
        return False
    parts = [part for unit in units for part in _cells(unit)]
    asked = _stems(part for part in parts if _is_question(part.text))
    said = _stems(part for part in parts if not _is_question(part.text))
    return bool(claim.stems & asked - said) and claim.stems & said <= asked


def _cells(unit: Unit) -> list[Facts]:
    """The unit, or its cells where it is a row with a question: `| Is it open? | No |`."""
    passage, place = unit
    facts = passage.facts[place]
    is_row = "|" in facts.text and any(mark in facts.text for mark in ASKS)
    return [Facts(cell) for cell in facts.text.split("|")] if is_row else [facts]


def _stems(texts: Iterable[Facts]) -> frozenset[str]:
    return frozenset[str]().union(*(text.stems for text in texts))


def _asks(unit: Unit) -> bool:
    passage, place = unit
    return _is_question(passage.facts[place].text)


def _is_question(text: str) -> bool:
    """True where a text ends in a question mark, but for marks of Markdown and closing ones.

    `He asks "why?"` tells something; a quotation alone does not.
    """
    bare = text.strip(_MARKS)
    if bare.startswith(_QUOTES):
        bare = bare.rstrip(_MARKS + "".join(_QUOTES))
    return bare.endswith(ASKS)


def _with_denials_heard(claim: Facts, passages: Sequence[Passage], probability: float) -> float:
    """The probability of a claim that denies, below the bar where its denial adds nothing to it.

    The encoder overhears a `not`. That it heard it shows where the claim without its denials is
    read as less likely, by _HEARD.
    """
    bare = without_denials(claim)
    if bare == " ".join(claim.text.split()):
        return probability
    other = read(Facts(bare), passages)
    if other.probability is None and other.problem:
        return probability
    likely = 1.0 if other.probability is None else other.probability
    return max(0.0, min(probability, statement_reader().bar + probability - likely - _HEARD))


def missing(claim: Facts, passages: Sequence[Passage]) -> str | None:
    """``number`` or ``name`` where one of the claim stands nowhere in passages and headings."""
    facts = [one for passage in passages for one in passage.facts]
    if number_missing(claim, facts):
        return NUMBER
    capitals = frozenset[str]().union(*(passage.capitals for passage in passages))
    titles = " ".join(passage.title for passage in passages)
    return NAME if name_missing(claim, facts, titles, capitals) else None


def comparison(claim: Facts, units: Sequence[Unit]) -> Comparison:
    """The comparison of a claim with those of ``units`` that lack the fewest of its words."""
    facts = [passage.facts[place] for passage, place in units]
    words = len(claim.content)
    lacking = [len(claim.content - one.stems) for one in facts]
    least = min(lacking, default=words)
    if not facts or least * 2 > words:
        return Comparison(words, least, None)
    nearest = (one for one, count in zip(facts, lacking, strict=True) if count == least)
    changes = [change(claim, one) for one in nearest]
    return Comparison(words, least, None if None in changes else changes[0])


def closest_units(claim: Facts, passages: Sequence[Passage]) -> tuple[Unit, ...]:
    """The sentences of ``passages`` that have most of the claim's words together, best first."""
    units = [(passage, place) for passage in passages for place in range(len(passage.units))]
    near = closest(_said(claim), [_tokens_of(unit) for unit in units])
    return tuple(units[place] for place in near)


def signs_of(claim: Facts, units: Sequence[Unit], compared: Comparison) -> Signs:
    """The signs of a claim that is read with ``units``."""
    stems = _stems(passage.facts[place] for passage, place in units)
    share = len(claim.content & stems) / max(len(claim.content), 1)
    headings = _tokens(units[0][0].title) if units else []
    read = [_tokens_of(unit) for unit in sorted(units, key=_position)]
    doubt = statement_reader().doubt(_said(claim), headings, read)
    return Signs(*doubt, share, compared.is_near, compared.is_copy)


def _position(unit: Unit) -> tuple[int, int, int]:
    passage, place = unit
    return passage.n, passage.hit.start_char or 0, place


def _said(claim: Facts) -> list[int]:
    return _tokens(claim.text)[:MOST_STATEMENT]


def _tokens_of(unit: Unit) -> list[int]:
    passage, place = unit
    return _tokens(passage.facts[place].text)


@text_cache(most_bytes=8 * MEBIBYTE, bytes_a_character=12)
def _tokens(text: str) -> list[int]:
    return statement_reader().tokens([text])[0][:MOST_SENTENCE]


def _covering(claim: Facts, units: Sequence[Unit]) -> Iterator[Unit]:
    """The first units until they have nearly all words of the claim that all of them have."""
    words = [claim.content & passage.facts[place].stems for passage, place in units]
    enough = _COVERED * len(frozenset[str]().union(*words))
    met: frozenset[str] = frozenset()
    for count, (unit, own) in enumerate(zip(units, words, strict=True)):
        if count and (len(met) >= enough or count == _MOST_SPANS):
            return
        if not count or not own <= met:
            yield unit
        met |= own


def _joined(units: Iterable[Unit]) -> Iterator[tuple[Passage, Span]]:
    """The spans of units, by their passages and in order; those of neighbours are one."""
    places: dict[Passage, list[int]] = {}
    for passage, place in sorted(units, key=_position):
        places.setdefault(passage, []).append(place)
    for passage, own in places.items():
        for _, run in groupby(enumerate(own), lambda one: one[1] - one[0]):
            neighbours = [place for _, place in run]
            start, end = passage.units[neighbours[0]][0], passage.units[neighbours[-1]][1]
            yield passage, (start, end)
