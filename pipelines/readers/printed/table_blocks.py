"""Tables' surroundings on a page: columns of text, caption and scale, texts of header lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipelines.readers.printed.table_columns import together
from pipelines.readers.printed.table_lines import Line, Piece
from pipelines.readers.printed.table_regions import is_row
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import is_measure, is_period, is_scale, scale_in
from pipelines.readers.printed.words import Word

_FEWEST_LINES = 6  # with text on both sides
_SHARE = 0.35  # of the lines with a gap there: as many have text on both sides
_WORDS = 4  # of a line of text; a label or a cell is mostly shorter
_NEAR = 8.0  # points between the starts of lines in one column

_Group = list[int]


def groups_of(words: Sequence[Word], lines: Sequence[Line]) -> list[_Group]:
    """The words beside one another's column, then the others: one group where there are none.

    Indices of ``words``; a line over both columns is in the last group.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return [list(range(len(words)))]
    left, right = gutter
    beside = [line for line in lines if not _crosses(line, left, right)]
    top, bottom = min(line.top for line in beside), max(line.bottom for line in beside)
    groups: tuple[_Group, _Group, _Group] = ([], [], [])
    crossing = {
        index
        for line in lines
        if _crosses(line, left, right) or not top <= line.top <= bottom
        for piece in line.pieces
        for index in piece.words
    }
    for index, word in enumerate(words):
        groups[2 if index in crossing else 0 if word.right <= right else 1].append(index)
    return [group for group in groups if group]


def _crosses(line: Line, left: float, right: float) -> bool:
    return any(piece.left < left - 1 and piece.right > right + 1 for piece in line.pieces)


def _gutter(lines: Sequence[Line]) -> tuple[float, float] | None:
    """From where the left column's longest line ends to where the right column begins."""
    starts: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        for one, other in pairwise(line.pieces):
            if len(one.words) >= _WORDS and len(other.words) >= _WORDS:
                starts.setdefault(round(other.left / _NEAR), []).append((one.right, other.left))
    found = max(starts.values(), key=len, default=[])
    if len(found) < _FEWEST_LINES:
        return None
    right = min(start for _, start in found)
    left = max(end for end, _ in found)
    gaps = sum(
        any(one.right <= right <= other.left + 1 for one, other in pairwise(p))
        for p in (line.pieces for line in lines)
    )
    return (min(left, right), right) if len(found) >= _SHARE * gaps else None


_MOST_LINES = 4
_APART = 2.6  # of a line's height: between the table and what introduces it
_LEADING = 0.5  # of a line's height: between two lines of a paragraph
_LONGEST_CAPTION = 240  # characters

Found = tuple[str, tuple[int, ...]]
"""A text and the words of the page that it is of; ('', ()) where there is none."""

NOTHING: Found = ("", ())


def introduction(lines: Sequence[Line], top: float) -> tuple[Found, Found]:
    """The caption and the scale in the lines above a table, of which ``top`` is the upper edge."""
    above = _above(lines, top)
    caption = NOTHING
    title = [line for line in above if not is_scale(line.text)]
    if title:
        caption = _caption(title)
    return caption, _scale(above)


def _above(lines: Sequence[Line], top: float) -> list[Line]:
    """The nearest lines above a height, from the top, up to a gap or to the rows of a table."""
    found: list[Line] = []
    edge = top
    for line in reversed(lines):
        if line.bottom > top + 1:
            continue
        if edge - line.bottom > _APART * line.height or len(found) == _MOST_LINES or is_row(line):
            break
        found.insert(0, line)
        edge = line.top
    return found


def _caption(lines: list[Line]) -> Found:
    """The sentence that ends with a colon, or the title, in the last lines above a table."""
    last = lines[-1]
    if not last.text.endswith(":"):
        is_title = len(last.pieces) == 1 and len(last.text) <= 120 and last.text[-1] not in ".,;"
        if not is_title or last.text[:1].islower():
            return NOTHING
        return last.text, _words([last])
    paragraph = [last]
    for line in reversed(lines[:-1]):
        if paragraph[0].top - line.bottom > _LEADING * line.height:
            break
        paragraph.insert(0, line)
    text, words = " ".join(line.text for line in paragraph), _words(paragraph)
    start = max(text.rfind(". "), text.rfind("? "))
    sentence = text[start + 2 :] if start >= 0 else text
    if len(sentence) > _LONGEST_CAPTION or sentence[:1].islower():
        return NOTHING
    kept = len(sentence.split())
    return sentence, words[-kept:]


def _scale(lines: list[Line]) -> Found:
    text = " ".join(line.text for line in lines)
    scale = scale_in(text)
    if not scale:
        for line in reversed(lines):
            if is_scale(line.text):
                return line.text, _words([line])
        return NOTHING
    first = len(text[: text.rfind(scale)].split())
    words = _words(lines)
    return scale, words[first : first + len(scale.split())]


def _words(lines: list[Line]) -> tuple[int, ...]:
    return tuple(index for line in lines for piece in line.pieces for index in piece.words)


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
