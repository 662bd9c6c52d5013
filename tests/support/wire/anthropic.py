"""Streams of Anthropic's messages, as scripted_server sends them."""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_server import Reply

Json = dict[str, Any]


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def _block(index: int, block: Json, deltas: list[Json], *, ended: bool = True) -> list[str]:
    events = [_event("content_block_start", index=index, content_block=block)]
    events += [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [*events, _event("content_block_stop", index=index)] if ended else events


def _text(index: int, text: str, *, ended: bool = True) -> list[str]:
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))
    deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces]
    return _block(index, {"type": "text", "text": ""}, deltas, ended=ended)


def _call(index: int, name: str, text: str, *, ended: bool = True) -> list[str]:
    block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    pieces = ("", text[:5], text[5:])
    deltas: list[Json] = [{"type": "input_json_delta", "partial_json": each} for each in pieces]
    return _block(index, block, deltas, ended=ended)


def _stream(*events: str, cut: bool = False) -> Reply:
    message: Json = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }  # fmt: skip
    body = "".join([_event("message_start", message=message), _event("ping"), *events])
    return Reply(body.encode(), headers={"Content-Type": "text/event-stream"}, cut=cut)


def _end(reason: str) -> list[str]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        _event("message_delta", delta=delta, usage={"output_tokens": 9}),
        _event("message_stop"),
    ]


def saying(text: str, finish: str = "end_turn") -> Reply:
    """A turn of text, in pieces of seven characters."""
    return _stream(*_text(0, text), *_end(finish))


def calling(*calls: tuple[str, Json], text: str = "") -> Reply:
    """A turn that calls tools by name, behind ``text``; the arguments come in pieces."""
    events = _text(0, text) if text else []
    for index, (name, arguments) in enumerate(calls, 1 if text else 0):
        events += _call(index, name, json.dumps(arguments))
    return _stream(*events, *_end("tool_use"))


def broken(text: str) -> dict[str, Reply]:
    """Turns that begin with ``text`` and are never whole, and one that is refused at once."""
    refused = {"type": "invalid_request_error", "message": "This model has no tools."}
    begun = _text(0, text, ended=False)
    overloaded = _event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    return {
        "cut": _stream(*begun, cut=True),
        "error": _stream(*begun, overloaded),
        "no end": _stream(*_text(0, text)),
        "length": saying(text, "max_tokens"),
        "refused": Reply(json.dumps({"type": "error", "error": refused}).encode(), 400),
    }


def call_cut(name: str, arguments: str) -> Reply:
    """A turn whose connection breaks within the arguments of a call."""
    return _stream(*_call(0, name, arguments, ended=False), cut=True)


def described(body: Json) -> dict[str, str]:
    """The descriptions of the tools in a request, by name."""
    return {tool["name"]: tool["description"] for tool in body["tools"]}


def results(body: Json) -> list[tuple[str, str]]:
    """The call's id and the text of each result of a tool in a request, in order."""
    blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
    found = [block for block in blocks if block["type"] == "tool_result"]
    return [
        (block["tool_use_id"], "".join(part["text"] for part in _blocks(block["content"])))
        for block in found
    ]


def _blocks(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
