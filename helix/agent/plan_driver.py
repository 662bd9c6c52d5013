"""Gathering by plan: a planner's rules choose the calls, as a model would."""

from __future__ import annotations

import asyncio

from helix.agent.run import Run
from helix.agent.step import Planner


async def follow_plan(run: Run, planner: Planner) -> None:
    """Make the calls of each step at once, until the planner has no more.

    Raises:
        BoundReached: a bound of the run came first.
    """
    while True:
        step = planner.step(run.context, run.outcomes)
        run.think(step.thought)
        if not step.calls:
            return
        run.step()
        await asyncio.gather(*(run.call(call.name, call.arguments) for call in step.calls))
