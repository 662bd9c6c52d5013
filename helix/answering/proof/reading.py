"""Reading: how likely what is cited bears a claim out, in whatever words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from helix.answering.proof.facts import Facts
from helix.answering.proof.model import NAME, NUMBER, WORDS, Support
from helix.answering.proof.passages import Passage
from helix.answering.proof.presence import name_missing, number_missing
from helix.evidence.statements import (
    MOST_SENTENCE,
    MOST_STATEMENT,
    Signs,
    closest,
    statement_reader,
)
from helix.language.sentences import Span
from helix.language.text_cache import MEBIBYTE, text_cache

_COVERED = 0.9
"""Share of the words that all sentences read have, from which on no further one is pointed at."""
_MOST_SPANS = 3

Unit = tuple[Passage, int]
"""A passage and the place of one of its sentences."""


@dataclass(frozen=True)
class Reading:
    """The sentences closest to a claim, closest first, and how likely they bear it out, 0 to 1.

    ``problem`` is what ``veto`` says.
    """

    units: tuple[Unit, ...]
    probability: float
    problem: str | None

    @property
    def is_enough(self) -> bool:
        """True where the probability is that from which on a statement counts as borne out."""
        return self.probability >= statement_reader().bar

    def supports(self, claim: Facts) -> list[Support]:
        """The sentences that have the claim's words, neighbours as one span."""
        chosen = _joined(_covering(claim, self.units))
        return [passage.support(span) for passage, span in chosen]


def read(claim: Facts, passages: Sequence[Passage], found: str | None) -> Reading:
    """The reading of ``claim`` in ``passages``, which words and rules have ``found`` a problem in.

    Some 40 ms of a processor.
    """
    units, signs = signs_of(claim, passages, found)
    probability = statement_reader().probability(signs)
    return Reading(units, probability, veto(claim, passages, signs))


def signs_of(
    claim: Facts, passages: Sequence[Passage], found: str | None
) -> tuple[tuple[Unit, ...], Signs]:
    """The sentences of ``passages`` closest to ``claim``, closest first, and what they show."""
    units = [(passage, place) for passage in passages for place in range(len(passage.units))]
    tokens = [_tokens(passage.facts[place].text) for passage, place in units]
    said, headings = _tokens(claim.text)[:MOST_STATEMENT], _tokens(_title(passages))
    near = closest(said, tokens)
    in_order = [tokens[place] for place in sorted(near)]
    chosen = tuple(units[place] for place in near)
    keys = frozenset[str]().union(*(passage.facts[place].keys for passage, place in chosen))
    share = len(claim.content & keys) / max(len(claim.content), 1)
    return chosen, Signs(*statement_reader().doubt(said, headings, in_order), share, found)


@text_cache(most_bytes=8 * MEBIBYTE, bytes_a_character=12)
def _tokens(text: str) -> list[int]:
    return statement_reader().tokens([text])[0][:MOST_SENTENCE]


def _title(passages: Sequence[Passage]) -> str:
    return passages[0].title if passages else ""


def veto(claim: Facts, passages: Sequence[Passage], signs: Signs) -> str | None:
    """A problem that no reading outweighs.

    A number or name of the claim that stands nowhere in the passages or their headings; and what
    rules found of a claim all of whose words stand in what was read: that is a near copy with
    something else in it.
    """
    if signs.found not in (None, WORDS) and signs.share >= 1:
        return signs.found
    facts = [one for passage in passages for one in passage.facts]
    if number_missing(claim, facts):
        return NUMBER
    capitals = frozenset[str]().union(*(passage.capitals for passage in passages))
    titles = " ".join(passage.title for passage in passages)
    return NAME if name_missing(claim, facts, titles, capitals) else None


def _covering(claim: Facts, units: Sequence[Unit]) -> Iterator[Unit]:
    """The first units until they have nearly all words of the claim that all of them have."""
    keys = [claim.content & passage.facts[place].keys for passage, place in units]
    enough = _COVERED * len(frozenset[str]().union(*keys))
    met: frozenset[str] = frozenset()
    for count, (unit, own) in enumerate(zip(units, keys, strict=True)):
        if count and (len(met) >= enough or count == _MOST_SPANS):
            return
        if not count or not own <= met:
            yield unit
        met |= own


def _joined(units: Iterable[Unit]) -> Iterator[tuple[Passage, Span]]:
    """The spans of units, by their passages and in order; those of neighbours are one."""
    places: dict[Passage, list[int]] = {}
    for passage, place in units:
        places.setdefault(passage, []).append(place)
    for passage, own in places.items():
        for _, run in groupby(enumerate(sorted(own)), lambda one: one[1] - one[0]):
            neighbours = [place for _, place in run]
            start, end = passage.units[neighbours[0]][0], passage.units[neighbours[-1]][1]
            yield passage, (start, end)
