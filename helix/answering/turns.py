"""Reading a question within its conversation: whether it is a follow-up, and the memory for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from helix.domain.ellipsis import depends
from helix.domain.followups import FollowUp
from helix.domain.history import History
from helix.domain.memory import Budget, remember
from helix.domain.retrieval import Retrieval
from helix.domain.turns import Turn, TurnKind
from helix.domain.unresolved_references import unresolved
from helix.overload.long_work import off_loop_if_long
from helix.retrieval.understanding import Understanding


class ReadTurn(NamedTuple):
    """The question's search, and its turn."""

    follow_up: FollowUp
    turn: Turn


@dataclass(frozen=True)
class TurnReader:
    """Reads questions of conversations.

    ``understanding`` is None where history changes no search (HELIX_HISTORY_RETRIEVAL=off);
    ``budget`` is the room that it has in a prompt.
    """

    understanding: Understanding | None = field(default_factory=Understanding)
    budget: Budget = field(default_factory=Budget)

    async def read(self, question: str, history: History, *, searched: bool = True) -> ReadTurn:
        """``question`` read as the turn after ``history``; raises nothing.

        One that is not ``searched``, of an image, is not reworded.
        """
        found = FollowUp(question)
        if self.understanding and searched:
            found = await self.understanding.of(question, history)
        follows = found.depends if self.understanding and searched else depends(question)
        follows = follows and bool(history.turns)
        understood = _understood(question, found)
        kind: TurnKind = "dependent" if follows else "standalone"
        memory = await off_loop_if_long(history.length, remember, history, self.budget)
        return ReadTurn(found, Turn(kind, understood, memory))


async def clarified(
    question: str, history: History, turn: Turn, retrieval: Retrieval
) -> tuple[Turn, Retrieval]:
    """The turn as underspecified, without sources, where the question points at a thing unnamed.

    A document that the question names (``retrieval.named``) counts as a named thing.
    """
    if retrieval.named or retrieval.reason in ("no_documents", "filtered_empty"):
        return turn, retrieval
    length = len(question) + history.length
    candidates = retrieval.trace.candidates
    phrase = await off_loop_if_long(length, unresolved, question, history, candidates)
    if phrase is None:
        return turn, retrieval
    turn = replace(turn, kind="underspecified", understood_as=None, unresolved=phrase)
    return turn, replace(retrieval, reason="underspecified", sources=[])


def _understood(question: str, found: FollowUp) -> str | None:
    """The question in full, where it was put so; None where it was searched as it is written."""
    if found.standalone:
        return found.standalone
    return found.question if found.question != question else None
