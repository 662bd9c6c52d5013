"""The lines of a header as texts over one another: those of several lines joined, and levels."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.readers.printed.table_lines import Piece
from pipelines.readers.printed.table_matrix import together
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import is_measure, is_period
from pipelines.readers.printed.words import Word

_TIGHT = 0.28  # of a line's height: between two lines of one header
_ALIGNED = 3.0  # points
_CENTRED = 0.15  # of the width of all headers below: how far off their middle one over them is


def levels_of(
    words: Sequence[Word], lines: Sequence[Sequence[Piece]], drawn: Drawn
) -> list[list[Piece]]:
    """The headers of each level from the top, from left to right.

    Headers beside one another are of one level, however many lines each has.
    """
    levels: list[list[Piece]] = []
    for block in sorted(_blocks(words, lines, drawn), key=lambda block: -block.bottom):
        level = next((level for level in levels if _is_beside(block, level)), None)
        if level is None:
            levels.append([block])
        else:
            level.append(block)
    return [sorted(level, key=lambda block: block.left) for level in reversed(levels)]


def _is_beside(block: Piece, level: Sequence[Piece]) -> bool:
    """True where a header has a line in common with one of a level, and is over none of them."""
    return any(
        min(block.bottom, other.bottom) - max(block.top, other.top)
        > 0.5 * min(block.bottom - block.top, other.bottom - other.top)
        for other in level
    ) and all(block.right <= other.left or other.right <= block.left for other in level)


def _blocks(words: Sequence[Word], lines: Sequence[Sequence[Piece]], drawn: Drawn) -> list[Piece]:
    """Headers with all their lines; a line may be half way between two lines of another header."""
    blocks: list[tuple[Piece, Piece, int]] = []  # a header so far, its last line, that one's number
    for number, line in enumerate(lines):
        joined: list[tuple[Piece, Piece, int]] = []
        for piece in line:
            above = next(
                (
                    block
                    for block in blocks
                    if _is_next_line(block[1], piece, drawn)
                    and not _spans(block[1], lines[block[2]], line)
                ),
                None,
            )
            whole = together(words, above[0], piece) if above else None
            if above:
                blocks.remove(above)
            joined.append((whole or piece, piece, number))
        blocks += joined
    return [block for block, _, _ in blocks]


def _is_next_line(upper: Piece, lower: Piece, drawn: Drawn) -> bool:
    """True where a text is the next line of the one above it."""
    height = lower.bottom - lower.top
    gap = lower.top - upper.bottom
    if not -_TIGHT * height <= gap <= _TIGHT * height or is_measure(lower.text):
        return False
    between = drawn.below(upper.bottom - 0.3 * height, lower.top + 0.3 * height)
    if any(rule.left - 2 <= lower.middle <= rule.right + 2 for rule in between):
        return False
    return (
        abs(upper.middle - lower.middle) < _ALIGNED
        or abs(upper.right - lower.right) < _ALIGNED
        or abs(upper.left - lower.left) < _ALIGNED
    )


def _spans(upper: Piece, beside: Sequence[Piece], lower: Sequence[Piece]) -> bool:
    """True where a text stands alone, in the middle, over the times of several columns."""
    left, right = lower[0].left, lower[-1].right
    return (
        len(beside) == 1
        and len(lower) > 1
        and abs(upper.middle - (left + right) / 2) < _CENTRED * (right - left)
        and is_period(upper.text)
        and all(is_period(piece.text) for piece in lower)
    )
