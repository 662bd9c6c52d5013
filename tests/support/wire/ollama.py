"""Streams of Ollama's chat, a line of JSON each, as scripted_server sends them."""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_server import Reply

Json = dict[str, Any]


def _line(message: Json, **fields: Any) -> str:
    head = {"model": "llama3.1", "created_at": "2026-01-01T00:00:00.0Z"}
    said = {"role": "assistant", "content": "", **message}
    return json.dumps({**head, "message": said, "done": False, **fields}) + "\n"


def _text(text: str) -> list[str]:
    return [_line({"content": text[at : at + 7]}) for at in range(0, len(text), 7)]


def _end(reason: str) -> str:
    return _line({}, done=True, done_reason=reason, prompt_eval_count=9, eval_count=9)


def _stream(*lines: str, cut: bool = False) -> Reply:
    headers = {"Content-Type": "application/x-ndjson"}
    return Reply("".join(lines).encode(), headers=headers, cut=cut)


def saying(text: str, finish: str = "stop") -> Reply:
    """A turn of text, in pieces of seven characters."""
    return _stream(*_text(text), _end(finish))


def calling(*calls: tuple[str, Json], text: str = "") -> Reply:
    """A turn that calls tools by name, behind ``text``; each call comes whole, in a line."""
    lines = [
        _line({"tool_calls": [{"function": {"name": name, "arguments": arguments}}]})
        for name, arguments in calls
    ]
    return _stream(*_text(text), *lines, _end("stop"))


def broken(text: str) -> dict[str, Reply]:
    """Turns that begin with ``text`` and are never whole, and one that is refused at once."""
    failed = json.dumps({"error": "an error was encountered while running the model"}) + "\n"
    return {
        "cut": _stream(*_text(text), cut=True),
        "error": _stream(*_text(text), failed),
        "no end": _stream(*_text(text)),
        "length": saying(text, "length"),
        "refused": Reply(b'{"error": "llama3.1 does not support tools"}', 400),
    }


def call_cut(name: str, arguments: str) -> Reply:
    """A turn whose connection breaks within the arguments of a call."""
    whole = _line({"tool_calls": [{"function": {"name": name, "arguments": {}}}]})
    return _stream(whole.partition('"arguments": ')[0] + f'"arguments": {arguments}', cut=True)


def described(body: Json) -> dict[str, str]:
    """The descriptions of the tools in a request, by name."""
    functions = [tool["function"] for tool in body["tools"]]
    return {each["name"]: each["description"] for each in functions}


def results(body: Json) -> list[tuple[str, str]]:
    """No id, for Ollama knows none, and the text of each result of a tool in a request."""
    found = [message for message in body["messages"] if message["role"] == "tool"]
    return [("", message["content"]) for message in found]
