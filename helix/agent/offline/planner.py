"""The plan of an agent without a model: documents by their names, a search, a computation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from helix.agent.figures import figures_of
from helix.agent.offline.computations import computation_of, may_compute
from helix.agent.offline.expressions import call_arguments
from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext
from helix.language.durations import without_periods
from helix.language.periods import periods

_LISTED = re.compile(r"^- document (?P<id>\d+): (?P<title>.+)$", re.MULTILINE)
_NAME = re.compile(r"(?<!^)\b[A-Z][\w&.-]*+(?: (?:& )?[A-Z][\w&.-]*+)*")
"""Words with a capital behind the first word of a question: what may be the name of a document."""
_MOST = 6


@dataclass(frozen=True)
class OfflinePlanner:
    """Plans at most three steps: list documents, search them, calculate."""

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The step after ``outcomes``; helix.agent.step.Planner has the contract."""
        question = context.question
        called = [outcome.call.name for outcome in outcomes]
        computes = may_compute(question)
        if not outcomes and (lookups := list(_lookups(question, computes=computes))):
            return Step(tuple(lookups), "See which documents there are.")
        if "search_library" not in called:
            return _searches(context, _documents(outcomes, question), computes=computes)
        if computes and "calculator" not in called:
            return _computation(context)
        return Step()


def _lookups(question: str, *, computes: bool) -> Iterator[PlannedCall]:
    """The documents of each name, of several names, or of one over all of its periods."""
    names = names_in(question)
    if len(names) > 1 or (names and computes and not periods(question)):
        yield from (PlannedCall("list_documents", {"having": name}) for name in names)


def names_in(question: str) -> list[str]:
    """The names in a question, each once, without its periods; none of one in capitals."""
    if question.isupper():
        return []
    found = (match[0].rstrip(".") for match in _NAME.finditer(without_periods(question).strip()))
    return list(dict.fromkeys(name for name in found if len(name) > 2))[:_MOST]


def _searches(context: ToolContext, documents: Sequence[int], *, computes: bool) -> Step:
    """A search of each document, else of the library; for a computation the tables' rows too."""
    query = context.question
    if len(documents) > 1:
        calls = [
            PlannedCall("search_library", {"query": query[:500], "document_id": number})
            for number in documents
        ]
        return Step(tuple(calls), f"Search each of {len(calls)} documents.")
    calls = [PlannedCall("search_library", {"query": query})]
    if computes:
        calls.append(PlannedCall("query_table", {"rows": query[:300]}))
    return Step(tuple(calls), "Search for the question.")


def _documents(outcomes: Sequence[Outcome], question: str) -> list[int]:
    """The listed documents, each once; those of the question's periods where there are such."""
    parts = chain.from_iterable(one.output.parts for one in outcomes if one.output)
    texts = (part for part in parts if isinstance(part, str))
    titles = {int(one["id"]): one["title"] for text in texts for one in _LISTED.finditer(text)}
    asked = {period.keys[0] for period in periods(question)}
    dated = [
        number for number, title in titles.items()
        if asked.intersection(key for period in periods(title) for key in period.keys)
    ]  # fmt: skip
    return (dated if len(dated) > 1 else list(titles))[:_MOST]


def _computation(context: ToolContext) -> Step:
    """The call of the calculator, where each of its numbers has exactly one cell."""
    entries = context.ledger.entries
    figures = [(entry.number, one) for entry in entries for one in figures_of(entry.hit)]
    found = computation_of(context.question, figures)
    if found is None:
        return Step(thought="The numbers are not found, each alone; quote what there is.")
    return Step((PlannedCall("calculator", call_arguments(found)),), f"Compute the {found.kind}.")
