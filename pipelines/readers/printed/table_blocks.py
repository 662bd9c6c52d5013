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
    """Whether a header has a line in common with one of a level, and is over none of them."""
    return any(
        min(block.bottom, other.bottom) - max(block.top, other.top)
        > 0.5 * min(block.bottom - block.top, other.bottom - other.top)
        for other in level
    ) and all(block.right <= other.left or other.right <= block.left for other in level)


def _blocks(words: Sequence[Word], lines: Sequence[Sequence[Piece]], drawn: Drawn) -> list[Piece]:
    """Headers with all their lines."""
    done: list[Piece] = []
    above: list[tuple[Piece, Piece]] = []  # a header so far, and its last line
    for number, line in enumerate(lines):
        current: list[tuple[Piece, Piece]] = []
        for piece in line:
            match = next(
                (
                    pair
                    for pair in above
                    if _is_next_line(pair[1], piece, drawn) and not _spans(pair[1], lines, number)
                ),
                None,
            )
            joined = together(words, match[0], piece) if match else None
            if match and joined:
                above.remove(match)
                current.append((joined, piece))
            else:
                current.append((piece, piece))
        done += [block for block, _ in above]
        above = current
    return [*done, *(block for block, _ in above)]


def _is_next_line(upper: Piece, lower: Piece, drawn: Drawn) -> bool:
    """Whether a text is the next line of the one above it."""
    height = lower.bottom - lower.top
    if lower.top - upper.bottom > _TIGHT * height or is_measure(lower.text):
        return False
    between = drawn.below(upper.bottom - 0.3 * height, lower.top + 0.3 * height)
    if any(rule.left - 2 <= lower.middle <= rule.right + 2 for rule in between):
        return False
    return (
        abs(upper.middle - lower.middle) < _ALIGNED
        or abs(upper.right - lower.right) < _ALIGNED
        or abs(upper.left - lower.left) < _ALIGNED
    )


def _spans(upper: Piece, lines: Sequence[Sequence[Piece]], number: int) -> bool:
    """Whether a text is alone over the times of several columns, one of which is in its middle."""
    return (
        len(lines[number - 1]) == 1
        and len(lines[number]) > 1
        and is_period(upper.text)
        and all(is_period(piece.text) for piece in lines[number])
    )
