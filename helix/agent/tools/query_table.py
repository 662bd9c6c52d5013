"""query_table: rows and columns of the stored tables, by name and condition."""

from __future__ import annotations

import asyncio
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import Field

from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput
from helix.agent.tools.column_results import LONGEST, column_result
from helix.agent.tools.documents import Row, fetch, narrowed, passages_holding
from helix.language.paraphrases import meanings
from helix.language.periods import without_periods
from helix.language.rows import INWARDS, amount
from helix.language.word_lists import word_lists
from helix.storage.document_parts import tables_of

_MOST_TABLES = 400
_MOST_CELLS = 3000
_MOST_ROWS = 24
_MOST_PASSAGES = 6
_ENOUGH = 0.6
"""The least share of the asked words that a row's or column's name has."""
_CONDITION = re.compile(r"(?P<column>\S(?:.*?\S)??)\s*(?P<sign><=|>=|!=|==?|<|>)\s*(?P<value>.+)")
_SIGNS: dict[str, Callable[..., bool]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "=": operator.eq, "==": operator.eq,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_GENERIC = word_lists("tables")["generic"]


class TableArguments(Arguments):
    """The rows and columns to return, by words of their names, and the document that has them."""

    rows: str = Field(
        "", max_length=300, description="Words of the rows' names; all rows if empty."
    )
    columns: str = Field("", max_length=300, description="Words of the columns' names.")
    where: str = Field("", max_length=300, description="A condition: 2019 > 1000, Region = EMEA.")
    document_id: int | None = Field(None, description="The tables of this document alone.")
    question: str = Field(
        "", max_length=LONGEST,
        description="A question for a count, a sum, an average, the highest or lowest of a column.",
    )  # fmt: skip


@dataclass(frozen=True)
class _Cell:
    """A cell with the path of its column, and where its document has it."""

    column: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class _Line:
    """A row of a stored table: its path, its cells, and how well it fits the words asked for."""

    table: Row
    name: str
    cells: tuple[_Cell, ...]
    score: float


async def query(arguments: TableArguments, context: ToolContext) -> ToolOutput:
    """The rows that fit best, a line each, and the passages that hold their cells."""
    scope = context.scope
    if arguments.document_id is not None:
        scope = narrowed(context, arguments.document_id)
    cited_documents = list(dict.fromkeys(entry.hit.document_id for entry in context.ledger.entries))
    documents = (
        [arguments.document_id] if arguments.document_id is not None else cited_documents or None
    )
    tables = await fetch(context, tables_of(scope, documents, _MOST_TABLES, _MOST_CELLS))
    if arguments.question:
        return await column_result(arguments.question, tables, context)
    condition = _condition(arguments.where)
    lines = await asyncio.to_thread(_best_lines, tables, arguments, condition)
    if not lines:
        return ToolOutput(("No table has such a row and column.",))
    places = [
        (line.table["document_id"], cell.start, cell.end) for line in lines for cell in line.cells
    ]
    passages = await passages_holding(context, places)
    return ToolOutput((_rendered(lines), *passages[:_MOST_PASSAGES]))


def _best_lines(
    tables: Sequence[Row], arguments: TableArguments, condition: re.Match[str] | None
) -> list[_Line]:
    """The rows that fit best, best first: up to two seconds of work in 400 large tables."""
    lines = [line for table in tables for line in _lines(table, arguments, condition) if line.cells]
    lines.sort(key=lambda line: -line.score)
    return [line for line in lines if line.score >= lines[0].score * _ENOUGH][:_MOST_ROWS]


def _lines(
    table: Row, arguments: TableArguments, condition: re.Match[str] | None
) -> Iterator[_Line]:
    """The rows of a table whose names fit the arguments, each with the columns that fit."""
    about = f"{table['caption']} {table['title']} {' '.join(map(str, table['facts'].values()))}"
    beside = frozenset(meanings(about))
    row_words = _query_words(arguments.rows)
    columns = [INWARDS.join(path) for path in table["column_paths"]]
    matching_columns = _matching_columns(columns, arguments.columns)
    by_row: dict[int, list[_Cell]] = {}
    for row, column, start, end in table["cells"]:
        at = table["start_char"]
        value = table["text"][start - at : end - at]
        by_row.setdefault(row, []).append(_Cell(columns[column], value, start, end))
    for row, cells in sorted(by_row.items()):
        name = INWARDS.join(table["row_paths"][row])
        score = _fits(row_words, frozenset(meanings(name)), beside)
        if score >= _ENOUGH and (condition is None or _holds(condition, name, cells)):
            matching_cells = tuple(cell for cell in cells if cell.column in matching_columns)
            yield _Line(table, name, matching_cells, score)


def _query_words(text: str) -> frozenset[str]:
    words = frozenset(meanings(without_periods(text)))
    return words - _GENERIC or words


def _fits(query_words: frozenset[str], name_words: frozenset[str], beside: frozenset[str]) -> float:
    """The fit of a row's name, 0 to 1; words of the table's caption count half."""
    if not query_words:
        return 1.0
    if not query_words & name_words:
        return 0.0
    bare = name_words - _GENERIC or name_words
    share = (len(query_words & name_words) + 0.5 * len((query_words - name_words) & beside)) / len(
        query_words
    )
    return min(1.0, share) * (0.5 + 0.5 * len(bare & query_words) / max(len(bare), 1))


def _matching_columns(columns: Sequence[str], text: str) -> frozenset[str]:
    """The columns whose names share a word with ``text``; all columns where none does."""
    words = frozenset(meanings(text))
    shares = {column: len(words & frozenset(meanings(column))) for column in columns}
    if not any(shares.values()):
        return frozenset(columns)
    return frozenset(column for column, share in shares.items() if share)


def _condition(where: str) -> re.Match[str] | None:
    if not where.strip():
        return None
    match = _CONDITION.fullmatch(where.strip())
    if match is None:
        raise ToolFailure("The condition is not understood: write a column, a sign and a value.")
    if not meanings(match["column"]):
        raise ToolFailure("The condition names no column: write its name in front of the sign.")
    return match


def _holds(condition: re.Match[str], name: str, cells: Sequence[_Cell]) -> bool:
    """True if a cell of a column with that name meets the condition, or the row's name does where
    no column has that name.
    """
    column, expected = frozenset(meanings(condition["column"])), condition["value"].strip()
    compare = _SIGNS[condition["sign"]]
    number, is_of_cell = amount(expected), False
    for cell in cells:
        if not column <= frozenset(meanings(cell.column)):
            continue
        is_of_cell, value = True, amount(cell.value)
        if number and value:
            if compare(Decimal(value.digits), Decimal(number.digits)):
                return True
        elif _compares_texts(compare, cell.value, expected):
            return True
    is_of_row = compare is operator.eq or not is_of_cell
    return is_of_row and _compares_texts(compare, name, expected)


def _compares_texts(compare: Callable[[str, str], bool], text: str, other: str) -> bool:
    """True if the texts are the same, or are not; of texts that is all that is compared."""
    return compare in (operator.eq, operator.ne) and compare(text.casefold(), other.casefold())


def _rendered(lines: Sequence[_Line]) -> str:
    """The rows under their tables: caption, units, document and page."""
    output: list[str] = []
    before = None
    for line in lines:
        table = line.table
        if table is not before:
            page = f", page {table['page']}" if table["page"] else ""
            caption = table["caption"] or table["units"] or "Table"
            output.append(f"{caption} ({table['title']}, document {table['document_id']}{page}):")
            before = table
        cells = "; ".join(f"{cell.column}: {cell.value}" for cell in line.cells)
        output.append(f"- {line.name or 'row'}: {cells}")
    return "\n".join(output)


QUERY_TABLE = Tool("query_table", TableArguments, query)
