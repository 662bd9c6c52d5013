"""The calls of a receipt, repeated in their order: what a replay of an agent's answer plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext


class ReplayPlanner:
    """A planner that repeats the calls of a receipt, one a step, so that numbers stay the same.

    ``calls`` are as ToolCall.to_json has them.
    """

    def __init__(self, calls: Sequence[dict[str, Any]]) -> None:
        self._calls = [PlannedCall(call["name"], call["arguments"] or {}) for call in calls]

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """A step of the next call; a step without calls once all were made."""
        return Step(tuple(self._calls[len(outcomes) : len(outcomes) + 1]))
