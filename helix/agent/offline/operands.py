"""The cells that a computation takes, found by the words of their row, column and table.

A right calculation over the wrong cell is worse than none. So neither of two cells that fit
equally well is taken, and no cell whose row has fewer of the question's words than another row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from helix.agent.figures import Figure
from helix.agent.offline.computations import COMPARING, OF_TIME, Computation, OperandQuery
from helix.agent.offline.measures import is_sound, is_suitable
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods
from helix.language.rows import INWARDS
from helix.language.word_lists import word_lists

_LISTS = word_lists("tables")
_GENERIC = _LISTS["generic"] | {"other"}
_NOISE = OF_TIME | _LISTS["arithmetic"]
_LEAST_LABEL = 0.6
"""The share of a row's name that the question has to have."""
_LEAST_ASKED = 0.5
"""The share of the question's words that row, column and table have to have."""
_CLOSE = 0.02
_MOST_PERIODS = 12
_CHANGE = re.compile(r"\b(?:chang|increas|decreas|growth|variance)\w*|\bchg\b", re.IGNORECASE)
_OTHER = re.compile(r"\bother\b", re.IGNORECASE)
_UNITS = re.compile(
    r"\((?:[\d,\s]+|[^()]*(?:\bper\b|\bcents?\b|\bshares\b|illions?\b|thousands?\b|\byears?\b"
    r"|[%$€£])[^()]*)\)",
    re.IGNORECASE,
)
"""Brackets in a name that hold its unit, or a footnote."""


Cells = Sequence[tuple[int, Figure]]
"""Figures with the numbers of their sources."""
Around = Mapping[int, frozenset[str]]
"""The meanings of the words of a document's passages, by the document's id."""


@dataclass(frozen=True)
class ScoredFigure:
    """A figure with how well it fits; ``source`` is the number of its source."""

    source: int
    figure: Figure
    score: float

    @property
    def place(self) -> tuple[int, int]:
        """The document's id, and the figure's offset in the document."""
        return self.figure.operand.document_id, self.figure.operand.start

    @property
    def identity(self) -> tuple[str, str, str, Decimal | None]:
        """Its row, column, unit and value: equal for one figure printed in several places."""
        row, column, scale = self.alike
        return row.rpartition(INWARDS)[2], column, scale, self.figure.operand.value

    @property
    def alike(self) -> tuple[str, str, str]:
        """Equal for cells of one row whose columns differ only in their period."""
        bare = " ".join(meanings(without_periods(self.figure.column)))
        return self.figure.row, bare, self.figure.operand.scale


@dataclass(frozen=True)
class _Tables:
    """The cells to choose from, the names of all rows, and the words of their passages."""

    cells: Cells
    row_names: frozenset[str]
    around: Around


@dataclass(frozen=True)
class _CellWords:
    """The meanings of the words of a cell's row, row groups, column and caption.

    ``bare`` and the groups are without their units.
    """

    bare: frozenset[str]
    label: frozenset[str]
    group: frozenset[str]
    column: frozenset[str]
    caption: frozenset[str]


def operands_of(
    computation: Computation, figures: Sequence[tuple[int, Figure]]
) -> tuple[ScoredFigure, ...] | None:
    """The cell of each wanted number; None where one has no cell, or several equally good ones."""
    cells = [
        (source, figure)
        for source, figure in figures
        if figure.place >= 0 and not _CHANGE.search(figure.column)
    ]
    suitable = [(source, figure) for source, figure in cells if is_suitable(computation, figure)]
    # shares have the names of their amounts
    with_names = suitable if computation.of_shares else cells
    row_names = frozenset[str]().union(*(_rows_of(figure) for _, figure in with_names))
    tables = _Tables(suitable, row_names, _around(figures))
    if computation.every:
        return _every_period(computation, tables)
    candidates = [_best(query, tables) for query in computation.operands]
    if any(len(one) > 1 for one in candidates):
        candidates = _of_one_kind(candidates)
    best = tuple(one[0] for one in candidates if len(one) == 1)
    if len(best) != len(computation.operands) or len({one.place for one in best}) < len(best):
        return None
    same_words = len({query.words for query in computation.operands}) == 1
    if same_words and len({one.figure.row for one in best}) > 1 and _dated_columns(best):
        return None
    return best if is_sound(computation, [one.figure for one in best]) else None


def _around(figures: Cells) -> Around:
    """The meanings of the words of each document's passages, also of those without a table."""
    words_by_document: dict[int, frozenset[str]] = {}
    for about, document in {(one.about, one.operand.document_id) for _, one in figures}:
        words_by_document[document] = words_by_document.get(document, frozenset()) | about
    return words_by_document


def _dated_columns(best: Sequence[ScoredFigure]) -> bool:
    return all(periods(one.figure.column) for one in best)


def _best(query: OperandQuery, tables: _Tables) -> list[ScoredFigure]:
    """The cells with the best score, each place once."""
    matches = sorted(_fitting(query, tables), key=lambda one: -one.score)
    if "total" in query.words:
        matches = [one for one in matches if "total" in _rows_of(one.figure)] or matches
    best = [one for one in matches if one.score >= matches[0].score - _CLOSE]
    best.sort(key=lambda one: (one.source, one.figure.operand.start))
    # a report prints the same value of the same row in several tables
    return list({one.identity: one for one in reversed(best)}.values())


def _of_one_kind(matches: Sequence[list[ScoredFigure]]) -> list[list[ScoredFigure]]:
    """The fitting cells whose columns have the same name except for the period."""
    common = set.intersection(*({one.alike for one in some} for some in matches))
    if len(common) != 1:
        return [list(some) for some in matches]
    return [[one for one in some if one.alike in common] for some in matches]


def _fitting(query: OperandQuery, tables: _Tables) -> Iterator[ScoredFigure]:
    for source, figure in tables.cells:
        if query.period and not _is_of(query.period, figure):
            continue
        about = tables.around[figure.operand.document_id]
        score = _score(query, figure, tables.row_names, about)
        if score is not None:
            yield ScoredFigure(source, figure, score)


def _score(
    query: OperandQuery, figure: Figure, row_names: frozenset[str], around: frozenset[str]
) -> float | None:
    """The fit of a cell to the operand asked for, 0 to about 2; None where it does not fit."""
    cell = _cell_words_of(figure.row, figure.column, figure.caption)
    query_words = query.words | query.beside
    bare = cell.bare - _GENERIC - _NOISE or cell.bare - _NOISE or cell.bare
    met = bare & query_words
    if bare and not met:
        return None
    share = len(met) / len(bare) if bare else _LEAST_LABEL
    cell_words = cell.label | cell.column | cell.group
    if share < _LEAST_LABEL or not query.words & cell_words:
        return None
    if (query.words & row_names) - cell_words - cell.caption - _GENERIC:
        return None  # another row has the name that is asked for
    if (query.words & frozenset(["other"])) - cell_words:
        return None
    specific = query.words - _GENERIC or query.words
    if specific - around - _GENERIC - _NOISE:
        return None  # a word of the question that nothing of the document's passages has
    total = sum(
        1.0 if word in cell.label
        else 0.9 if word in cell.column | cell.group
        else 0.5 if word in cell.caption
        else 0.0
        for word in specific
    )  # fmt: skip
    covered = total / len(specific)
    if covered < _LEAST_ASKED:
        return None
    beside = len(query.beside & cell_words) / len(query.beside) if query.beside else 0.0
    strange = len((cell.column | cell.group) - query_words - _GENERIC - cell.caption)
    generic = len((cell.label ^ query_words) & _GENERIC)
    return covered + share + 0.3 * beside - 0.1 * strange - 0.15 * generic


def _rows_of(figure: Figure) -> frozenset[str]:
    cell = _cell_words_of(figure.row, figure.column, "")
    return cell.label | cell.group | cell.column


@lru_cache(maxsize=4096)
def _cell_words_of(row: str, column: str, caption: str) -> _CellWords:
    *groups, label = row.split(INWARDS)
    texts = _UNITS.sub(" ", label), label, _UNITS.sub(" ", " ".join(groups)), column, caption
    return _CellWords(*map(_words, texts))


def _words(text: str) -> frozenset[str]:
    words = frozenset(meanings(without_periods(text))) - OF_TIME
    return words | frozenset(["other"] if _OTHER.search(text) else [])


def _is_of(period: Period, figure: Figure) -> bool:
    """True if the cell's column, else its row, else its table's caption names the period."""
    for text in (figure.column, figure.row.replace(INWARDS, " "), figure.caption):
        if named_periods := periods(text):
            return any(_agrees(period, one) for one in named_periods)
    return False


def _agrees(period: Period, other: Period) -> bool:
    if period.keys[0] == other.keys[0]:
        return True
    is_year = period.keys[0].startswith(("annual:", "year:"))
    return is_year and period.keys[0] in other.keys


def _every_period(computation: Computation, tables: _Tables) -> tuple[ScoredFigure, ...] | None:
    """All cells of the best row, where its columns are periods under one name.

    For a change the row must have two, and the later one is first.
    """
    matches = _best(computation.operands[0], tables)
    if len({one.alike for one in matches}) != 1:
        return None
    dated = [(_begins(one), one) for one in matches]
    if not all(when for when, _ in dated) or not 1 < len(dated) <= _MOST_PERIODS:
        return None
    dated.sort(key=lambda each: each[0], reverse=True)
    if computation.kind in COMPARING and len(dated) != 2:
        return None
    best = tuple(one for _, one in dated)
    return best if is_sound(computation, [one.figure for one in best]) else None


def _begins(match: ScoredFigure) -> str:
    named_periods = periods(match.figure.column)
    return named_periods[0].keys[0].partition(":")[2] if named_periods else ""
