"""Streams of OpenAI's chat completions, as scripted_server sends them."""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_server import Reply

_SSE = {"Content-Type": "text/event-stream"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    told = {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o",
        "choices": [choice],
    }  # fmt: skip
    return f"data: {json.dumps(told)}\n\n"


def _stream(*chunks: str, cut: bool) -> Reply:
    body = "".join(chunks) if cut else "".join([*chunks, "data: [DONE]\n\n"])
    return Reply(body.encode(), headers=_SSE, cut=cut)


def saying(text: str, finish: str = "stop", *, cut: bool = False) -> Reply:
    """A turn of text, in pieces of seven characters; ``cut``: the connection breaks behind them."""
    deltas = [_chunk({"content": text[at : at + 7]}) for at in range(0, len(text), 7)]
    ends = [] if cut else [_chunk({}, finish)]
    return _stream(_chunk({"role": "assistant", "content": ""}), *deltas, *ends, cut=cut)


def calling(*calls: tuple[str, dict[str, Any] | str]) -> Reply:
    """A turn that calls tools by name; their arguments, or that text, come in two pieces."""
    chunks = [_chunk({"role": "assistant", "content": None})]
    for index, (name, arguments) in enumerate(calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text[:5]}
        head = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        rest = {"index": index, "function": {"arguments": text[5:]}}
        chunks += [_chunk({"tool_calls": [head]}), _chunk({"tool_calls": [rest]})]
    return _stream(*chunks, _chunk({}, "tool_calls"), cut=False)
