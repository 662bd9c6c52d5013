"""Statements about a cell of a table: the value, its row, its column and its unit must all be it.

A row has many values, each of another period or kind, so words in common prove nothing: what a
statement says beside its value has to stand in the label of the value's row, in the header of its
column, above the table, or in what the document is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from helix.answering.proof.model import NAME, NUMBER, WORDS
from helix.language.comparisons import cells_by_period, cells_by_row, greatest
from helix.language.paraphrases import meanings
from helix.language.periods import with_quarters
from helix.language.rows import NO_UNITS, Named, TableRow, Units, amount, rows_of, units_in
from helix.language.sentences import Span
from helix.language.word_lists import word_lists
from helix.language.words import copy_words

_VALUE = re.compile(
    r"(?<![\w.,])[-–−]?[$€£¥]?\s?\(?[$€£¥]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\)?\s?%?\)?(?!\w|[.,]\d)"
)
_SCALE = re.compile(r"\s?(thousand|million|billion|trillion|percent)s?\b", re.IGNORECASE)
_NEUTRAL = word_lists("tables")["neutral"]
_LIMIT = 600  # characters of a statement about one cell
_EXTREME = re.compile(r",? the (highest|lowest) of (\d{1,3}) (periods|rows)\W*\Z")
"""The end of a statement whose cell was compared with others: `the highest of 3 periods`."""


@dataclass(frozen=True)
class CellProof:
    """Proof of a claim by rows: its spans, or none and the ``problem`` that they failed on."""

    spans: tuple[Span, ...]
    problem: str | None = None


@dataclass(frozen=True)
class _Said:
    """A number of the claim as it may be a value: `$39,669 million`, at ``text[start:end]``."""

    start: int
    end: int
    printed: str
    scale: str


@dataclass(frozen=True)
class _Line:
    """A row and the line above its table, each with what it means."""

    row: TableRow
    above: Span
    top: str
    units: Units | None

    @cached_property
    def label(self) -> frozenset[str]:
        return _means(self.row.label)

    @cached_property
    def path(self) -> frozenset[str]:
        return _means(" ".join((self.row.corner, *self.row.path)))

    @cached_property
    def headers(self) -> dict[Named, frozenset[str]]:
        return {cell: _means(cell.header) for cell in self.row.cells}

    @cached_property
    def words_beside(self) -> frozenset[str]:
        """Meanings of the cells that are no amounts: `Quarter: Q1`."""
        return _means(" ".join(c.value for c in self.row.cells if amount(c.value) is None))


class Rows:
    """The rows of one passage, read once."""

    def __init__(self, text: str, about: str) -> None:
        self._about = _means(about)
        self._lines = [
            _Line(row, above, text[slice(*above)], units_in(text, above))
            for row, above in rows_of(text)
        ]
        self.spans = frozenset((line.row.start, line.row.end) for line in self._lines)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def prove(self, claim: str) -> CellProof | None:
        """The cell that the claim is about; None where none of its numbers is a value here."""
        if len(claim) > _LIMIT:
            return None
        if stated := self._text_stated(claim):
            return CellProof((stated,))
        extreme = _EXTREME.search(claim)
        claim = claim[: extreme.start()] if extreme else claim
        problem = None
        for said in _values_said(claim):
            for line, cell in self._cells_of(said):
                problem = self._problem(claim, said, line, cell)
                if extreme and not self._is_extreme(extreme, line, cell):
                    problem = problem or NUMBER
                if problem is None:
                    spans = [(line.row.start, line.row.end if extreme else cell.end)]
                    if said.scale and line.units:
                        spans.append((line.units.start, line.units.end))
                    return CellProof(tuple(spans))
        return CellProof((), problem) if problem else None

    def _text_stated(self, claim: str) -> Span | None:
        """The cell of text that the claim states by the very words of its row and its column."""
        said = copy_words(claim)
        for line in self._lines:
            for cell in line.row.cells:
                if not cell.header or cell.value not in claim or amount(cell.value):
                    continue
                if said == copy_words(" ".join((*line.row.path, cell.header, cell.value))):
                    return line.row.start, cell.end
        return None

    def _is_extreme(self, said: re.Match[str], line: _Line, cell: Named) -> bool:
        """True if a cell is the highest or the lowest of as many periods or rows as is said."""
        if said[3] == "periods":
            compared = cells_by_period(line.row, cell)
        else:
            rows = [each.row for each in self._lines if each.above == line.above]
            compared = cells_by_row(rows, line.row, cell)
        first = greatest(compared, least=said[1] == "lowest")
        return first is not None and first.cell is cell and len(compared) == int(said[2])

    def _cells_of(self, said: _Said) -> Iterator[tuple[_Line, Named]]:
        """The cells whose value is the number, currencies aside where only one names it."""
        wanted = amount(said.printed)
        for line in self._lines if wanted else ():
            for cell in line.row.cells:
                value = amount(cell.value)
                if value and wanted and (value.digits, value.is_share) == (
                    wanted.digits, wanted.is_share
                ):  # fmt: skip
                    known = value.currency or (line.units.currency if line.units else "")
                    if not wanted.currency or wanted.currency == known or not known:
                        yield line, cell

    def _problem(self, claim: str, said: _Said, line: _Line, cell: Named) -> str | None:
        """The condition that the claim fails on this cell; None if the claim states the cell."""
        if not self._unit_agrees(said, line, cell):
            return NUMBER
        rest = _means(f"{claim[: said.start]} {claim[said.end :]}") - _NEUTRAL
        value = amount(cell.value)
        own = line.headers[cell] | line.path | _means(value.unit if value else "")
        others = frozenset[str]().union(*(h for c, h in line.headers.items() if c is not cell))
        if rest & (others - own - line.words_beside):
            return NUMBER  # another column's period or kind
        labels = frozenset[str]().union(*(_rivals(other, line) for other in self._lines))
        if rest & (labels - own - line.words_beside):
            return NAME  # another row's
        if line.label - _NEUTRAL - rest:
            return NAME  # the row is of something narrower than what is claimed
        alike = [each for each in self._lines if each is not line and each.label == line.label]
        if any((line.path - each.path) - rest for each in alike):
            return NAME  # of two rows of one name, the claim does not say which
        known = own | line.words_beside | _means(line.top) | self._about
        unknown = rest - known
        if not unknown:
            return None
        return NUMBER if any(word[0].isdigit() for word in unknown) else WORDS

    @staticmethod
    def _unit_agrees(said: _Said, line: _Line, cell: Named) -> bool:
        value = amount(cell.value)
        if value is None:
            return False
        if said.scale == "percent":
            return value.is_share
        units = line.units or NO_UNITS
        scale = units.scale_of(" ".join(line.row.path), cell.header, value)
        return said.scale == scale


def _rivals(other: _Line, line: _Line) -> frozenset[str]:
    """Words of another row's label; of a total's, only those not said above the table of both."""
    is_total = other.row.label.casefold().startswith("total")
    return other.path - _means(line.top) if is_total else other.path


def _values_said(claim: str) -> Iterator[_Said]:
    for number in _VALUE.finditer(claim):
        scale = _SCALE.match(claim, number.end())
        printed = number[0].strip()
        if printed.endswith(")") and "(" not in printed:
            printed = printed.rstrip(")")
        if scale and scale[1].lower() == "percent":
            yield _Said(number.start(), scale.end(), f"{printed}%", "percent")
        else:
            end = scale.end() if scale else number.start() + len(number[0].rstrip())
            yield _Said(number.start(), end, printed, scale[1].lower() if scale else "")


def _means(text: str) -> frozenset[str]:
    return frozenset(meanings(with_quarters(text)))
