"""The result of a question for a count, a sum, an average or an extreme, over whole tables.

Only what one table alone answers is told: where two do, nothing says which is meant.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.agent.column_questions import ColumnQuestion, column_question, parts_of
from helix.agent.tool import ToolContext, ToolOutput
from helix.agent.tools.documents import Row, passages_holding
from helix.domain.aggregates import Aggregate, aggregate
from helix.domain.calculations import Operand
from helix.domain.gate import GateDecision
from helix.domain.names import texts_of
from helix.domain.records import Hit
from helix.language.markdown_rows import table_rows
from helix.language.rows import INWARDS, Named, TableRow, counted_in, units_in
from helix.language.sentences import Span

_DIGIT = re.compile(r"\d")
LONGEST = 300
"""Characters of a question."""
_MOST_READ = 4
"""Tables that may answer, whose passages are read."""


@dataclass(frozen=True)
class _Asked:
    """A stored table and the question that is asked of it."""

    table: Row
    rows: Sequence[TableRow]
    question: ColumnQuestion

    @property
    def places(self) -> list[tuple[int, int, int]]:
        """The places of the table's rows: document, start, end."""
        at = self.table["start_char"]
        return [(self.table["document_id"], at + row.start, at + row.end) for row in self.rows]


async def column_result(question: str, tables: Sequence[Row], context: ToolContext) -> ToolOutput:
    """The passages of the table that answers, and what comes of its cells.

    No gate measures them where it is the asker's question: all of its words were met.
    """
    asked = await asyncio.to_thread(lambda: list(_asked_of(question, tables)))
    found: list[tuple[Aggregate, Sequence[Hit]]] = []
    for one in asked[:_MOST_READ]:
        hits = await passages_holding(context, one.places)
        if result := _aggregate(one, hits):
            found.append((result, hits))
    if len(found) != 1 or len(asked) > _MOST_READ:
        return ToolOutput(("No table alone answers that surely.",))
    ((result, passages),) = found
    is_askers = question == context.question[:LONGEST]
    return ToolOutput(
        (result.statement, *passages), (result,), GateDecision(True, None) if is_askers else None
    )


def _asked_of(question: str, tables: Sequence[Row]) -> Iterator[_Asked]:
    """The tables that have what the question names, but for parts of one that is printed apart."""
    alike = Counter((one["document_id"], str(one["column_paths"])) for one in tables)
    for table in tables:
        if alike[table["document_id"], str(table["column_paths"])] > 1:
            continue
        rows = [row for row, _ in table_rows(table["text"])]
        if rows and (found := column_question(question, rows)):
            yield _Asked(table, parts_of(rows), found)


def _aggregate(asked: _Asked, passages: Sequence[Hit]) -> Aggregate | None:
    """The result over the table's cells in its passages; None where one of its rows is missing."""
    found = {
        start: (hit, row, above) for hit in passages for start, row, above in _placed_rows(hit)
    }
    lines = [found[start] for _, start, _ in asked.places if start in found]
    if len(lines) < len(asked.rows):
        return None
    hit, row, above = lines[0]
    texts = (hit.title, *hit.heading_path, hit.label, hit.content[slice(*above)], row.corner,
             *texts_of(hit.facts).values())  # fmt: skip
    if not asked.question.is_about("\n".join(texts)):
        return None
    of = asked.question
    headers = (*(one.column for one in of.conditions), *filter(None, [of.column]))
    operands = [
        _operand(line, cell, of.keys)
        for line in lines
        for header in headers
        for cell in line[1].cells
        if cell.header == header
    ]
    return aggregate(of.operation, of.column, of.kind, of.conditions, operands)


def _placed_rows(hit: Hit) -> Iterator[tuple[int, TableRow, Span]]:
    """The rows of a passage, each with its place in the document."""
    if hit.start_char is not None:
        for row, above in table_rows(hit.content):
            yield hit.start_char + row.start, row, above


def _operand(line: tuple[Hit, TableRow, Span], cell: Named, keys: Sequence[str]) -> Operand:
    """A cell, whose row is called by its label and by the other columns that tell rows apart."""
    hit, row, above = line
    at = hit.start_char or 0
    beside = (c.value for c in row.cells if c.header in keys and not _DIGIT.search(c.value))
    named = [INWARDS.join(row.path), *beside]
    name = ", ".join(dict.fromkeys(filter(None, named)))
    scale = counted_in(row, cell, units_in(hit.content, above))
    return Operand(
        hit.chunk_id, hit.document_id, at + cell.start, at + cell.end, cell.value, scale, name,
        cell.header,
    )  # fmt: skip
