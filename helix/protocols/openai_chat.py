"""POST /v1/chat/completions: an answer as a completion, or as its chunks.

A chunk is one ``data:`` line of JSON. The last has the annotations and ``finish_reason``; then
comes the usage, if asked for, and ``[DONE]``. A stream without ``[DONE]`` is a cut answer, and its
last frame says why: ``{"error": …}``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from helix.answering.events import Event
from helix.domain.context import Source
from helix.domain.wire_json import json_bytes
from helix.protocols.marks import Json
from helix.protocols.openai_text import (
    Failed,
    Sources,
    Thought,
    ToldText,
    Wanted,
    error_json,
    known_of,
    link_lists,
    parts_of,
    token_counts,
    url_citations,
    whole_text,
)

DONE = b"data: [DONE]\n\n"
_HOLE = "\0"  # which nothing else of a chunk holds


def completion(wanted: Wanted, known: Json, sources: Sequence[Source]) -> Json:
    """The whole answer of which ``known`` is the JSON, made from ``sources``."""
    told = whole_text(wanted, known)
    message = {
        "role": "assistant",
        "content": told.text,
        "refusal": None,
        "annotations": _annotations(told, wanted),
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {
        **_head(wanted, "chat.completion"),
        "choices": [choice],
        "usage": _usage(sources, told),
        **_beside(told, wanted),
    }


async def chunks(
    events: AsyncGenerator[Event, None], wanted: Wanted, sources: Sources
) -> AsyncGenerator[bytes, None]:
    """The chunks of the answer that ``events`` tell."""
    yield _chunk(wanted, {"role": "assistant", "content": "", "refusal": None})
    # a chunk of text is made a hundred times an answer: all but its text is encoded once
    before, after = _chunk(wanted, {"content": _HOLE}).split(json_bytes(_HOLE))
    async with aclosing(parts_of(events, wanted, sources)) as parts:
        async for part in parts:
            match part:
                case str():
                    yield before + json_bytes(part) + after
                case Thought(text):
                    yield _chunk(wanted, {"reasoning_content": text})
                case Failed(message):
                    yield _frame(error_json(message, 502))
                case ToldText():
                    yield _ending(wanted, part, sources())


def _ending(wanted: Wanted, told: ToldText, sources: Sequence[Source]) -> bytes:
    """The frames after the text, in one piece: each piece costs a write."""
    delta = {"annotations": _annotations(told, wanted)} if told.marks else {}
    frames = [_chunk(wanted, delta, "stop", _beside(told, wanted))]
    if wanted.usage:
        usage = {**_head(wanted, "chat.completion.chunk"), "choices": []}
        frames.append(_frame({**usage, "usage": _usage(sources, told)}))
    return b"".join([*frames, DONE])


def _annotations(told: ToldText, wanted: Wanted) -> list[Json]:
    return [
        {"type": "url_citation", "url_citation": citation}
        for citation in url_citations(told, wanted.base)
    ]


def _beside(told: ToldText, wanted: Wanted) -> Json:
    return {**link_lists(told, wanted.base), "helix": known_of(told)}


def _usage(sources: Sequence[Source], told: ToldText) -> Json:
    prompt, completed = token_counts(sources, told)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completed,
        "total_tokens": prompt + completed,
    }


def _head(wanted: Wanted, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{wanted.answer_id}",
        "object": kind,
        "created": wanted.created,
        "model": wanted.model,
    }


def _chunk(
    wanted: Wanted, delta: Json, finish: str | None = None, beside: Json | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    usage: Json = {"usage": None} if wanted.usage else {}
    head = _head(wanted, "chat.completion.chunk")
    return _frame({**head, "choices": [choice], **usage, **(beside or {})})


def _frame(payload: Json) -> bytes:
    return b"data: " + json_bytes(payload) + b"\n\n"
