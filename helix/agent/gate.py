"""The gate over a ledger: whether an answer may be written from the passages of the tools."""

from __future__ import annotations

import math

import numpy as np
from pgvector import Vector

from helix.agent.gathering import Gathering
from helix.agent.tool import ToolContext
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision
from helix.domain.retrieval import Reason
from helix.retrieval.searches import question_vector
from helix.storage.statements import chunks as sql

Gated = tuple[GateDecision, Reason | None]


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
