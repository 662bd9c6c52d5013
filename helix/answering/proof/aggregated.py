"""Proof of statements with a count, a sum, an average or an extreme over a column of a table.

The statement has to be the aggregate's own. It is computed again from its cells, each of which has
to stand in what is cited; and no row of their table may stand there that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from helix.answering.proof.calculated import CalculatedProof
from helix.answering.proof.facts import Facts
from helix.answering.proof.model import NAME
from helix.answering.proof.passages import Passage
from helix.domain.aggregates import Aggregate, Computed
from helix.domain.calculations import Operand
from helix.language.comparisons import is_total
from helix.language.markdown_rows import table_rows
from helix.language.rows import INWARDS, Named, TableRow
from helix.language.sentences import Span
from helix.language.words import copy_words

Place = tuple[int, int]
"""A document, and where in it a cell begins."""
_Cell = tuple[Passage, TableRow, Named]


def aggregated(
    claim: str, computed: Sequence[Computed], passages: Sequence[Passage]
) -> CalculatedProof | None:
    """The proof of a claim that cites ``passages``; None where it states no aggregate."""
    said, facts = copy_words(claim), Facts(claim)
    for one in computed:
        if not isinstance(one, Aggregate) or copy_words(one.statement) != said:
            continue
        if one.holds() and facts.has_same_numbers(Facts(one.statement)):
            spans = _spans(one, passages)
            return CalculatedProof(spans, None, one) if spans else CalculatedProof((), NAME)
    return None


def _spans(of: Aggregate, passages: Sequence[Passage]) -> tuple[tuple[Passage, Span], ...]:
    """The spans of the cells, from which the result comes; () where the cited rows are others."""
    cells = {
        place: (passage, row, cell)
        for passage in passages
        for place, row, cell in _cells(passage, of.columns)
    }
    stated = {_place(one): one for one in of.operands}
    if cells.keys() != stated.keys():
        return ()
    if not all(_is_of(one, *cells[place][1:]) for place, one in stated.items()):
        return ()
    used = [cells[_place(one)] for one in of.used]
    return tuple((passage, (row.start, cell.end)) for passage, row, cell in used)


def _cells(passage: Passage, columns: Sequence[str]) -> Iterator[tuple[Place, TableRow, Named]]:
    """The cells of these columns in the rows that have them all, totals aside."""
    for row, _ in table_rows(passage.text):
        named = [cell for cell in row.cells if cell.header in columns]
        if {cell.header for cell in named} >= set(columns) and not is_total(row):
            for cell in named:
                at = (passage.hit.start_char or 0) + cell.start
                yield (passage.hit.document_id, at), row, cell


def _place(operand: Operand) -> Place:
    return operand.document_id, operand.start


def _is_of(operand: Operand, row: TableRow, cell: Named) -> bool:
    """True if a cell and its row are called as the operand says."""
    texts = "\n".join((INWARDS.join(row.path), *(each.value for each in row.cells)))
    is_row = all(part in texts for part in operand.row.split(", "))
    return is_row and (cell.value, cell.header) == (operand.quote, operand.column)
