"""Background requests of chat clients: titles, tags, follow-ups, search queries. Pure.

Open WebUI and LibreChat send their own prompts to the model that answers, as messages like any
other. They are known by the fixed beginnings of those prompts, to the character, and are no
questions to the documents. A prompt that its operator changed is not known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helix.protocols.messages import Message

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
