"""Turns as they are served: what the one answering path says to each, offline, by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.conversations.searches import history_of
from evals.datasets.mtrag import ConversationTurn
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question, asks_which
from helix.services import open_services
from helix.settings import Settings


@dataclass(frozen=True)
class Served:
    """The outcome of a turn.

    ``asked_back``: `Which actor do you mean?` in place of an answer; ``asked_on``: the same with a
    refusal. Neither counts a question that only offers documents.
    """

    asked_back: bool
    asked_on: bool
    refused: bool

    @property
    def answered(self) -> bool:
        """True where something was answered."""
        return not (self.refused or self.asked_back)


async def serve_turns(settings: Settings, turns: Sequence[ConversationTurn]) -> list[Served]:
    """The outcome of each turn after those before it; the passages are stored."""
    found: list[Served] = []
    async with open_services(settings) as services:
        for turn in turns:
            question = Question(turn.asked[-1], history=history_of(turn))
            answer = await AnswerRequest(services.answering, question, recorded=False).run()
            back = answer.reason == "underspecified"
            refused = answer.abstained and not back
            which = asks_which(answer.clarifying_question)
            found.append(Served(back, refused and which, refused))
    return found
