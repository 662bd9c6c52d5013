"""POST /v1/responses: an answer as a response object, or as its events.

Each event names its type twice, as ``event:`` and in its JSON, and counts. The stream of a whole
answer ends with ``response.completed``; a cut one with ``error`` and ``response.failed``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from helix.answering.events import Event
from helix.domain.context import Source
from helix.domain.wire_json import json_bytes
from helix.protocols.marks import Json
from helix.protocols.openai_text import (
    Failed,
    Sources,
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

_DELTA = (
    b"event: response.output_text.delta\n"
    b'data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":%b,'
    b'"output_index":0,"content_index":0,"delta":%b,"logprobs":[]}\n\n'
)
"""The event that there are a hundred of in an answer, all but what differs encoded already."""
_PLACE = {"output_index": 0, "content_index": 0}


def response(wanted: Wanted, known: Json, sources: Sequence[Source]) -> Json:
    """The whole answer of which ``known`` is the JSON, made from ``sources``."""
    return _completed(wanted, whole_text(wanted, known), sources)


async def response_events(
    events: AsyncGenerator[Event, None], wanted: Wanted, sources: Sources
) -> AsyncGenerator[bytes, None]:
    """The events of the answer that ``events`` tell."""
    frames, item_id = _Frames(), json_bytes(_item_id(wanted))
    yield b"".join(_opening(wanted, frames))  # in one piece: each piece costs a write
    async with aclosing(parts_of(events, wanted, sources)) as parts:
        async for part in parts:
            match part:
                case str():
                    yield frames.delta(item_id, part)
                case Failed(message):
                    yield b"".join(_failing(wanted, frames, message))
                case ToldText():
                    yield b"".join(_ending(wanted, frames, part, sources()))


class _Frames:
    """Events as they are sent, numbered."""

    def __init__(self) -> None:
        self._sent = 0

    def delta(self, item_id: bytes, piece: str) -> bytes:
        """A piece of the text."""
        self._sent += 1
        return _DELTA % (self._sent - 1, item_id, json_bytes(piece))

    def __call__(self, kind: str, **payload: object) -> bytes:
        event = {"type": kind, "sequence_number": self._sent, **payload}
        self._sent += 1
        return f"event: {kind}\ndata: ".encode() + json_bytes(event) + b"\n\n"


def _opening(wanted: Wanted, frames: _Frames) -> Iterator[bytes]:
    begun = _object(wanted, "in_progress", [])
    yield frames("response.created", response=begun)
    yield frames("response.in_progress", response=begun)
    yield frames(
        "response.output_item.added", output_index=0, item=_item(wanted, "in_progress", [])
    )
    part = _part("", [])
    yield frames("response.content_part.added", item_id=_item_id(wanted), **_PLACE, part=part)


def _ending(
    wanted: Wanted, frames: _Frames, told: ToldText, sources: Sequence[Source]
) -> Iterator[bytes]:
    place = {"item_id": _item_id(wanted), **_PLACE}
    annotations = _annotations(told, wanted)
    for index, annotation in enumerate(annotations):
        yield frames(
            "response.output_text.annotation.added",
            **place, annotation_index=index, annotation=annotation,
        )  # fmt: skip
    part = _part(told.text, annotations)
    yield frames("response.output_text.done", **place, text=told.text, logprobs=[])
    yield frames("response.content_part.done", **place, part=part)
    item = _item(wanted, "completed", [part])
    yield frames("response.output_item.done", output_index=0, item=item)
    yield frames("response.completed", response=_completed(wanted, told, sources))


def _failing(wanted: Wanted, frames: _Frames, message: str) -> Iterator[bytes]:
    error = error_json(message, 502)["error"]
    yield frames("error", code=error["type"], message=message, param=None)
    failed = _object(wanted, "failed", []) | {"error": {"code": "server_error", "message": message}}
    yield frames("response.failed", response=failed)


def _completed(wanted: Wanted, told: ToldText, sources: Sequence[Source]) -> Json:
    part = _part(told.text, _annotations(told, wanted))
    made = _object(wanted, "completed", [_item(wanted, "completed", [part])])
    prompt, answer = token_counts(sources, told)
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answer,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + answer,
    }
    return {**made, "usage": usage, **link_lists(told, wanted.base), "helix": known_of(told)}


def _object(wanted: Wanted, status: str, output: list[Json]) -> Json:
    return {
        "id": f"resp_{wanted.answer_id}",
        "object": "response",
        "created_at": wanted.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": wanted.model,
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


def _item_id(wanted: Wanted) -> str:
    return f"msg_{wanted.answer_id}"


def _item(wanted: Wanted, status: str, content: list[Json]) -> Json:
    return {
        "id": _item_id(wanted),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def _part(text: str, annotations: list[Json]) -> Json:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _annotations(told: ToldText, wanted: Wanted) -> list[Json]:
    return [{"type": "url_citation", **citation} for citation in url_citations(told, wanted.base)]
