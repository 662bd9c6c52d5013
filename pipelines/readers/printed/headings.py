"""Headings by size, weight and numbering, and the path of headings that a text is under."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.readers.printed.paragraphs import Block, BlockKind
from pipelines.readers.printed.words import WordColumns

_LEAST_CAPITALS = 8  # letters; fewer may be an abbreviation
_LARGER = 1.12  # than the text of the document
_SMALLER = 0.93
_MOST_WORDS = 24
_MOST_LINES = 4
_LONGEST = 200  # characters of a heading in a path
_DEEPEST = 8
_SAME_SIZE = 1.04

_PARTS = ("part", "chapter", "teil", "kapitel", "section", "article", "appendix", "annex")
_ITEMS = ("item", "note", "exhibit", "schedule")
_NUMBERED = frozenset(_PARTS + _ITEMS)
_PART = re.compile(rf"(?:{'|'.join(_PARTS)})\s+[\dIVXLA-Z]{{1,5}}\b[.:–—-]?", re.I)
_ITEM = re.compile(rf"(?:{'|'.join(_ITEMS)})\s+\d{{1,3}}[A-Z]?(?:\.\d{{1,2}})?\s?[.:–—-]?", re.I)
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[^\W\d_]")
_ROMAN = re.compile(r"(?:[IVX]{1,5}|[A-Z])\.\s+\w")
_LETTERS = re.compile(r"[^\W\d_]")
_NO_HEADING = re.compile(
    r"\(?(?:un)?audited\)?|\(.*\)|[^\W\d_]{0,2}|(?:continued|page \d+)", re.I | re.S
)
_YEAR_LAST = re.compile(r"\b\d{4,}\Z")
_TWO_SENTENCES = re.compile(r"[a-z)\"”]\.\s+[A-Z]")
_SENTENCE_END = re.compile(r"[a-z]{2}\.\Z")


class Rank(NamedTuple):
    """The rank of a heading, compared part by part: the lower value is the higher heading.

    ``numbering``: 0 for a part or chapter, 1 for an item or note, 2 and more for "1", "1.1" and so
    on, None without a number.
    """

    numbering: int | None
    size: float
    is_bold: bool
    is_capital: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading's text and rank."""

    text: str
    rank: Rank


def heading_of(block: Block, words: WordColumns, body_size: float) -> Heading | None:
    """The heading that a block is, by the size of the document's text; None for any other block."""
    if len(block.lines) > _MOST_LINES or block.kind is BlockKind.CODE:
        return None
    larger = block.size > _LARGER * body_size
    bold = block.is_bold
    if not (larger or bold or _may_be_plain(block, words, body_size)):
        return None
    if sum([len(line.numbers) for line in block.lines]) > _MOST_WORDS:
        return None
    text = block.text(words)
    numbering = _numbering(text)
    is_split = any(line.is_split for line in block.lines)
    if (block.kind is BlockKind.ITEM or is_split) and numbering is None:
        return None
    letters = list(filter(str.isalpha, text)) if text.isascii() else _LETTERS.findall(text)
    if 2 * len(letters) < len(text) - text.count(" "):
        return None
    if _is_sentence(text) or _NO_HEADING.fullmatch(text):
        return None
    is_capital = len(letters) >= _LEAST_CAPITALS and all(map(str.isupper, letters))
    if not larger and not bold and (numbering is None or numbering > 1) and not is_capital:
        return None
    return Heading(text[:_LONGEST], Rank(numbering, block.size, bold, is_capital))


def _is_sentence(text: str) -> bool:
    """True where a text reads as sentences, as a line with leaders, or as a row with years."""
    last = text[-1:]
    return (
        last in ",;"
        or "...." in text
        or (last.isdecimal() and _YEAR_LAST.search(text.rsplit(" ", 1)[-1]) is not None)
        or (last == "." and _SENTENCE_END.search(text[-3:]) is not None)
        or (". " in text and _TWO_SENTENCES.search(text) is not None)
    )


def _may_be_plain(block: Block, words: WordColumns, body_size: float) -> bool:
    """True where a block in the size and weight of the text may be a heading by its words alone."""
    if len(block.lines) > 1 or block.size < _SMALLER * body_size:
        return False
    first = words.texts[block.lines[0].numbers[0]]
    return first.isupper() or first.casefold() in _NUMBERED


def _numbering(text: str) -> int | None:
    if _PART.match(text):
        return 0
    if _ITEM.match(text):
        return 1
    if match := _DECIMAL.match(text):
        return 2 + match[1].count(".")
    return 2 if _ROMAN.match(text) else None


class Path:
    """The headings that a text is under, from the outermost inwards."""

    def __init__(self) -> None:
        self._stack: list[Heading] = []

    def enter(self, heading: Heading) -> None:
        """A heading begins: those that do not stand above it end."""
        while self._stack and not _is_above(self._stack[-1].rank, heading.rank):
            self._stack.pop()
        self._stack.append(heading)
        del self._stack[:-_DEEPEST]

    @property
    def names(self) -> tuple[str, ...]:
        """The headings' texts."""
        return tuple(heading.text for heading in self._stack)


def _is_above(upper: Rank, lower: Rank) -> bool:
    if upper.numbering is not None and lower.numbering is not None:
        return upper.numbering < lower.numbering
    if upper.size > _SAME_SIZE * lower.size:
        return True
    if lower.size > _SAME_SIZE * upper.size:
        return False
    weights = (upper.numbering is not None, upper.is_bold, upper.is_capital)
    return weights > (lower.numbering is not None, lower.is_bold, lower.is_capital)
