"""Spans that are exactly what a claim says: its very words, or the cells whose values it gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from helix.answering.proof.facts import Facts
from helix.answering.proof.model import Support
from helix.answering.proof.passages import Passage
from helix.answering.proof.presence import same_numbers
from helix.language.folding import copy_words
from helix.language.sentences import Span


class Exact(NamedTuple):
    """The spans that have a claim's words or values; or the problem of the cell that comes closest.

    Neither where the claim is no quote and none of its numbers is a value of a table.
    """

    supports: tuple[Support, ...] = ()
    problem: str | None = None


def exact(claim: Facts, passages: Sequence[Passage]) -> Exact:
    """The spans of one source, by its ``passages``, that are the claim's words or values."""
    words = copy_words(claim.text)
    line = " ".join(["", *words, ""])
    for passage in passages:
        if span := _copied(claim, passage, line, len(words)):
            return Exact((passage.support(span),))
    problem: str | None = None
    for passage in passages:
        proof = passage.rows.prove(claim.text) if passage.rows else None
        if proof and proof.spans:
            return Exact(tuple(map(passage.support, proof.spans)))
        problem = problem or (proof.problem if proof else None)
    return Exact((), problem)


def _copied(claim: Facts, passage: Passage, line: str, count: int) -> Span | None:
    """The span of whole sentences that the claim copies word for word."""
    for place in passage.copies(line, count):
        span, whole = passage.widened(place)
        if not whole or not claim.says:
            continue
        copy = passage.text[slice(*span)]
        if copy == claim.text.strip() or same_numbers(claim, Facts(copy)):
            return span
    return None
