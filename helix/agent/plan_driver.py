"""Gathering by plan: a planner's rules choose the calls, as a model would."""

from __future__ import annotations

import asyncio

from helix.agent.gathering import Gathering
from helix.agent.step import Planner


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
