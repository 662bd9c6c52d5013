"""Statements that no source supports, but an earlier answer of the conversation has. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

from helix.answering.proof import Proof
from helix.domain.citations import MARKER
from helix.domain.history import EarlierTurn, History
from helix.domain.question_analysis import numbers_in
from helix.language.terms import terms

ENOUGH = 0.8
"""Least share of a statement's terms that the earlier answer has, as two sentences of a source."""
_CITED = ("chunk_id", "document_id", "title", "page", "quote", "start", "end")


class FromHistory(TypedDict):
    """A statement, ``answer[start:end]``, that rests on an earlier answer alone.

    ``turns_before`` counts back from the question, which follows turn 1; ``citations`` are those of
    the earlier answer.
    """

    start: int
    end: int
    turns_before: int
    citations: list[dict[str, Any]]


def from_history(answer: str, proof: Proof, history: History) -> list[FromHistory]:
    """The statements of ``answer`` that ``proof`` leaves unsupported and an earlier answer has."""
    return list(_found(answer, proof, history))


def _found(answer: str, proof: Proof, history: History) -> Iterator[FromHistory]:
    for statement in proof.statements:
        if statement.problem is None:
            continue
        text = MARKER.sub(" ", answer[statement.start : statement.end])
        for back, turn in enumerate(reversed(history.turns), 1):
            if not turn.abstained and _says(turn, text):
                cited = [{key: one.get(key) for key in _CITED} for one in turn.citations]
                yield FromHistory(
                    start=statement.start, end=statement.end, turns_before=back, citations=cited
                )
                break


def _says(turn: EarlierTurn, text: str) -> bool:
    said = MARKER.sub(" ", turn.answer)
    wanted, known = set(terms(text)), set(terms(said))
    if not wanted or not numbers_in(text) <= numbers_in(said):
        return False
    return len(wanted & known) >= ENOUGH * len(wanted)
