"""A client's list of messages as a question and the history that it follows. Pure.

The client's own system instructions are left out: Helix's grounding rules stand in their place.

Chat clients ask in the background too, for titles, tags, follow-ups and search queries. Open WebUI
and LibreChat send their own prompts to the model that answers, as messages like any other. They are
known by the fixed beginnings of those prompts, to the character, and are no questions to the
documents. A prompt that its operator changed is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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


Kind = Literal["title", "tags", "follow_ups", "queries", "completion", "prompt", "text"]

_OPEN_WEBUI = "### Task:\n"
_BEGINNINGS: tuple[tuple[str, Kind], ...] = (
    # Open WebUI 0.12, and before it from 0.5 on
    (f"{_OPEN_WEBUI}Generate a concise title summarizing the chat history.\n", "title"),
    (f"{_OPEN_WEBUI}Generate a concise, 3-5 word title with an emoji summarizing the chat"
     " history.\n", "title"),
    (f"{_OPEN_WEBUI}Generate 1-3 broad tags categorizing the main themes of the chat history,",
     "tags"),
    (f"{_OPEN_WEBUI}Predict 3-5 useful messages this user might naturally send next", "follow_ups"),
    (f"{_OPEN_WEBUI}Suggest 3-5 relevant follow-up questions or prompts that the user might"
     " naturally ask next", "follow_ups"),
    (f"{_OPEN_WEBUI}Analyze the chat history to determine the necessity of generating search"
     " queries,", "queries"),
    (f"{_OPEN_WEBUI}You are an autocompletion system. Continue the text in `<text>`", "completion"),
    (f"{_OPEN_WEBUI}Generate a detailed prompt for am image generation task", "prompt"),
    (f"{_OPEN_WEBUI}Summarize the conversation history that will be compacted", "text"),
    ("Your task is to reflect the speaker's likely facial expression through a fitting emoji.",
     "text"),
    # LibreChat (@librechat/agents)
    ("Provide a concise, 5-word-or-less title for the conversation, using its same language, with"
     " no punctuation.", "title"),
    ("Provide a concise, 5-word-or-less title for the conversation, using title case conventions."
     " Only return the title itself.", "title"),
)  # fmt: skip
_EMPTY: dict[Kind, Any] = {
    "tags": {"tags": []}, "follow_ups": {"follow_ups": []}, "queries": {"queries": []},
    "completion": {"text": ""}, "prompt": {"prompt": ""},
}  # fmt: skip
_FIRST_QUESTION = (
    ("<chat_history>\nUSER: ", ("\nASSISTANT: ", "\n</chat_history>")),
    ("Conversation:\nUser: ", ("\nAI: ",)),
    ("Conversation:\nHuman: ", ("\nAI: ",)),
)
"""The beginning of a conversation in those prompts, and the end of its first question."""
_LONGEST_TITLE = 60  # characters


@dataclass(frozen=True, slots=True)
class ClientTask:
    """A client's background request: the ``prompt`` that it sent, and what it asks for."""

    kind: Kind
    prompt: str

    def plain_reply(self) -> str:
        """The reply without a model, in the form that the prompt asks for.

        A title is the beginning of the conversation's first question; of all else there is none.
        """
        if self.kind == "title":
            title = _title(self.prompt)
            return json.dumps({"title": title}) if self.prompt.startswith(_OPEN_WEBUI) else title
        return json.dumps(_EMPTY[self.kind]) if self.kind in _EMPTY else ""


def task_in(messages: Sequence[Message]) -> ClientTask | None:
    """The background request that the last message is; None where it is a question."""
    if not messages or messages[-1].role != "user":
        return None
    prompt = messages[-1].text
    kinds = (kind for beginning, kind in _BEGINNINGS if prompt.startswith(beginning))
    kind = next(kinds, None)
    return ClientTask(kind, prompt) if kind else None


def _title(prompt: str) -> str:
    for begins, ends in _FIRST_QUESTION:
        _, found, rest = prompt.partition(begins)
        if found:
            at = min((end for mark in ends if (end := rest.find(mark)) >= 0), default=len(rest))
            line = " ".join(rest[:at].split())
            short = line[:_LONGEST_TITLE]
            return line if line == short else f"{short.rpartition(' ')[0] or short}…"
    return ""
