"""The next step of a plan: which tools are called at once, or that enough is gathered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from helix.agent.tool import ToolContext, ToolOutput
from helix.domain.tool_calls import ToolCall


@dataclass(frozen=True)
class PlannedCall:
    """A call of the tool ``name``; its arguments are validated as those of a model are."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """The calls to make at once; none: enough is gathered. ``thought`` is one line for people."""

    calls: tuple[PlannedCall, ...] = ()
    thought: str = ""


@dataclass(frozen=True)
class Outcome:
    """A call that was made, and what it brought; None where it failed (``call.failure``)."""

    call: ToolCall
    output: ToolOutput | None


class Planner(Protocol):
    """Plans by rule where no model chooses the tools: deterministic, without I/O of its own."""

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The step after ``outcomes``, which are all calls of the answer so far, in order."""
        ...
