"""The texts above a table that belong to it: its caption, and the scale of its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.readers.printed.table_lines import Line
from pipelines.readers.printed.table_regions import is_row
from pipelines.readers.printed.table_values import is_scale, scale_in

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
