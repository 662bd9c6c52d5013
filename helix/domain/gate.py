"""The refusal decision, pure: is anything found near enough, or named enough, to ask the model?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

RARE_SHARE = 0.01
RARE_CHUNKS = 3
"""An identifier is rare in at most this share of a tenant's chunks, or in at most as many."""

_COUNT = re.compile(r"\d{1,4}|(?=[\d.]*+,)[\d.,]+")


@dataclass(frozen=True)
class LexicalMatch:
    """A question's words, and how many of them the best of the chunks found has.

    ``words`` counts the distinct words of a question but its function words, those that no chunk
    has included; ``identifiers`` those of them that are identifiers and rare in the tenant's
    chunks; ``together`` is the most of them that one chunk has, of those that the search gave.
    """

    words: int
    identifiers: int
    together: int

    @property
    def exact(self) -> bool:
        """True if one chunk has every word, a rare identifier among them."""
        return self.identifiers > 0 and self.together >= self.words


@dataclass(frozen=True)
class Estimate:
    """The likelihood, 0 to 1, that what was found answers, by the calibrated gate.

    ``least`` is enough to pass. ``bounded``: only within the ceiling of the distance, for somebody
    set it. ``signals`` are what the estimate was made from.
    """

    score: float
    least: float
    bounded: bool = False
    signals: tuple[float, ...] = ()

    @property
    def enough(self) -> bool:
        return self.score >= self.least


@dataclass(frozen=True)
class GateDecision:
    """``passed``: the model may be asked. ``best``: the nearest cosine distance, None if none.

    ``by_name``: it passed by its lexical match alone. ``estimate``: what the calibrated gate went
    by; None where the distance decided. ``by_evidence``: it passed only because what was found
    answers, by the model of evidence.
    """

    passed: bool
    best: float | None
    by_name: bool = False
    estimate: Estimate | None = None
    by_evidence: bool = False


def is_identifier(word: str) -> bool:
    """True if a term names something: ``404b``, ``§3``, ``us-gaap_2``, ``10.1``, ``36743``.

    It has a digit beside something else, or five digits: a year or a count names nothing.
    """
    return bool(re.search(r"\d", word)) and not _COUNT.fullmatch(word)


def decide(
    distances: Sequence[float],
    max_distance: float,
    lexical: LexicalMatch | None = None,
    estimate: Estimate | None = None,
    answers: bool = False,
) -> GateDecision:
    """Pass when the nearest of ``distances`` (cosine, 0 to 2) is at most ``max_distance``.

    No chunk, or only chunks at no distance (NaN: a question or chunk whose vector is zero, such
    as a text without one known word), does not pass. A lower ceiling never admits more.

    With ``lexical`` a question that this refuses passes too if the match is exact, whatever the
    distance: vectors know little of identifiers (docs/decisions/0017-gate-two-signals.md). Leave it
    None where nothing was found, or where the distance alone is to decide.

    With ``estimate`` that decides in the distance's place, within the ceiling where it is bounded
    (docs/decisions/0024-calibrated-gate.md).

    ``answers``: what was found answers by the model of evidence: that passes, however far it is.
    """
    known = [distance for distance in distances if distance == distance]  # NaN equals nothing
    best = min(known) if known else None
    near = best is not None and best <= max_distance
    if estimate is not None:
        near = best is not None and estimate.enough and (near or not estimate.bounded)
    named = lexical is not None and lexical.exact
    return GateDecision(
        passed=near or named or answers,
        best=best,
        by_name=named and not near,
        estimate=estimate,
        by_evidence=answers and not (near or named),
    )
