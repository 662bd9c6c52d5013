"""The plan of an agent without a model: documents by their names, a search, a computation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from helix.agent.column_questions import names_a_column, operation_of
from helix.agent.figures import Figure, figures_of
from helix.agent.offline.computations import Computation, Kind, computation_of, may_compute
from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext
from helix.agent.tools.column_results import LONGEST
from helix.domain.calculations import Operand
from helix.language.markdown_rows import table_rows
from helix.language.periods import periods, without_periods

_LISTED = re.compile(r"^- document (?P<id>\d+): (?P<title>.+)$", re.MULTILINE)
_NAME = re.compile(r"(?<!^)\b[A-Z][\w&.-]*+(?: (?:& )?[A-Z][\w&.-]*+)*")
"""Words with a capital behind the first word of a question: what may be the name of a document."""
_MOST = 6
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_FORMS: dict[Kind, tuple[str, tuple[int, ...]]] = {
    "change": ("{} - {}", (0, 1)), "percent change": ("({} - {}) / {}", (0, 1, 1)),
    "share": ("{} / {}", (0, 1)), "ratio": ("{} / {}", (0, 1)),
}  # fmt: skip
"""By kind, an expression and the index of the number at each of its places."""


@dataclass(frozen=True)
class OfflinePlanner:
    """Plans at most four steps: list documents, search them, calculate, or query a column."""

    def step(self, context: ToolContext, outcomes: Sequence[Outcome]) -> Step:
        """The step after ``outcomes``; helix.agent.step.Planner has the contract."""
        question = context.question
        called = [outcome.call.name for outcome in outcomes]
        asked_of_columns = any("question" in outcome.call.arguments for outcome in outcomes)
        computes = may_compute(question)
        if not outcomes and (lookups := list(_lookups(question, computes=computes))):
            return Step(tuple(lookups), "See which documents there are.")
        if "search_library" not in called:
            return _searches(context, _documents(outcomes, question), computes=computes)
        computation = _computation(context) if computes and "calculator" not in called else Step()
        if computation.calls or "calculator" in called or asked_of_columns:
            return computation
        return _of_column(context) or computation


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


def _of_column(context: ToolContext) -> Step | None:
    """The query of a whole column, where a question names a column of a passage's table."""
    question = context.question
    operation = operation_of(question)
    rows = (row for one in context.ledger.entries for row, _ in table_rows(one.hit.content))
    if operation is None or not any(names_a_column(question, row) for row in rows):
        return None
    call = PlannedCall("query_table", {"question": question[:LONGEST]})
    return Step((call,), f"See whether a table's column has the {operation}.")


def _computation(context: ToolContext) -> Step:
    """The call of the calculator, where each of its numbers has exactly one cell."""
    entries = context.ledger.entries
    figures = [(entry.number, one) for entry in entries for one in figures_of(entry.hit)]
    found = computation_of(context.question, figures)
    if found is None:
        return Step(thought="The numbers are not found, each alone; quote what there is.")
    return Step((PlannedCall("calculator", call_arguments(found)),), f"Compute the {found.kind}.")


def call_arguments(found: Computation) -> dict[str, Any]:
    """The arguments of ``calculator``: the expression, and where each of its numbers stands."""
    operands = [figure.operand for _, figure in found.cells]
    mixed = len({one.scale for one in operands if not one.is_percent}) > 1
    numbers = [_as_printed(one, with_scale=mixed) for one in operands]
    if found.kind in _FORMS:
        form, order = _FORMS[found.kind]
        expression = form.format(*(numbers[place] for place in order))
    else:
        total = " + ".join(numbers)
        expression = f"({total}) / {len(numbers)}" if found.kind == "average" else total
        order = tuple(range(len(numbers)))
    references = [_operand(*found.cells[place]) for place in order]
    as_percent = found.kind in ("percent change", "share")
    return {"expression": expression, "operands": references, "as_percent": as_percent}


def _as_printed(operand: Operand, *, with_scale: bool) -> str:
    amount = operand.amount
    scale = f" {operand.scale}" if with_scale and operand.scale and not operand.is_percent else ""
    text = f"{_digits(operand)}{scale}{'%' if operand.is_percent else ''}"
    return f"(-{text})" if amount is not None and amount.digits.startswith("-") else text


def _digits(operand: Operand) -> str:
    """The digits of the number as it is printed, without currency, sign and unit."""
    match = _NUMBER.search(operand.quote)
    return match[0] if match else operand.quote


def _operand(source: int, figure: Figure) -> dict[str, Any]:
    return {
        "number": _digits(figure.operand),
        "source": source,
        "row": figure.row,
        "column": figure.column,
    }
