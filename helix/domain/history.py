"""Questions and answers so far in a conversation, for the question that follows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A question that was answered: its text, the answer as its reader saw it, and what it cites.

    ``abstained``: the answer is a refusal. ``documents``: ids of those whose words it may have.
    """

    question: str
    answer: str
    citations: tuple[Mapping[str, Any], ...] = ()
    abstained: bool = False
    documents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """The turns before a question, on the path that it goes on with, oldest first.

    ``summary`` stands for the ``summarised`` oldest turns of the path; ``turns`` may begin later
    or earlier than where it ends.
    """

    turns: tuple[EarlierTurn, ...] = ()
    summary: str = ""
    summarised: int = 0

    @property
    def length(self) -> int:
        """Characters of all questions, answers and the summary."""
        turns = (len(turn.question) + len(turn.answer) for turn in self.turns)
        return sum(turns) + len(self.summary)

    @property
    def documents(self) -> set[int]:
        """Ids of documents whose words its answers may have."""
        return {document for turn in self.turns for document in turn.documents}
