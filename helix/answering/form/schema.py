"""The JSON schema of an answer in blocks, what a model is told of it, and when it is asked for."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from time import monotonic
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.providers.base import LanguageModel
from helix.settings.values import AnswerForm

_logger = logging.getLogger(__name__)

PARAGRAPH = "paragraph"
LIST_ITEM = "list item"
CODE = "code"
TABLE_ROW = "table row"
KINDS = (PARAGRAPH, LIST_ITEM, CODE, TABLE_ROW)
MOST_SOURCES = 3
"""Source numbers of one block."""
MOST_BLOCKS = 60
"""A small model that repeats itself would otherwise go on to the end of its context."""
BROKEN_SECONDS = 600.0
"""Seconds for which a server that breaks over the schema is asked for text: an outage ends."""

FORM_RULES = """\
Reply in JSON on one line, in the form {"blocks":[{"kind":…,"sources":[…],"text":…}]}: each block \
has its kind (paragraph, list item, code or table row), in "sources" the numbers of the sources \
that state it, and its "text" without source numbers. The first table row names the columns.
If the context does not contain the answer, the list is empty."""
"""Follow the grounding rules in their channel, word for word the same for every question, so that a
server which keeps the beginning of prompts has them."""


def with_form_rules(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """``messages`` with FORM_RULES at the end of their system message, which is the first."""
    system = f"{messages[0].content}\n{FORM_RULES}"
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), *messages[1:]]


def answer_schema(sources: int) -> dict[str, Any]:
    """The JSON schema of an answer from ``sources`` numbered sources, 1 at least.

    Of the keywords of JSON schema it has those that Gemini, OpenAI's strict mode, llama.cpp, vLLM
    and Ollama all know. An empty list is the refusal. A block's sources stand in front of its
    text, so that each sentence is sent with its markers, and because a model that has named a
    source first writes what stands there.
    """
    number = {"type": "integer", "enum": list(range(1, sources + 1))}
    properties = {
        "kind": {"type": "string", "enum": list(KINDS)},
        "sources": {"type": "array", "items": number, "minItems": 1, "maxItems": MOST_SOURCES},
        "text": {"type": "string"},
    }
    blocks = {"type": "array", "items": closed_object(properties), "maxItems": MOST_BLOCKS}
    return closed_object({"blocks": blocks})


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has all of ``properties``, by name, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class FormChoice:
    """The form of a process's answers, as HELIX_ANSWER_FORM has it.

    With ``auto`` a server that refuses the schema, or does not hold its model to it, is asked for
    text from then on; one that breaks over it, for ``BROKEN_SECONDS``.
    """

    def __init__(self, form: AnswerForm = "auto") -> None:
        self._form = form
        self._refusing: dict[str, float] = {}  # until when
        self._doubted: dict[str, float] = {}  # since when

    def schema_options(self, llm: LanguageModel, sources: int) -> dict[str, Any] | None:
        """The arguments of ``astream_chat`` for blocks from so many sources; None: text."""
        if self._form == "text" or not sources or llm.schema_options is None:
            return None
        if self._form == "auto" and not (llm.prefers_schema and self._may_be_asked(llm)):
            return None
        return llm.schema_options(answer_schema(sources))

    def _may_be_asked(self, llm: LanguageModel) -> bool:
        return self._refusing.get(llm.identity, 0.0) <= monotonic()

    @property
    def may_fall_back(self) -> bool:
        """True if a server that refuses the schema may be asked for text."""
        return self._form == "auto"

    def held(self, llm: LanguageModel) -> None:
        """Note that the server of ``llm`` answered by the schema."""
        self._doubted.pop(llm.identity, None)

    def refused(self, llm: LanguageModel) -> None:
        """Note that the server of ``llm`` answered without the schema, which it refused."""
        self._ask_for_text(llm, math.inf, "from now on")

    def broke(self, llm: LanguageModel, asked: float) -> None:
        """Note that the server of ``llm`` answered without the schema, over which it broke.

        ``asked``: when it was sent the schema, by ``monotonic``. The server may have been broken
        for a moment, and for many questions at once: one that was asked after another had its
        answer tells.
        """
        if self._doubted.setdefault(llm.identity, monotonic()) < asked:
            until = monotonic() + BROKEN_SECONDS
            self._ask_for_text(llm, until, f"for {BROKEN_SECONDS / 60:.0f} minutes")

    def _ask_for_text(self, llm: LanguageModel, until: float, told: str) -> None:
        self._refusing[llm.identity] = until
        message = "%s does not answer by a schema: it is asked for plain text %s"
        _logger.warning(message, llm.identity, told)
