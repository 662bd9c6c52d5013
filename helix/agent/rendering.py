"""Calls and passages as text for the model, and as the JSON of events for clients. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from helix.agent.ledger import Entry
from helix.agent.tool import ToolOutput
from helix.domain.citations import place
from helix.domain.context import count_tokens
from helix.domain.prompt import defuse
from helix.domain.records import Hit
from helix.domain.tool_results import ToolResult

_CUT = "\n(cut: the rest is too long)"
_FULL = "(left out: there is no room for more passages)"


def source_json(entry: Entry) -> dict[str, Any]:
    """The ``source`` event of a passage, or of a tool's result, that has entered the ledger."""
    hit = entry.hit
    chunk_id, document_id = hit.stored_ids
    return {
        "n": entry.number,
        "kind": hit.kind,
        "chunk_id": chunk_id,
        "document_id": document_id,
        "title": hit.title,
        "heading_path": list(hit.heading_path),
        "page": hit.page,
        "label": hit.label,
        "attached": hit.attached,
        "call": entry.call,
        "distance": round(hit.distance, 6) if math.isfinite(hit.distance) else None,
    }


def outcome_text(
    output: ToolOutput, numbers: Mapping[int | ToolResult, int], most_tokens: int
) -> str:
    """``output`` as the text that a model reads, with the ledger's ``numbers``.

    They are those of passages by their chunk's id, and of results by themselves.

    A passage is shown once, whole; passages without a number are only counted. Text is cut so that
    the whole has at most ``most_tokens`` tokens.
    """
    lines: list[str] = []
    rendered: set[int] = set()
    tokens_left, without_number = most_tokens, 0
    for part in output.parts:
        if isinstance(part, Hit):
            if part.chunk_id not in numbers:
                without_number += 1
                continue
            line = f"[{numbers[part.chunk_id]}]"
            if part.chunk_id not in rendered:
                line = f"{line} ({place(part)}) {defuse(part.content)}"
            rendered.add(part.chunk_id)
        elif isinstance(part, ToolResult):
            line = f"[{numbers[part]}] {part.text}" if part in numbers else part.text
        else:
            line = part
        cost = tokens_of(line)
        if cost > tokens_left:
            lines.append(_truncated(line, tokens_left))
            break
        tokens_left -= cost
        lines.append(line)
    if without_number:
        lines.append(f"{without_number} more passages {_FULL}")
    return "\n".join(line for line in lines if line) or "Nothing was found."


def tokens_of(text: str) -> int:
    """About the tokens of ``text``: those of its lines, which are kept, and one a line end.

    A turn's input is counted whole each time, and most of its lines were counted before.
    """
    lines = text.split("\n")
    return sum(map(count_tokens, lines)) + len(lines) - 1


def _truncated(text: str, tokens: int) -> str:
    """The beginning of ``text`` that has about ``tokens``."""
    share = tokens / max(tokens_of(text), 1)
    return text[: int(len(text) * share)].rstrip() + _CUT


def arguments_problem(error: ValidationError, *, again: bool) -> str:
    """A sentence for the model on what is wrong with a call's arguments, without their values."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    fields = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in problems[:3]
    )
    if again:
        return f"The arguments are wrong again ({fields}). Do not call this tool again."
    return f"The arguments are wrong ({fields}). Call once more with valid arguments."
