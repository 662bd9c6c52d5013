"""Lines of a region to blocks: paragraphs, list items and footnotes, headings, tables.

A line begins a block of its own where the one before it ends early although the line's first word
would have fit, where it is indented or further away than lines of a paragraph are, where its size
or weight is another, and where it begins as items of lists and footnotes do.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, pairwise
from statistics import median

from pipelines.readers.printed.lines import Line
from pipelines.readers.printed.monospaced import (
    is_monospaced,
    is_prose,
    may_be_monospaced,
    pitch_of,
)
from pipelines.readers.printed.words import CUT_MARKS, WordColumns, printed

_ITEM = re.compile(
    r"[•‣◦▪●○■□➢►✓\uf0b7\uf0a7·–—*†‡§-]"
    r"|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\]"
)
_MARK_ENDS = frozenset(".)]")  # of marks of several characters
_LONGEST_MARK = 8  # characters of an item's first word: "(xviii)."
_RAISED = 0.8  # of the next word's size: a mark of a footnote
_SIZE_CHANGE = 1.09
_OTHER_FONT = 1.35
_FAR = 1.3  # of the pitch of lines
_WIDEST_PITCH = 2.4  # of the size: lines of a manuscript with double spacing
_FARTHEST_CODE = 2.4  # of the pitch of code
_USUAL_PITCH = 1.15  # of the size where a region is too short to tell
_INDENT = 0.7  # of the size
_MOST_INDENT = 8.0  # of the size: further right is centred or on the right
_FULL = 0.85  # of the region's width: a line that is followed by the rest of its paragraph
_SAME_EDGE = 1.5  # points
_CUT = frozenset(f"-{CUT_MARKS}")
_LEAST_EDGES = 3  # lines, with the line itself
_LEADER = re.compile(r"[.·…_]{4,}|…{2,}|(?:[.·] ){4}")
_ENDING = 6  # words: four dots that stand apart, and a page
_STOPS = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")

Edges = tuple[float, float]
"""Left and right of a column, in points."""


class BlockKind(Enum):
    """The kinds of a block."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"


@dataclass(slots=True)
class Block:
    """Lines that belong together. ``is_open``: its last line is full and no sentence ends there,
    so that what is read next may go on with it. ``is_tight``: it follows the block before it at
    the distance of two lines of a paragraph."""

    kind: BlockKind
    lines: list[Line]
    is_open: bool = False
    is_tight: bool = False

    @property
    def size(self) -> float:
        """Of its first line."""
        return self.lines[0].size

    @property
    def is_bold(self) -> bool:
        """True where all lines of the block are bold."""
        return all(line.bold for line in self.lines)

    def text(self, words: WordColumns) -> str:
        """Its lines with a space between each two."""
        return printed(" ".join(line.text(words) for line in self.lines))

    def begins_lower(self, words: WordColumns) -> bool:
        """True where the block begins as the rest of a sentence does."""
        first = words.texts[self.lines[0].numbers[0]].lstrip("(\"'“‘")
        return first[:1].islower()


def blocks_of(
    lines: Sequence[Line], words: WordColumns, edges: Edges, letter_width: float | None = None
) -> list[Block]:
    """The blocks of lines that come from the top down; ``edges`` are those of their region.

    ``letter_width`` is that of the letters of code, None where the page has none.
    """
    if not lines:
        return []
    region = _Region(lines, words, edges, letter_width)
    kinds = region.kinds(lines)
    block = Block(kinds[0], [lines[0]])
    blocks = [block]
    for (before, line), kind in zip(pairwise(lines), kinds[1:], strict=True):
        if region.goes_on(block, before, line, kind):
            block.lines.append(line)
        else:
            block.is_open = region.is_open(block)
            block = Block(kind, [line], is_tight=not region.is_far(before, line))
            blocks.append(block)
    block.is_open = region.is_open(block)
    return blocks


class _Region:
    """The edges of a region's text and how far apart the lines of its paragraphs are."""

    def __init__(
        self,
        lines: Sequence[Line],
        words: WordColumns,
        edges: Edges,
        letter_width: float | None,
    ) -> None:
        self._words, self._letter_width = words, letter_width
        self._left, self._right = edges
        self._rights = sorted(line.right for line in lines)
        self._pitch = min(_WIDEST_PITCH, _pitch(lines, *edges))

    def kinds(self, lines: Sequence[Line]) -> list[BlockKind]:
        """The kind of a block that begins with each of the region's lines."""
        kinds = [BlockKind.ITEM if self._is_item(line) else BlockKind.PARAGRAPH for line in lines]
        if (width := self._letter_width) is None:
            return kinds
        told = [is_monospaced(line, self._words, width) for line in lines]
        self._code_pitch = pitch_of([line for line, code in zip(lines, told, strict=True) if code])
        pairs = list(pairwise(enumerate(lines)))
        for (place, one), (following, other) in (*pairs, *reversed(pairs)):
            if told[place] != told[following] and self._is_near_code(one, other):
                told[place] = told[place] or may_be_monospaced(one, self._words, width)
                told[following] = told[following] or may_be_monospaced(other, self._words, width)
        runs = list(_runs(told))
        self._is_code_bold = any(
            end - first > 1 and all(line.bold for line in lines[first:end]) for first, end in runs
        )
        for first, end in runs:
            if self._is_no_code(lines, first, end):
                told[first:end] = [False] * (end - first)
        return [BlockKind.CODE if code else kind for code, kind in zip(told, kinds, strict=True)]

    def _is_no_code(self, lines: Sequence[Line], first: int, end: int) -> bool:
        """True for monospaced prose, a bold line alone, and a paragraph's last line.

        A bold line is code where other code is bold. A last line has names alone, and the one in
        front is full and within a sentence.
        """
        if end - first > 1:
            return is_prose(lines[first:end], self._words)
        line, before = lines[first], lines[first - 1] if first else None
        if line.bold or before is None or self.is_far(before, line):
            return line.bold and not self._is_code_bold
        return self._runs_on(before) and abs(line.left - before.left) < _INDENT * line.size

    def is_open(self, block: Block) -> bool:
        """True where the last line of the block is full, and ends within a sentence."""
        return block.kind is not BlockKind.CODE and self._runs_on(block.lines[-1])

    def is_far(self, before: Line, line: Line) -> bool:
        """True where there is more between two lines than in a paragraph."""
        size = max(line.size, before.size)
        return line.bottom - before.bottom > _FAR * self._pitch * size

    def goes_on(self, block: Block, before: Line, line: Line, kind: BlockKind) -> bool:
        """True where ``line``, of that kind, goes on with the block that ``before`` ends."""
        if kind is block.kind is BlockKind.CODE:
            return self._is_near_code(before, line)
        if kind is not BlockKind.PARAGRAPH or block.kind is BlockKind.CODE:
            return False
        return not self.is_far(before, line) and self._is_rest(block, before, line)

    def _is_near_code(self, before: Line, line: Line) -> bool:
        """True where two lines of code have an empty line between them at most."""
        return 0 < line.bottom - before.bottom < _FARTHEST_CODE * self._code_pitch

    def _begins_lower(self, line: Line) -> bool:
        return self._words.texts[line.numbers[0]][:1].islower()

    def _may_go_on(self, block: Block, before: Line, line: Line) -> bool:
        """True where the sentence of ``before`` may go on; a line alone, as a heading, is full."""
        if len(block.lines) == 1:
            return self._runs_on(before) and self._begins_lower(line)
        begins = self._words.texts[line.numbers[0]][:1]
        return not begins.isupper() and not self._ends_sentence(before)

    def _ends_sentence(self, line: Line) -> bool:
        return _STOPS.search(self._words.texts[line.numbers[-1]]) is not None

    def _runs_on(self, line: Line) -> bool:
        """True where a line is full and its sentence does not end there."""
        is_full = line.right - self._left > _FULL * (self._right - self._left)
        return is_full and not self._ends_sentence(line)

    def _is_rest(self, block: Block, before: Line, line: Line) -> bool:
        """True where ``line``, near and no item, goes on with the block that ``before`` ends."""
        if line.bold != before.bold:
            return False
        smaller, larger = sorted((line.size, before.size))
        # another font's letters may have a higher line, though they are of one size
        most = _OTHER_FONT if self._may_go_on(block, before, line) else _SIZE_CHANGE
        if larger > most * smaller:
            return False
        if before.is_split or self._has_leader(before):
            return False
        if self._ends_early(before, line):
            return False
        return self._is_aligned(block, line)

    def _ends_early(self, before: Line, line: Line) -> bool:
        """True where the first word of ``line`` had room on the line before it."""
        words, first = self._words, line.numbers[0]
        size, room = words.sizes[first], self._right - before.right
        width = words.rights[first] - words.lefts[first] + 0.3 * size
        if width >= room - 0.3 * size or self._is_usual(before.right):
            return False
        last = words.texts[before.numbers[-1]]
        is_cut = last[-1:] in _CUT and last[:-1].isalpha()
        return not (is_cut and words.texts[first][:1].islower())

    def _is_usual(self, right: float) -> bool:
        """True where lines often end there, as in a narrower paragraph that is justified."""
        first = bisect_left(self._rights, right - _SAME_EDGE)
        return bisect_right(self._rights, right + _SAME_EDGE) - first >= _LEAST_EDGES

    def _has_leader(self, line: Line) -> bool:
        """True where dots lead to the end of the line, as in a table of contents."""
        if not self._words.has_leaders:
            return False
        text = " ".join([self._words.texts[number] for number in line.numbers[-_ENDING:]])
        return _LEADER.search(text) is not None

    def _is_aligned(self, block: Block, line: Line) -> bool:
        """True where the line is at the place of a further line of the block."""
        indent = _INDENT * line.size
        first = block.lines[0]
        if block.kind is BlockKind.ITEM:
            return line.left > first.left - indent
        if len(block.lines) == 1:  # the first line may be indented, or the others
            return abs(line.left - first.left) < _MOST_INDENT * line.size
        before = block.lines[-1]
        if self._begins_lower(line) and self._runs_on(before):
            return abs(line.left - before.left) < _MOST_INDENT * line.size  # around a picture
        return abs(line.left - before.left) < indent

    def _is_item(self, line: Line) -> bool:
        """True where the line begins with a bullet, a number or a footnote's mark."""
        if len(line.numbers) < 2:
            return False
        words, (first, second) = self._words, line.numbers[:2]
        text = words.texts[first]
        if len(text) > _LONGEST_MARK:
            return False
        if (len(text) == 1 or text[-1:] in _MARK_ENDS) and _ITEM.fullmatch(text):
            return True
        is_raised = words.sizes[first] < _RAISED * words.sizes[second]
        return is_raised and words.bottoms[first] < words.bottoms[second] and len(text) <= 3


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The stretches of what is true: the first place of each and its end."""
    place = 0
    for flag, run in groupby(flags):
        end = place + sum(1 for _ in run)
        if flag:
            yield place, end
        place = end


def _pitch(lines: Sequence[Line], left: float, right: float) -> float:
    """From foot to foot of a paragraph's lines, in sizes: the median after lines that are full."""
    full = left + _FULL * (right - left)
    found = [
        (line.bottom - before.bottom) / line.size
        for before, line in pairwise(lines)
        if before.right > full and 0 < line.bottom - before.bottom < 3 * line.size
    ]
    return median(found) if len(found) > 2 else _USUAL_PITCH
