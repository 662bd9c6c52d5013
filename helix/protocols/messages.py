"""A client's list of messages as a question and the history that it follows. Pure.

The client's own system instructions are left out: Helix's grounding rules stand in their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from helix.domain.citations import is_refusal
from helix.domain.contract import REFUSAL
from helix.domain.history import EarlierTurn, History
from helix.domain.input_text import LONGEST_EARLIER, bounded
from helix.errors import BadRequest

MOST_TURNS = 50
"""Turns of a history; the prompt has as many of them as fit (HELIX_HISTORY_CHARS)."""
MOST_MESSAGES = 1000
"""Messages that are looked at, the last ones: a body has room for 80,000, which take 0.3 s and
30 MB as objects of a schema, for as long as the question waits."""
MOST_PARTS = 10_000
"""Parts of one message."""
UNPROVEN = "(The documents bear out no statement of this answer.)"
"""The last line of such an answer, for clients that show nothing but its text."""
_LINKED = re.compile(r"\[([0-9]{1,9})\]\([^()\s]*\)")


class Message(NamedTuple):
    """One message: its ``role``, and its text."""

    role: str
    text: str


def latest(messages: Any) -> Any:
    """The last MOST_MESSAGES of a list that was not checked yet; anything else as it is."""
    return messages[-MOST_MESSAGES:] if isinstance(messages, list) else messages


def with_few_parts(content: Any) -> Any:
    """A message's content that was not checked yet; raises ValueError where it has too many."""
    if isinstance(content, list) and len(content) > MOST_PARTS:
        raise ValueError(f"a message has {MOST_PARTS} parts at most")
    return content


def question_of_messages(messages: Iterable[Message]) -> tuple[str, History | None]:
    """The last question, and the history of answered turns before it; None without any.

    Roles other than ``user`` and ``assistant`` are left out. User messages that follow each other
    are one; one that was not answered is no turn.

    Raises:
        BadRequest: the last message is not the user's, or one has over LONGEST_EARLIER characters.
    """
    turns: list[EarlierTurn] = []
    questions: list[str] = []
    answers: list[str] = []
    for number, message in enumerate(messages, 1):
        if message.role in ("user", "assistant"):
            bounded(f"message {number}", message.text, LONGEST_EARLIER)
        if message.role == "user":
            if answers:
                turns.append(_turn(questions, answers))
                questions, answers = [], []
            questions.append(message.text)
        elif message.role == "assistant" and questions and message.text:
            answers.append(message.text)
    if not questions or answers:
        raise BadRequest("the last message must be the user's: it is the question")
    question = "\n\n".join(questions)
    return question, History(tuple(turns[-MOST_TURNS:])) if turns else None


def _turn(questions: list[str], answers: list[str]) -> EarlierTurn:
    """A turn as Helix's own conversations have it, without what was added for the client."""
    answer = _LINKED.sub(r"[\1]", "\n".join(answers)).rstrip().removesuffix(UNPROVEN).rstrip()
    abstained = is_refusal(answer)
    return EarlierTurn(
        "\n\n".join(questions), REFUSAL if abstained else answer, abstained=abstained
    )
