"""Calls that a model writes as text, because its server did not take them for calls. Pure.

`{"name": "search_library", "arguments": {"query": "refunds"}}`, alone, in a fence, or between the
tags of a chat template; several in a row. A text that is anything else too has no calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

_MARKS = re.compile(r"\s*(?:</?tool_calls?>|```(?:json)?|~~~(?:json)?|,)?\s*")
_MOST_CHARACTERS = 20_000
_ARGUMENTS = ("arguments", "parameters")
_DECODER = json.JSONDecoder()

Call = tuple[str, dict[str, Any]]


def calls_in_text(text: str, tools: Collection[str]) -> list[Call]:
    """The calls of ``tools`` that a text consists of; none where it has anything else."""
    if len(text) > _MOST_CHARACTERS or "{" not in text:
        return []
    calls: list[Call] = []
    at = _behind_marks(text, 0)
    while at < len(text):
        try:
            read, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        call = _call_of(read, tools)
        if call is None:
            return []
        calls.append(call)
        at = _behind_marks(text, at)
    return calls


def _behind_marks(text: str, at: int) -> int:
    while (found := _MARKS.match(text, at)) and found.end() > at:
        at = found.end()
    return at


def _call_of(read: object, tools: Collection[str]) -> Call | None:
    if not isinstance(read, dict) or not isinstance(read.get("name"), str):
        return None
    if read["name"] not in tools:
        return None
    arguments: Any = next((read[key] for key in _ARGUMENTS if key in read), {})
    if isinstance(arguments, str):  # as OpenAI's API has them
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return (read["name"], arguments) if isinstance(arguments, dict) else None
