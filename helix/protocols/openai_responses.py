"""POST /v1/responses: an answer as a response object, or as its events.

Each event names its type twice, as ``event:`` and in its JSON, and counts. The stream of a whole
answer ends with ``response.completed``; a cut one with ``error`` and ``response.failed``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
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
    helix_extension,
    link_lists,
    parts_of,
    token_counts,
    url_citations,
)

_DELTA = (
    b"event: response.output_text.delta\n"
    b'data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":%b,'
    b'"output_index":0,"content_index":0,"delta":%b,"logprobs":[]}\n\n'
)
"""The most frequent event, about a hundred in an answer: what all have in common is encoded."""
_PLACE = {"output_index": 0, "content_index": 0}


def whole_events(options: ResponseOptions, text: ResponseText, sources: Sequence[Source]) -> bytes:
    """The events of an answer that is whole already."""
    frames, place = _Frames(), {"item_id": _item_id(options), **_PLACE}
    opening = b"".join(_opening(options, frames, refuses=text.refuses))
    if text.refuses:
        told = frames("response.refusal.delta", **place, delta=text.text)
    else:
        told = frames.delta(json_bytes(_item_id(options)), text.text)
    return opening + told + b"".join(_ending(options, frames, text, sources))


async def response_events(
    events: AsyncGenerator[Event, None], options: ResponseOptions, sources: Sources
) -> AsyncGenerator[bytes, None]:
    """The events of the answer that ``events`` report."""
    frames, item_id = _Frames(), json_bytes(_item_id(options))
    yield b"".join(_opening(options, frames))  # in one piece: each piece costs a write
    async with aclosing(parts_of(events, options, sources)) as parts:
        async for part in parts:
            match part:
                case str():
                    yield frames.delta(item_id, part)
                case Failed(message):
                    yield b"".join(_failing(options, frames, message))
                case ResponseText():
                    yield b"".join(_ending(options, frames, part, sources()))


class _Frames:
    """Events as they are sent, numbered."""

    def __init__(self) -> None:
        self._next = 0

    def delta(self, item_id: bytes, piece: str) -> bytes:
        """A piece of the text."""
        self._next += 1
        return _DELTA % (self._next - 1, item_id, json_bytes(piece))

    def __call__(self, kind: str, **payload: object) -> bytes:
        event = {"type": kind, "sequence_number": self._next, **payload}
        self._next += 1
        return f"event: {kind}\ndata: ".encode() + json_bytes(event) + b"\n\n"


def _opening(
    options: ResponseOptions, frames: _Frames, *, refuses: bool = False
) -> Iterator[bytes]:
    response_object = _object(options, "in_progress", [])
    yield frames("response.created", response=response_object)
    yield frames("response.in_progress", response=response_object)
    yield frames(
        "response.output_item.added", output_index=0, item=_item(options, "in_progress", [])
    )
    part = _part(ResponseText("", (), {}, refuses), [])
    yield frames("response.content_part.added", item_id=_item_id(options), **_PLACE, part=part)


def _ending(
    options: ResponseOptions, frames: _Frames, text: ResponseText, sources: Sequence[Source]
) -> Iterator[bytes]:
    place = {"item_id": _item_id(options), **_PLACE}
    annotations = _annotations(text, options)
    for index, annotation in enumerate(annotations):
        yield frames(
            "response.output_text.annotation.added",
            **place, annotation_index=index, annotation=annotation,
        )  # fmt: skip
    part = _part(text, annotations)
    if text.refuses:
        yield frames("response.refusal.done", **place, refusal=text.text)
    else:
        yield frames("response.output_text.done", **place, text=text.text, logprobs=[])
    yield frames("response.content_part.done", **place, part=part)
    item = _item(options, "completed", [part])
    yield frames("response.output_item.done", output_index=0, item=item)
    yield frames("response.completed", response=response(options, text, sources))


def _failing(options: ResponseOptions, frames: _Frames, message: str) -> Iterator[bytes]:
    yield frames("error", code="server_error", message=message, param=None)
    failed = _object(options, "failed", []) | {
        "error": {"code": "server_error", "message": message}
    }
    yield frames("response.failed", response=failed)


def response(options: ResponseOptions, text: ResponseText, sources: Sequence[Source]) -> Json:
    """The whole answer that ``text`` is of, made from ``sources``."""
    part = _part(text, _annotations(text, options))
    response_object = _object(options, "completed", [_item(options, "completed", [part])])
    prompt, completion_tokens = token_counts(sources, text)
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion_tokens,
    }
    return {
        **response_object,
        "usage": usage,
        **link_lists(text, options.base),
        "helix": helix_extension(text),
    }


def _object(options: ResponseOptions, status: str, output: list[Json]) -> Json:
    return {
        "id": f"resp_{options.answer_id}",
        "object": "response",
        "created_at": options.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": options.model,
        "output": output,
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _item_id(options: ResponseOptions) -> str:
    return f"msg_{options.answer_id}"


def _item(options: ResponseOptions, status: str, content: list[Json]) -> Json:
    return {
        "id": _item_id(options),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def _part(text: ResponseText, annotations: list[Json]) -> Json:
    if text.refuses:
        return {"type": "refusal", "refusal": text.text}
    return {"type": "output_text", "text": text.text, "annotations": annotations, "logprobs": []}


def _annotations(text: ResponseText, options: ResponseOptions) -> list[Json]:
    return [{"type": "url_citation", **citation} for citation in url_citations(text, options.base)]
