"""The columns of a table without a grid: where its numbers stand below one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.readers.printed.table_lines import Line, Piece, piece_of
from pipelines.readers.printed.words import Word

_TOUCHING = 0.5  # points by which two columns may overlap
_MOST_COLUMNS = 60  # more are a drawing, and cost the square of their number
_AMONG_LABELS = 20.0  # points left of the first column
_COVERED = 0.6  # of a column: a number over two such ones says that they are one


@dataclass(slots=True)
class Extent:
    """A column from ``left`` to ``right``, a "$" far from its number included in ``outer``."""

    left: float
    right: float
    outer: float
    members: int = 1

    @property
    def width(self) -> float:
        """Points."""
        return self.right - self.left

    @property
    def middle(self) -> float:
        """Half way from the "$" to the number's end."""
        return (self.outer + self.right) / 2

    def overlap(self, left: float, right: float) -> float:
        """Points that both cover."""
        return min(self.right, right) - max(self.left, left)

    def take(self, piece: Piece) -> None:
        """Grows by a piece."""
        self.left = min(self.left, piece.core)
        self.right = max(self.right, piece.right)
        self.outer = min(self.outer, piece.left)
        self.members += 1


@dataclass(slots=True)
class Columns:
    """Columns from the left."""

    extents: list[Extent] = field(default_factory=list)

    @property
    def left(self) -> float:
        """The left edge of the first column."""
        return self.extents[0].outer if self.extents else float("inf")

    @property
    def right(self) -> float:
        """The right edge of the last column."""
        return self.extents[-1].right if self.extents else float("-inf")

    def add_row(self, line: Line) -> None:
        """Columns for the numbers of a row; one where the labels begin is the end of a label."""
        values = [piece for piece in line.pieces if piece.kind == "value"]
        first = line.pieces[0]
        is_far = bool(self.extents) and first.right < self.left - _AMONG_LABELS
        if is_far and len(values) > 1 and values[0] is first:
            values = values[1:]
        self.add(values)

    def add(self, pieces: Iterable[Piece]) -> None:
        """Each piece widens the column that it is in, or is a new one."""
        for piece in pieces:
            over = [e for e in self.extents if e.overlap(piece.core, piece.right) > _TOUCHING]
            if not over and len(self.extents) == _MOST_COLUMNS:
                continue
            if not over:
                self.extents.append(Extent(piece.core, piece.right, piece.left))
                self.extents.sort(key=lambda extent: extent.left)
            elif len(over) == 1:
                over[0].take(piece)
            elif all(
                e.overlap(piece.core, piece.right) >= _COVERED * e.width for e in over
            ):  # a short number at either end of a wide column
                first = over[0]
                for other in over[1:]:
                    first.right = max(first.right, other.right)
                    first.members += other.members
                    self.extents.remove(other)
                first.take(piece)

    def at(self, piece: Piece) -> int | None:
        """The column that a piece is in, None where it is between two."""
        best, most = None, _TOUCHING
        for index, extent in enumerate(self.extents):
            overlap = extent.overlap(piece.core, piece.right)
            if overlap > most:
                best, most = index, overlap
        return best


@dataclass(slots=True)
class Row:
    """A row: its label, None where it has none, and its cells by column."""

    label: Piece | None
    cells: dict[int, Piece]
    top: float
    bottom: float

    @property
    def left(self) -> float | None:
        """The left edge of its label."""
        return self.label.left if self.label else None


class HeaderCell(NamedTuple):
    """A header over the columns ``first`` to ``last``, both included."""

    piece: Piece
    first: int
    last: int


@dataclass(slots=True)
class Matrix:
    """A table whose rows and columns are known, the headers of its columns not yet by path.

    ``header`` holds the cells of each line of the header from the top, ``corner`` what stands over
    the labels, ``top_rule`` where the header begins.
    """

    columns: list[Extent]
    rows: list[Row]
    header: list[list[HeaderCell]] = field(default_factory=list)
    corner: list[Piece] = field(default_factory=list)
    is_stacked: bool = False  # whether lines of the header over the same columns are one header


def together(words: Sequence[Word], *pieces: Piece | None) -> Piece | None:
    """One piece of several, their words one after the other; None of none."""
    indices = [index for piece in pieces if piece for index in piece.words]
    return piece_of(words, indices) if indices else None
