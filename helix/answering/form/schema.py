"""The JSON schema of an answer in blocks, and what a model is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

PARAGRAPH = "paragraph"
LIST_ITEM = "list item"
CODE = "code"
TABLE_ROW = "table row"
KINDS = (PARAGRAPH, LIST_ITEM, CODE, TABLE_ROW)
MOST_SOURCES = 3
"""Source numbers of one block."""
MOST_BLOCKS = 60
"""A small model that repeats itself would otherwise go on to the end of its context."""

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
    blocks = {"type": "array", "items": _object(properties), "maxItems": MOST_BLOCKS}
    return _object({"blocks": blocks})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
