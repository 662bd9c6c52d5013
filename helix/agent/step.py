"""The steps of a plan: the tools that are called together, or the end of the gathering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from helix.agent.tool import ToolContext, ToolOutput
from helix.domain.tool_calls import ToolCall


@dataclass(frozen=True)
class PlannedCall:
    """A call of the tool ``name``; its arguments are validated like a model's."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """The calls to make together; none ends the gathering. ``thought`` is one line for people."""

    calls: tuple[PlannedCall, ...] = ()
    thought: str = ""


@dataclass(frozen=True)
class Outcome:
    """A call that was made, and its output; None where the call failed (``call.failure``)."""

    call: ToolCall
    output: ToolOutput | None


class Planner(Protocol):
    """Chooses the calls by rules, in place of a model: deterministic, without I/O of its own."""

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The step after ``outcomes``, which are all calls of the answer so far, in order."""
        ...
