"""Calls that a receipt has kept, made again in the same order: a plan that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext


class RecordedCalls:
    """A planner that makes the calls of a receipt again, one a step, for their numbers' sake.

    ``calls`` are as ToolCall.to_json has them.
    """

    def __init__(self, calls: Sequence[dict[str, Any]]) -> None:
        self._calls = [PlannedCall(call["name"], call["arguments"] or {}) for call in calls]

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The next call; none once all were made."""
        return Step(tuple(self._calls[len(outcomes) : len(outcomes) + 1]))
