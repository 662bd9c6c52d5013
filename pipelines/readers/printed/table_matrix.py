"""A table between the page and its grid: rows of pieces in columns, and the lines of its header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.readers.printed.table_columns import Extent
from pipelines.readers.printed.table_lines import Piece, piece_of
from pipelines.readers.printed.words import Word


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
