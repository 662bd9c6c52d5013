"""The agent as the answering path knows it: a gatherer, whose ledger becomes the sources."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from pgvector import Vector

from helix.agent.gathering import SEARCH, BoundReached, Bounds, Gathering
from helix.agent.ledger import Ledger
from helix.agent.step import Outcome, PlannedCall, Planner, Step
from helix.agent.tool import AnyTool, ToolContext
from helix.agent.tools import TOOLS
from helix.answering.gatherer import Event
from helix.answering.question import ReadQuestion
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision
from helix.domain.retrieval import Reason, Retrieval, Trace
from helix.errors import HelixError
from helix.library.access import Library
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.searches import question_vector
from helix.settings import Settings
from helix.storage.statements import chunks as sql


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


Drive = Callable[[Gathering], Awaitable[None]]
"""Chooses and makes the calls of a gathering until it has enough."""
_logger = logging.getLogger(__name__)
Gated = tuple[GateDecision, Reason | None]


@dataclass(frozen=True)
class Agent:
    """Gathers sources with tools; ``drive`` chooses the calls: a model, or a plan.

    An agent has no state of a single answer: that is in a Gathering each. The agent keeps the tasks
    of cancelled gatherings until they have ended.
    """

    drive: Drive
    retriever: GatedRetriever
    library: Library
    settings: Settings
    bounds: Bounds = field(default_factory=Bounds)
    tools: Sequence[AnyTool] = TOOLS
    _stopping: set[asyncio.Task[None]] = field(default_factory=set)

    async def gather(self, question: ReadQuestion) -> AsyncGenerator[Event | Retrieval, None]:
        """Yield the events of a gathering, then its Retrieval; see answering.gatherer.Gatherer.

        A gathering that reaches a bound, or whose model fails, ends with the sources found so far.
        """
        gathering = self._new_gathering(question)
        task = asyncio.create_task(self._gather(gathering))
        task.add_done_callback(lambda _: gathering.events.put_nowait(None))
        try:
            while (event := await gathering.events.get()) is not None:
                yield event
            await task
            retrieval = await self._retrieval(gathering)
            while (
                not gathering.events.empty()
                and (event := gathering.events.get_nowait()) is not None
            ):
                yield event
        finally:
            await self._stop(task)
        yield retrieval

    async def _stop(self, task: asyncio.Task[None]) -> None:
        """Cancel a gathering and wait for its end, even where the waiting task is cancelled too."""
        task.cancel()
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        await asyncio.wait({task})

    def _new_gathering(self, question: ReadQuestion) -> Gathering:
        asked = question.asked
        context = ToolContext(
            question.text, asked.text, asked.scope, self.retriever,
            self.library.of(asked.scope.tenant, asked.scope.reach), Ledger(), self.settings,
            asked.time_zone, question.follow_up, may_fetch=self.settings.agent_fetch,
        )  # fmt: skip
        return Gathering(context, self.tools, self.bounds, question.before)

    async def _gather(self, gathering: Gathering) -> None:
        """Drive it to its end; search for the question itself where it would be refused unsearched.

        The calls may have asked something else, or have looked into other documents.
        """
        try:
            async with asyncio.timeout(self.bounds.seconds):
                await self.drive(gathering)
        except TimeoutError:
            gathering.end_reason = "seconds"
        except BoundReached as reached:
            gathering.end_reason = reached.bound
        except HelixError as error:
            _logger.warning("gathering was cut short: %s", error)
            gathering.end_reason, gathering.error = "failed", error
        except Exception as error:  # noqa: BLE001  the answer is written from what there is
            _logger.warning("gathering was cut short: %s", type(error).__name__)
            gathering.end_reason = "failed"
        if gathering.context.ledger.results or gathering.has_searched:
            return
        if (await gate_of(gathering))[1]:
            await gathering.call(SEARCH, {"query": gathering.context.question})

    async def _retrieval(self, gathering: Gathering) -> Retrieval:
        """The ledger as the sources of an answer, or the reason of the refusal.

        Where the gate refuses the passages, the results of tools are answered from alone.

        Raises:
            HelixError: the gate refuses, but the model or a tool had failed: a refusal would state
                that the documents lack the answer, which is not known.
        """
        ledger, space = gathering.context.ledger, self.retriever.space.description
        decision, reason = await gate_of(gathering)
        if reason and ledger.results and not gathering.failed_calls:
            gathering.leave_passages_out()
            reason = None
        if reason and gathering.unserved:
            raise gathering.unserved
        return Retrieval(
            [entry.hit for entry in ledger.entries], decision, Trace(), space,
            [] if reason else ledger.sources, reason,
            calculations=tuple(ledger.calculations), gathered=gathering.gathered,
            usages=tuple(gathering.usages),
        )  # fmt: skip

    def again(self, calls: Sequence[dict[str, Any]]) -> Agent:
        """The same agent, which repeats a receipt's ``calls`` (as ToolCall.to_json has them)."""
        drive = partial(follow_plan, planner=ReplayPlanner(calls))
        return replace(self, drive=drive, bounds=replace(self.bounds, steps=len(calls) + 1))


async def gate_of(gathering: Gathering) -> Gated:
    """The decision over all calls, and the reason of a refusal; None where it passes.

    A call that searched brings the decision of its search. For the passages of other tools, their
    distance to the question is measured here: the gate is the same whichever tool found a passage.

    Raises:
        UpstreamError, StoreUnavailable, EmbedderMismatch: the distance could not be measured.
    """
    successful = [outcome for outcome in gathering.outcomes if outcome.output]
    decisions = [one.output.decision for one in successful if one.output and one.output.decision]
    if passing := [decision for decision in decisions if decision.passed]:
        return min(passing, key=_best), None
    unmeasured = {
        chunk_id for one in successful if one.output and one.output.decision is None
        for chunk_id in one.call.chunk_ids
    }  # fmt: skip
    context = gathering.context
    if unmeasured:
        best = await _nearest(context, sorted(unmeasured))
        ceiling = context.retriever.space.max_distance
        measured = GateDecision(best is not None and best <= ceiling, best)
        if measured.passed:
            return measured, None
        decisions.append(measured)
    decision = min(decisions, key=_best, default=GateDecision(False, None))
    return decision, await _reason(gathering, decision)


def _best(decision: GateDecision) -> float:
    return 2.0 if decision.best is None else decision.best


async def _reason(gathering: Gathering, decision: GateDecision) -> Reason:
    """The reason of the refusal, as ``Retrieval.reason`` has it."""
    context = gathering.context
    if decision.best is not None or context.ledger.entries:
        return "below_gate"
    store = context.retriever.store.within(context.scope)
    if not await store.has_chunks():
        return "no_documents"
    return "filtered_empty" if context.scope.narrowed else "below_gate"


async def _nearest(context: ToolContext, chunk_ids: list[int]) -> float | None:
    """The least cosine distance, 0 to 2, of the question from chunks; None where none is known."""
    vector = await question_vector(context.retriever.space.embedder, FollowUp(context.question))
    values = {"vector": Vector(np.asarray(vector, np.float32)), "ids": chunk_ids}
    store = context.retriever.store.within(context.scope)
    rows = await store.fetch(sql.NEAREST, {**values, "tenant": context.scope.tenant})
    distance: float | None = rows[0]["distance"]
    return None if distance is None or math.isnan(distance) else distance
