"""LlamaIndex's messages as Gemini's contents; what the model said goes back exactly as it came.

A thought signature belongs to one part of one turn, and Gemini 3 refuses a turn that comes back
without it. LlamaIndex's own conversion takes a turn apart and puts it together again, and so loses
signatures, moves them to other parts and repeats parts (docs/decisions/0059-the-agent.md). Here a
message of the model carries the vendor's content, which is sent again as it is: all parts, in their
order, empty ones too. Another model's turns are converted, without signatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import Client
from google.genai.types import Content, Part
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.llms.google_genai.utils import chat_message_to_gemini

_CONTENT, _MODEL = "gemini_content", "gemini_model"
_LOCAL = "helix-call-"
"""Begins the ids of calls that came without one (Vertex AI): the vendor is never sent them."""
_TAKEN_OUT = ("thought_signatures", _CONTENT, _MODEL)


def local_call_id(place: int) -> str:
    """The id of a call that came without one, the ``place``-th part of its turn."""
    return f"{_LOCAL}{place}"


def vendor_kwargs(model: str, content: Content) -> dict[str, Any]:
    """The ``additional_kwargs`` of a message that ``model`` has said in these words."""
    return {_CONTENT: content, _MODEL: model}


def system_of(messages: Sequence[ChatMessage]) -> str:
    """All system messages as one text, which goes into Gemini's own channel for it."""
    found = (message.content or "" for message in messages if message.role == MessageRole.SYSTEM)
    return "\n\n".join(found)


async def contents_of(messages: Sequence[ChatMessage], model: str, client: Client) -> list[Content]:
    """``messages`` but the system's, for ``model``; neither they nor their lists are changed."""
    names = {
        block.tool_call_id: block.tool_name
        for message in messages
        for block in message.blocks
        if isinstance(block, ToolCallBlock) and block.tool_call_id
    }
    contents: list[Content] = []
    for message in messages:
        if message.role == MessageRole.SYSTEM:
            continue
        content = _said_by(message, model)
        if content is None:
            content, _ = await chat_message_to_gemini(_plain(message), "inline", client, names)
        if parts := [_without_local_id(part) for part in content.parts or []]:
            _append(contents, content.role or "user", parts)
    return contents


def _said_by(message: ChatMessage, model: str) -> Content | None:
    """The content that ``model`` sent, as it came; None of a message that is anybody else's."""
    if message.additional_kwargs.get(_MODEL) != model:
        return None
    content: Content = message.additional_kwargs[_CONTENT]
    return content


def _plain(message: ChatMessage) -> ChatMessage:
    """A copy without signatures, and without empty texts, which would repeat the part before."""
    blocks = [b for b in message.blocks if not isinstance(b, TextBlock) or b.text]
    kwargs = {k: v for k, v in message.additional_kwargs.items() if k not in _TAKEN_OUT}
    return ChatMessage(role=message.role, blocks=blocks, additional_kwargs=kwargs)


def _without_local_id(part: Part) -> Part:
    response = part.function_response
    if response is None or not (response.id or "").startswith(_LOCAL):
        return part
    return part.model_copy(update={"function_response": response.model_copy(update={"id": None})})


def _append(contents: list[Content], role: str, parts: list[Part]) -> None:
    """Add ``parts`` as a turn, or to the last turn of the same role.

    The results of calls stay a turn of their own: Gemini counts them against the calls before.
    """
    last = contents[-1] if contents else None
    if last and last.role == role and _are_results(last.parts or []) == _are_results(parts):
        contents[-1] = Content(role=role, parts=[*(last.parts or []), *parts])
    else:
        contents.append(Content(role=role, parts=parts))


def _are_results(parts: Sequence[Part]) -> bool:
    return any(part.function_response is not None for part in parts)
