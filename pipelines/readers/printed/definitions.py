"""Definitions: a term on a line of its own, with what defines it set in under it.

Told by where the lines are alone, where several terms of a region have their definitions at the
same indent. A manual's options and a glossary's words are set so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from pipelines.readers.printed.lines import Line
from pipelines.readers.printed.paragraphs import Block, BlockKind
from pipelines.readers.printed.words import WordColumns

_INDENT = 0.7  # of the size, at least
_MOST_INDENT = 8.0  # of the size
_FARTHEST = 2.4  # of the size, from foot to foot
_SAME_EDGE = 1.5  # points
_LEAST = 2  # terms at one indent
_MOST_WORDS = 8  # of a term
_MOST_BLOCKS = 40  # of a definition
_STOP = re.compile(r"[.!?;,:。！？؟：][\"'”’)\]]*$")
_END = re.compile(r"[.!?:。！？؟：][\"'”’)\]]*$")


class Role(Enum):
    """The part that a block has in a definition."""

    TERM = "term"
    DEFINITION = "definition"
    REST = "rest"
    """A further block of a definition."""


def roles(blocks: Sequence[Block | None], words: WordColumns) -> dict[int, Role]:
    """The places of the blocks of definitions among those of a region, None for a heading."""
    pairs = {
        place: _edges(upper, lower)
        for place, (upper, lower) in enumerate(pairwise(blocks))
        if upper and lower and _defines(upper, lower, words)
    }
    counts = Counter(pairs.values())
    found: dict[int, Role] = {}
    for place, edges in pairs.items():
        if counts[edges] >= _LEAST:
            found |= _definition(blocks, place, words)
    return found


def _defines(upper: Block, lower: Block, words: WordColumns) -> bool:
    """True where ``upper`` may be a term that ``lower`` defines."""
    lines, (left, indent) = lower.lines, _edges(upper, lower)
    return (
        _is_near(upper, lower)
        and lower.kind is BlockKind.PARAGRAPH
        and _may_be_term(upper, words)
        and _INDENT * lower.size <= indent - left <= _MOST_INDENT * lower.size
        and all(abs(line.left - lines[0].left) < _SAME_EDGE for line in lines)
        and _END.search(_last_word(lines[-1], words)) is not None
    )


def _may_be_term(block: Block, words: WordColumns) -> bool:
    """True for a short line without a stop."""
    line = block.lines[0]
    return (
        block.kind is BlockKind.PARAGRAPH
        and len(block.lines) == 1
        and len(line.numbers) <= _MOST_WORDS
        and not line.is_split
        and not _STOP.search(_last_word(line, words))
        and any(map(str.isalnum, words.texts[line.numbers[0]]))  # no prompt of a command
    )


def _is_near(upper: Block, lower: Block) -> bool:
    return 0 < lower.lines[0].bottom - upper.lines[-1].bottom < _FARTHEST * lower.size


def _edges(upper: Block, lower: Block) -> tuple[int, int]:
    """The left edges of a term and of its definition, in points."""
    return round(upper.lines[0].left), round(lower.lines[0].left)


def _last_word(line: Line, words: WordColumns) -> str:
    return words.texts[line.numbers[-1]]


def _definition(blocks: Sequence[Block | None], place: int, words: WordColumns) -> dict[int, Role]:
    """The term at ``place``, those right above it that share its definition, and that."""
    term, body = blocks[place], blocks[place + 1]
    assert term and body
    found = {place: Role.TERM, place + 1: Role.DEFINITION}
    above = place - 1
    while above >= 0 and _is_beside(blocks[above], blocks[above + 1], words):
        found[above] = Role.TERM
        above -= 1
    for below in range(place + 2, min(len(blocks), place + _MOST_BLOCKS)):
        block = blocks[below]
        if block is None or block.lines[0].left < body.lines[0].left - _SAME_EDGE:
            break
        found[below] = Role.REST
    return found


def _is_beside(upper: Block | None, term: Block | None, words: WordColumns) -> bool:
    """True where a line stands right above a term, at its left edge, and may be another term."""
    if not (upper and term and _is_near(upper, term) and _may_be_term(upper, words)):
        return False
    return abs(upper.lines[0].left - term.lines[0].left) < _SAME_EDGE
