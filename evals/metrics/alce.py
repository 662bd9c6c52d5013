"""Citation recall and precision as ALCE defines them (Gao et al. 2023, arXiv:2305.14627, 3.3).

Recall of a statement: 1 where what it cites, taken together, entails it; one that cites nothing, or
a source that is not there, has 0. Precision of a citation: 0 where its statement has no recall, or
where it does not entail the statement alone while the others do without it; else 1. An answer's
are the means over its statements and its citations, without any citation both 0.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from helix.answering.proof import prove
from helix.domain.context import Source


@dataclass(frozen=True)
class Cited:
    """A statement without its markers, and the numbers that it cites, from 1.

    ``parts`` are what stood between its markers.
    """

    parts: tuple[str, ...]
    numbers: tuple[int, ...]

    @property
    def text(self) -> str:
        """The whole statement."""
        return " ".join(self.parts)


Entails = Callable[[Cited, Sequence[Source]], Awaitable[bool]]
"""A test that the sources together entail a statement."""


@dataclass(frozen=True)
class CitationScores:
    """Of one answer, each 0 to 1."""

    recall: float
    precision: float


async def citation_scores(
    statements: Sequence[Cited], sources: Sequence[Source], entails: Entails
) -> CitationScores:
    """Both measures of an answer's statements over its numbered sources."""
    recalled, needed = 0, list[bool]()
    for statement in statements:
        supported, precise = await _of(statement, sources, entails)
        recalled += supported
        needed += precise
    return CitationScores(
        recalled / len(statements) if statements else 0.0,
        sum(needed) / len(needed) if needed else 0.0,
    )


async def _of(
    statement: Cited, sources: Sequence[Source], entails: Entails
) -> tuple[bool, list[bool]]:
    """The support of the statement (true or false), and the need of each of its citations."""
    numbers = tuple(dict.fromkeys(statement.numbers))
    known = all(1 <= number <= len(sources) for number in numbers)
    if not numbers or not known:
        return False, [False] * len(numbers)
    cited = [sources[number - 1] for number in numbers]
    if not await entails(statement, cited):
        return False, [False] * len(numbers)
    if len(cited) == 1:
        return True, [True]
    return True, [await _needed(statement, place, cited, entails) for place in range(len(cited))]


async def _needed(said: Cited, place: int, cited: Sequence[Source], entails: Entails) -> bool:
    if await entails(said, [cited[place]]):
        return True
    others = [source for number, source in enumerate(cited) if number != place]
    return not await entails(said, others)


async def entails_by_span(statement: Cited, sources: Sequence[Source]) -> bool:
    """True where a span of one of the sources proves each part of the statement; no model."""
    markers = "".join(f"[{number}]" for number in range(1, len(sources) + 1))
    proof = prove(" ".join(f"{part} {markers}" for part in statement.parts), sources)
    return bool(proof.statements) and all(one.problem is None for one in proof.statements)
