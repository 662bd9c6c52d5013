"""Reading a question within its conversation: whether it is a follow-up, and the memory for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from helix.answering.question import Question, ReadQuestion
from helix.domain.followups import FollowUp, depends, unresolved
from helix.domain.input_text import judged
from helix.domain.memory import Budget, remember
from helix.domain.retrieval import Retrieval
from helix.domain.turns import Turn, TurnKind
from helix.overload.long_work import off_loop_if_long
from helix.retrieval.understanding import Understanding


@dataclass(frozen=True)
class TurnReader:
    """Reads questions of conversations.

    ``understanding`` is None where history changes no search (HELIX_HISTORY_RETRIEVAL=off);
    ``budget`` is the room that it has in a prompt.
    """

    understanding: Understanding | None = field(default_factory=Understanding)
    budget: Budget = field(default_factory=Budget)

    async def read(self, asked: Question) -> ReadQuestion:
        """``asked`` as the turn after its history, where it has one; raises nothing.

        One that is not searched, of an image, is not reworded.
        """
        question, history = judged(asked.text), asked.history
        found = FollowUp(question)
        if history is None:
            return ReadQuestion(asked, question, found)
        understanding = None if asked.images else self.understanding
        if understanding:
            found = await understanding.of(question, history)
        follows = found.depends if understanding else depends(question)
        kind: TurnKind = "dependent" if follows and history.turns else "standalone"
        memory = await off_loop_if_long(history.length, remember, history, self.budget)
        turn = Turn(kind, found.standalone, memory)
        return ReadQuestion(asked, question, found, turn)


async def clarified(read: ReadQuestion, found: Retrieval) -> tuple[ReadQuestion, Retrieval]:
    """The turn as underspecified, without sources, where the question points at a thing unnamed.

    A document that the question names (``found.named``) counts as a named thing.
    """
    history, turn = read.asked.history, read.turn
    if turn is None or history is None:
        return read, found
    if found.named or found.reason in ("no_documents", "filtered_empty"):
        return read, found
    candidates = found.trace.candidates
    if candidates and candidates[0].hit.attached:
        return read, found  # the document that was put to the conversation is meant
    length = len(read.text) + history.length
    thing = await off_loop_if_long(length, unresolved, read.text, history)
    if thing is None:
        return read, found
    turn = replace(turn, kind="underspecified", understood_as=None, unresolved=thing)
    return replace(read, turn=turn), replace(found, reason="underspecified", sources=[])
