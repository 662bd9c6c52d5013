"""The plan of an agent without a model: rules choose what to list, search for and compute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.agent.figures import figures_of
from helix.agent.offline.computations import (
    Computation,
    computation_of,
    without_computing,
    words_of,
)
from helix.agent.offline.expressions import call_arguments
from helix.agent.offline.measures import kind_over
from helix.agent.offline.operands import operands_of
from helix.agent.offline.question_parts import QuestionParts, question_parts
from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext

_LISTED = re.compile(r"^- document (?P<id>\d+): (?P<title>.+)$", re.MULTILINE)
_MOST_PARTS = 6


@dataclass(frozen=True)
class OfflinePlanner:
    """Plans at most three steps: list the documents, search them, calculate."""

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The step after ``outcomes``; helix.agent.step.Planner has the contract."""
        question = context.question
        called = {outcome.call.name for outcome in outcomes}
        computation, parts = computation_of(question), question_parts(question)
        if not outcomes and parts and parts.names:
            return Step(tuple(_lookups(parts)), "See which documents there are.")
        if not called & {"search_library", "query_table"}:
            calls = _searches(context, computation, parts, outcomes)
            return Step(tuple(calls), _thought(computation, len(calls)))
        if computation and "calculator" not in called:
            return _computation(context, computation)
        return Step()


def _thought(computation: Computation | None, calls: int) -> str:
    if computation:
        return f"Find the numbers, then compute the {computation.kind}."
    return f"Search for each of {calls} parts." if calls > 1 else "Search for the question."


def _lookups(parts: QuestionParts) -> Iterator[PlannedCall]:
    """The documents of each name."""
    for name in parts.names:
        yield PlannedCall("list_documents", {"having": name})


def _searches(
    context: ToolContext,
    computation: Computation | None,
    parts: QuestionParts | None,
    outcomes: Sequence[Outcome],
) -> list[PlannedCall]:
    """A search for each document or part; for a computation also queries of tables."""
    question = context.question
    documents = _documents(outcomes, parts)[:_MOST_PARTS] if parts else []
    if parts and len(documents) > 1:
        return [
            PlannedCall("search_library", {"query": parts.document_question, "document_id": number})
            for number in documents
        ]
    if parts and len(parts.questions) > 1:
        return [PlannedCall("search_library", {"query": one}) for one in parts.questions]
    queries = (
        (computation.queries or (without_computing(question),)) if computation else (question,)
    )
    calls = [PlannedCall("search_library", {"query": one[:500]}) for one in queries]
    if computation:
        words = " ".join(sorted(words_of(question)))
        calls.append(PlannedCall("query_table", {"rows": words[:300]}))
    return calls


def _documents(outcomes: Sequence[Outcome], parts: QuestionParts) -> list[int]:
    """The listed documents, each once; only those of the question's periods if it names any."""
    titles: dict[int, str] = {}
    for outcome in outcomes:
        for part in outcome.output.parts if outcome.output else ():
            if isinstance(part, str):
                titles |= {int(one["id"]): one["title"] for one in _LISTED.finditer(part)}
    return parts.documents_to_search(list(titles.items()))


def _computation(context: ToolContext, computation: Computation) -> Step:
    """The call of the calculator, where each of its numbers has exactly one cell."""
    figures = [
        (entry.number, figure)
        for entry in context.ledger.entries
        for figure in figures_of(entry.hit)
    ]
    operands = operands_of(computation, figures)
    if operands is None:
        return Step(thought="The numbers are not found, each alone; quote what there is.")
    kind = kind_over(computation, [one.figure for one in operands])
    return Step((PlannedCall("calculator", call_arguments(kind, operands)),), "Compute it.")
