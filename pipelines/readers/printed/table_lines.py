"""The words of a page as lines, and each line as pieces: what stands apart from its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.readers.printed.table_values import (
    Kind,
    is_closing,
    is_currency,
    is_leader,
    is_opening,
    kind_of,
    without_leader,
)
from pipelines.readers.printed.words import Word, whole

_SAME_LINE = 0.4  # of a line's height: how far apart the middles of its words may be
_APART = 0.9  # of a line's height: a gap that no space between two words has
_NUMBERS_APART = 0.4  # the same between two numbers, which no text puts side by side
_VALUE_APART = 0.6  # the same between words and an amount, in a narrow table
_HEADERS_APART = 0.4  # the same between two headers, of which a space may be all there is between
_MOST_OF_VALUE = 6  # words of one number: "$", "(", "1", "452.4", ")", "%"
_CLOSING_APART = 2.5  # of a line's height: a "%" in a cell of its own is no farther
_OPENING_APART = 140.0  # points: a "$" at the left of a wide column belongs to the number there


class Piece(NamedTuple):
    """Words that stand together: a cell, or a line of one.

    ``words`` are indices of the page's words. ``core`` is where its number begins, which a "$"
    may stand far to the left of.
    """

    words: tuple[int, ...]
    text: str
    kind: Kind
    left: float
    top: float
    right: float
    bottom: float
    core: float
    bold: bool

    @property
    def middle(self) -> float:
        """Half way from left to right."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """Pieces on one line, from left to right."""

    pieces: tuple[Piece, ...]
    top: float
    bottom: float

    @property
    def height(self) -> float:
        """Points."""
        return self.bottom - self.top

    @property
    def left(self) -> float:
        """The left edge of its first piece."""
        return self.pieces[0].left

    @property
    def right(self) -> float:
        """The right edge of its last piece."""
        return self.pieces[-1].right

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(piece.text for piece in self.pieces)


def lines_of(words: Sequence[Word]) -> list[Line]:
    """The lines of a page from the top; those of two columns of text are one line here."""
    lines = []
    for indices in _rows(words):
        pieces = pieces_of(words, indices)
        if pieces:
            tops = sorted(words[index].top for piece in pieces for index in piece.words)
            bottoms = sorted(words[index].bottom for piece in pieces for index in piece.words)
            middle = len(tops) // 2
            lines.append(Line(tuple(pieces), tops[middle], bottoms[middle]))
    return lines


def _rows(words: Sequence[Word]) -> Iterable[list[int]]:
    """Indices of words by line, from left to right."""
    order = sorted(
        (index for index, word in enumerate(words) if word.text.strip()),
        key=lambda index: words[index].top + words[index].bottom,
    )
    row: list[int] = []
    middle = height = 0.0
    for index in order:
        word = words[index]
        here = (word.top + word.bottom) / 2
        if row and here - middle > _SAME_LINE * max(height, word.bottom - word.top):
            yield sorted(row, key=lambda member: words[member].left)
            row = []
        if not row:
            middle, height = here, 0.0
        if word.bottom - word.top >= height:  # a small raised mark does not move the line
            middle = (middle * len(row) + here) / (len(row) + 1)
            height = word.bottom - word.top
        row.append(index)
    if row:
        yield sorted(row, key=lambda member: words[member].left)


def pieces_of(words: Sequence[Word], indices: Iterable[int]) -> list[Piece]:
    """The pieces of one line, a "$" or "%" in a cell of its own joined to its number."""
    pieces: list[Piece] = []
    run: list[int] = []
    for index in indices:
        if is_leader(words[index].text):
            if run:
                pieces.append(piece_of(words, run))
            run = []
            continue
        if run and _stands_apart(words, run, index):
            pieces.append(piece_of(words, run))
            run = []
        run.append(index)
        if without_leader(words[index].text) != words[index].text:
            pieces.append(piece_of(words, run))
            run = []
    if run:
        pieces.append(piece_of(words, run))
    return _numbers_joined(words, pieces)


def _stands_apart(words: Sequence[Word], run: list[int], index: int) -> bool:
    """True where a word begins a piece of its own behind those of ``run``."""
    before, word = words[run[-1]], words[index]
    height = max(before.bottom - before.top, word.bottom - word.top)
    gap = word.left - before.right
    if gap > _APART * height:
        return True
    if gap <= _NUMBERS_APART * height and not is_currency(word.text):
        return False  # most words of a page
    if gap > _VALUE_APART * height and _is_amount(word.text):
        return True
    if len(run) > _MOST_OF_VALUE or kind_of(_joined(words, run)) != "value":
        return False
    if gap > _NUMBERS_APART * height and kind_of(word.text) != "text":
        return True
    return gap > 0 and is_currency(word.text)


def _is_amount(text: str) -> bool:
    """True where a text is a number as tables have it, and not as sentences count."""
    return not text.isdigit() and kind_of(text) == "value"


def closely_cut(words: Sequence[Word], pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces of a line of headers: cut where there is more than the space between two words."""
    cut: list[Piece] = []
    for piece in pieces:
        run: list[int] = []
        for index in piece.words:
            height = words[index].bottom - words[index].top
            if run and words[index].left - words[run[-1]].right > _HEADERS_APART * height:
                cut.append(piece_of(words, run))
                run = []
            run.append(index)
        cut.append(piece_of(words, run))
    return cut


def _joined(words: Sequence[Word], indices: Iterable[int]) -> str:
    return whole(" ".join(words[index].text for index in indices))


def piece_of(words: Sequence[Word], indices: Sequence[int]) -> Piece:
    """A piece of some words in reading order, which may be on several lines."""
    members = [words[index] for index in indices]
    text = without_leader(_joined(words, indices)) or members[0].text
    kind = kind_of(text)
    if kind == "value":
        text = "".join(text.split())
    core = next((word for word in members if not is_opening(word.text)), members[0])
    return Piece(
        tuple(indices),
        text,
        kind,
        min(word.left for word in members),
        min(word.top for word in members),
        max(word.right for word in members),
        max(word.bottom for word in members),
        core.left if kind == "value" else min(word.left for word in members),
        all(word.bold for word in members),
    )


def _numbers_joined(words: Sequence[Word], pieces: list[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        before = joined[-1] if joined else None
        if before and _belong_together(before, piece):
            joined[-1] = piece_of(words, [*before.words, *piece.words])
        else:
            joined.append(piece)
    return joined


def _belong_together(left: Piece, right: Piece) -> bool:
    gap = right.left - left.right
    both = kind_of(left.text + right.text) == "value"
    if is_opening(left.text) and right.kind != "text":
        return both and gap < _OPENING_APART and (is_currency(left.text) or gap < 12)
    if is_closing(right.text) and left.kind == "value":
        return both and gap < _CLOSING_APART * (right.bottom - right.top)
    return False
