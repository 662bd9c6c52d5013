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
from helix.domain.contract import json_bytes
from helix.protocols.citation_markers import Json
from helix.protocols.openai_text import (
    Failed,
    ResponseOptions,
    ResponseText,
    Sources,
    Thought,
    error_json,
    helix_extension,
    link_lists,
    parts_of,
    token_counts,
    url_citations,
)

DONE = b"data: [DONE]\n\n"
_HOLE = "\0"  # which nothing else of a chunk holds


def completion(options: ResponseOptions, text: ResponseText, sources: Sequence[Source]) -> Json:
    """The whole answer that ``text`` is of, made from ``sources``."""
    message = {
        "role": "assistant",
        "content": None if text.refuses else text.text,
        "refusal": text.text if text.refuses else None,
        "annotations": _annotations(text, options),
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {
        **_head(options, "chat.completion"),
        "choices": [choice],
        "usage": _usage(sources, text),
        **_beside(text, options),
    }


def whole_chunks(options: ResponseOptions, text: ResponseText, sources: Sequence[Source]) -> bytes:
    """The chunks of an answer that is whole already."""
    told = {"refusal": text.text} if text.refuses else {"content": text.text}
    opening = _chunk(options, {"role": "assistant", "content": None, "refusal": None})
    return opening + _chunk(options, told) + _ending(options, text, sources)


async def chunks(
    events: AsyncGenerator[Event, None], options: ResponseOptions, sources: Sources
) -> AsyncGenerator[bytes, None]:
    """The chunks of the answer that ``events`` report."""
    yield _chunk(options, {"role": "assistant", "content": "", "refusal": None})
    # a chunk of text is made a hundred times an answer: all but its text is encoded once
    before, after = _chunk(options, {"content": _HOLE}).split(json_bytes(_HOLE))
    async with aclosing(parts_of(events, options, sources)) as parts:
        async for part in parts:
            match part:
                case str():
                    yield before + json_bytes(part) + after
                case Thought(text):
                    yield _chunk(options, {"reasoning_content": text})
                case Failed(message):
                    yield _frame(error_json(message, 502))
                case ResponseText():
                    yield _ending(options, part, sources())


def _ending(options: ResponseOptions, text: ResponseText, sources: Sequence[Source]) -> bytes:
    """The frames after the text, in one piece: each piece costs a write."""
    delta = {"annotations": _annotations(text, options)} if text.markers else {}
    frames = [_chunk(options, delta, "stop", _beside(text, options))]
    if options.usage:
        usage = {**_head(options, "chat.completion.chunk"), "choices": []}
        frames.append(_frame({**usage, "usage": _usage(sources, text)}))
    return b"".join([*frames, DONE])


def _annotations(text: ResponseText, options: ResponseOptions) -> list[Json]:
    return [
        {"type": "url_citation", "url_citation": citation}
        for citation in url_citations(text, options.base)
    ]


def _beside(text: ResponseText, options: ResponseOptions) -> Json:
    return {**link_lists(text, options.base), "helix": helix_extension(text)}


def _usage(sources: Sequence[Source], text: ResponseText) -> Json:
    prompt, completion_tokens = token_counts(sources, text)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt + completion_tokens,
    }


def _head(options: ResponseOptions, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{options.answer_id}",
        "object": kind,
        "created": options.created,
        "model": options.model,
    }


def _chunk(
    options: ResponseOptions, delta: Json, finish: str | None = None, beside: Json | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    usage: Json = {"usage": None} if options.usage else {}
    head = _head(options, "chat.completion.chunk")
    return _frame({**head, "choices": [choice], **usage, **(beside or {})})


def _frame(payload: Json) -> bytes:
    return b"data: " + json_bytes(payload) + b"\n\n"
