"""Cells that answer: the one whose row, column, period and table are what a question asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helix.domain.question_analysis import AnswerKind, AskedQuestion
from helix.domain.relevance import companies_of, foreign_names
from helix.language.rows import amount
from helix.providers.offline.cell_candidates import Candidate, asked_of_cells, candidates
from helix.providers.offline.cell_statements import statement_of
from helix.providers.offline.reading import PromptSource

_CLOSE = 0.01


@dataclass(frozen=True)
class CellAnswer:
    """A cell as it answers: ``text`` is the statement without its marker; ``score`` 0 to about 3.

    ``source`` is its place in the list of sources.
    """

    source: int
    text: str
    score: float


def cell_answer(question: AskedQuestion, sources: Sequence[PromptSource]) -> CellAnswer | None:
    """The cell that answers best; None where none does, or none alone."""
    if question.kind is AnswerKind.OPEN and not question.asks_for_value:
        return None
    asked = asked_of_cells(question)
    if not asked.subject:
        return None
    companies = companies_of(sources)
    found = [
        candidate
        for place, source in enumerate(sources)
        if not foreign_names(question, source.place, source.meanings, companies)
        for candidate in candidates(asked, place, source)
    ]
    if not found:
        return None
    best = max(found, key=lambda each: each.score)
    if any(_rivals(best, other) for other in found):
        return None
    return CellAnswer(best.source, statement_of(best), best.score)


def _rivals(best: Candidate, other: Candidate) -> bool:
    """True if another cell is as good and says something else: then neither is the answer."""
    if other is best or other.score < best.score - _CLOSE:
        return False
    said, same = amount(best.cell.value), amount(other.cell.value)
    if said and same:  # `$6,976` in one table is `6,976` in another
        return said.digits != same.digits
    return other.cell.value != best.cell.value
