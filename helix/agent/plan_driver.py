"""Gathering by plan: a planner's rules choose the calls, as a model would."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from helix.agent.gathering import Gathering
from helix.agent.step import Outcome, PlannedCall, Planner, Step
from helix.agent.tool import ToolContext


async def follow_plan(gathering: Gathering, planner: Planner) -> None:
    """Make the calls of each step at once, until the planner has no more.

    Raises:
        BoundReached: a bound of the gathering came first.
    """
    while True:
        step = planner.step(gathering.context, gathering.outcomes)
        gathering.think(step.thought)
        if not step.calls:
            return
        gathering.step()
        await asyncio.gather(*(gathering.call(call.name, call.arguments) for call in step.calls))


class ReplayPlanner:
    """A planner that repeats the calls of a receipt, one a step, so that numbers stay the same.

    ``calls`` are as ToolCall.to_json has them.
    """

    def __init__(self, calls: Sequence[dict[str, Any]]) -> None:
        self._calls = [PlannedCall(call["name"], call["arguments"] or {}) for call in calls]

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """A step of the next call; a step without calls once all were made."""
        return Step(tuple(self._calls[len(outcomes) : len(outcomes) + 1]))
