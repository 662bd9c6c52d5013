"""Passages and tools for runs of the agent that need no database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from helix.agent.gathering import Bounds, Gathering
from helix.agent.ledger import Ledger
from helix.agent.tool import AnyTool, Arguments, Tool, ToolContext, ToolOutput
from helix.domain.records import Hit
from helix.domain.scope import Scope


class Wanted(Arguments):
    """The arguments of these tests' tools."""

    query: str


def passage(chunk_id: int, content: str = "", document_id: int = 1) -> Hit:
    """A chunk of words of its own, at its place in its document."""
    content = content or f"Passage number {chunk_id} says that lamp {chunk_id} is brass."
    start = chunk_id * 1000
    return Hit(
        chunk_id, document_id, f"Document {document_id}", f"d/{document_id}", chunk_id, content,
        start, start + len(content), f"node-{chunk_id}", 0.1,
    )  # fmt: skip


def tool(name: str, run: Callable[[Wanted, ToolContext], Awaitable[ToolOutput]]) -> AnyTool:
    return Tool(name, Wanted, run)


def bringing(name: str, *parts: str | Hit, after: float = 0.0) -> AnyTool:
    """A tool that brings ``parts``, ``after`` seconds, or turns of the event loop where 0."""

    async def run(_: Wanted, __: ToolContext) -> ToolOutput:
        await asyncio.sleep(after)
        return ToolOutput(parts)

    return tool(name, run)


def failing(name: str, error: BaseException) -> AnyTool:
    async def run(_: Wanted, __: ToolContext) -> ToolOutput:
        raise error

    return tool(name, run)


def context(question: str = "Which lamps are brass?", ledger: Ledger | None = None) -> ToolContext:
    """A context whose tools touch neither database nor models."""
    nothing = cast(Any, None)
    return ToolContext(question, question, Scope(), nothing, nothing, ledger or Ledger(), nothing)


def run_with(
    *tools: AnyTool, bounds: Bounds | None = None, ledger: Ledger | None = None
) -> Gathering:
    return Gathering(context(ledger=ledger), tools, bounds or Bounds())


def told(gathering: Gathering) -> list[tuple[str, Any]]:
    """The events so far."""
    found = []
    while not gathering.events.empty():
        event = gathering.events.get_nowait()
        assert event is not None
        found.append(event)
    return found
