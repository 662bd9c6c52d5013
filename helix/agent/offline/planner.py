"""The plan of an agent without a model: rules choose what to list, search for and compute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.agent.figures import figures_of
from helix.agent.offline.computed import Computed, computed, without_computing, words_of
from helix.agent.offline.expressions import call_arguments
from helix.agent.offline.measures import kind_over
from helix.agent.offline.operands import operands_of
from helix.agent.offline.splitting import Split, split
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
        done = {outcome.call.name for outcome in outcomes}
        asked, parts = computed(question), split(question)
        if not outcomes and parts and parts.names:
            return Step(tuple(_lookups(parts)), "See which documents there are.")
        if not done & {"search_library", "query_table"}:
            calls = _searches(context, asked, parts, outcomes)
            return Step(tuple(calls), _thought(asked, len(calls)))
        if asked and "calculator" not in done:
            return _computation(context, asked)
        return Step()


def _thought(asked: Computed | None, calls: int) -> str:
    if asked:
        return f"Find the numbers, then compute the {asked.kind}."
    return f"Search for each of {calls} parts." if calls > 1 else "Search for the question."


def _lookups(parts: Split) -> Iterator[PlannedCall]:
    """The documents of each name."""
    for name in parts.names:
        yield PlannedCall("list_documents", {"having": name})


def _searches(
    context: ToolContext, asked: Computed | None, parts: Split | None, outcomes: Sequence[Outcome]
) -> list[PlannedCall]:
    """A search for each document or part; for a computation also queries of tables."""
    question = context.question
    documents = _documents(outcomes, parts)[:_MOST_PARTS] if parts else []
    if parts and len(documents) > 1:
        return [
            PlannedCall("search_library", {"query": parts.asked, "document_id": number})
            for number in documents
        ]
    if parts and len(parts.questions) > 1:
        return [PlannedCall("search_library", {"query": one}) for one in parts.questions]
    queries = (asked.queries or (without_computing(question),)) if asked else (question,)
    calls = [PlannedCall("search_library", {"query": one[:500]}) for one in queries]
    if asked:
        words = " ".join(sorted(words_of(question)))
        calls.append(PlannedCall("query_table", {"rows": words[:300]}))
    return calls


def _documents(outcomes: Sequence[Outcome], parts: Split) -> list[int]:
    """The listed documents, each once; only those of the question's periods if it names any."""
    found: dict[int, str] = {}
    for outcome in outcomes:
        for part in outcome.output.parts if outcome.output else ():
            if isinstance(part, str):
                found |= {int(one["id"]): one["title"] for one in _LISTED.finditer(part)}
    return parts.chosen(list(found.items()))


def _computation(context: ToolContext, asked: Computed) -> Step:
    """The call of the calculator, where each of its numbers has exactly one cell."""
    figures = [
        (entry.number, figure)
        for entry in context.ledger.entries
        for figure in figures_of(entry.hit)
    ]
    found = operands_of(asked, figures)
    if found is None:
        return Step(thought="The numbers are not found, each alone; quote what there is.")
    kind = kind_over(asked, [one.figure for one in found])
    return Step((PlannedCall("calculator", call_arguments(kind, found)),), "Compute it.")
