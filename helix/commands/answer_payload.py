"""The answer that a payload is about, whichever of the server's protocols it came by. Pure.

Its id is `answer_id` in most, a part of `id` in OpenAI's, `messageId` in the AI SDK's, and the
header `X-Answer-Id` where headers were kept. The stream of GET /ask has none: its text stands for
it, by its SHA-256, which receipts know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from helix.errors import BadRequest

ANSWER_ID = re.compile("[0-9a-f]{32}")
_OPENAI = re.compile("(?:chatcmpl-|resp_)([0-9a-f]{32})")
_HEADER = re.compile("^x-answer-id: *([0-9a-f]{32})\\s*$", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile("^data: ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class NamedAnswer:
    """An answer by its id or the hash of its text; ``text`` is what the payload says it is."""

    reference: str
    text: str | None = None


def answer_in(data: bytes) -> NamedAnswer:
    """The one answer that ``data`` is about; or its id alone.

    Raises:
        BadRequest: it names none, or several.
    """
    written = data.decode("utf-8", "replace").strip()
    if ANSWER_ID.fullmatch(written):
        return NamedAnswer(written)
    values = _values(written)
    found = {one.reference: one for value in values for one in _named(value)}
    found |= {n: NamedAnswer(n) for n in _HEADER.findall(written) if n not in found}
    if len(found) > 1:
        raise BadRequest("it holds several answers: give one of them, or its id (answer_id)")
    if found:
        return next(iter(found.values()))
    pieces = [value["t"] for value in values if isinstance(value, dict) and "t" in value]
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        raise BadRequest("it names no answer: give what a question was answered with, or an id")
    return NamedAnswer(sha256("".join(pieces).encode(errors="surrogatepass")).hexdigest())


def _values(written: str) -> list[Any]:
    """The JSON that it is, or that each event of a stream has."""
    whole = _parsed(written)
    events = [_parsed(line) for line in _DATA.findall(written)] if whole is None else [whole]
    return [value for value in events if value is not None]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _named(value: Any) -> Iterator[NamedAnswer]:
    """The answers that are named anywhere within ``value``."""
    if isinstance(value, list):
        for one in value:
            yield from _named(one)
    elif isinstance(value, dict):
        named = value.get("answer_id") or value.get("messageId")
        openai = _OPENAI.fullmatch(str(value.get("id")))
        if isinstance(named, str) and ANSWER_ID.fullmatch(named):
            text = value.get("answer")
            yield NamedAnswer(named, text if isinstance(text, str) else None)
        elif openai:
            yield NamedAnswer(openai[1])
        for one in value.values():
            yield from _named(one)
    elif isinstance(value, str) and value.startswith("{"):  # MCP has its JSON as a text too
        yield from _named(_parsed(value))
