"""The numbers of a passage where they stand: cells of its tables, and figures in its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from helix.domain.calculations import Operand
from helix.domain.records import Hit
from helix.language.paraphrases import meanings
from helix.language.periods import periods
from helix.language.rows import INWARDS, TableRow, amount, counted_in, rows_of, units_in
from helix.language.sentences import Span, sentence_spans

_IN_PROSE = re.compile(
    r"(?<![\w.,])[$€£¥]?\s?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)"
    r"(?:(?P<percent>\s?%)|\s(?P<scale>thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figure:
    """A number as an operand, with the text of its row and column, or of its sentence.

    ``place`` is the index of its column in its row, from 0; -1 for a number in a sentence.
    ``about`` are the meanings of the words of its passage, and of its document's title and facts.
    """

    operand: Operand
    row: str
    column: str
    caption: str
    place: int = -1
    about: frozenset[str] = frozenset()

    @cached_property
    def row_words(self) -> frozenset[str]:
        """The meanings of the words of its row and of the row groups above it."""
        return frozenset(meanings(self.row))

    @cached_property
    def column_words(self) -> frozenset[str]:
        """The meanings of the words of its column's path."""
        return frozenset(meanings(self.column))


def figures_of(hit: Hit) -> Iterator[Figure]:
    """The numbers of a passage: those of its tables, then those of its sentences.

    A passage without character offsets gives none.
    """
    if hit.start_char is None:
        return
    texts = (hit.content, hit.title, *hit.heading_path, *hit.facts.values())
    about = frozenset(meanings("\n".join(texts)))
    rows = list(rows_of(hit.content))
    for row, above in rows:
        yield from _in_row(hit, row, above, about)
    of_rows = {(row.start, row.end) for row, _ in rows}
    for start, end in sentence_spans(hit.content):
        if not any(start < last and first < end for first, last in of_rows):
            yield from _in_sentence(hit, start, end, about)


def _in_row(hit: Hit, row: TableRow, above: Span, about: frozenset[str]) -> Iterator[Figure]:
    """The numbers of a row's cells; ``above`` is where its table's caption and units stand."""
    units, caption = units_in(hit.content, above), hit.content[slice(*above)]
    name = INWARDS.join(row.path)
    for place, cell in enumerate(row.cells):
        if amount(cell.value) is None:
            continue
        column = ", ".join(filter(None, map(str.strip, cell.header.split(INWARDS))))
        scale = counted_in(row, cell, units)
        operand = _operand(hit, cell.start, cell.end, scale, name, column)
        yield Figure(operand, name, column, caption, place, about)


def _in_sentence(hit: Hit, start: int, end: int, about: frozenset[str]) -> Iterator[Figure]:
    sentence = hit.content[start:end]
    dated = [(period.start, period.end) for period in periods(sentence)]
    for match in _IN_PROSE.finditer(sentence):
        if any(first < match.end() and match.start() < last for first, last in dated):
            continue
        scale = "%" if match["percent"] else (match["scale"] or "").lower()
        until = match.end() if match["percent"] or not scale else match.start("scale") - 1
        operand = _operand(hit, start + match.start(), start + until, scale, "", "")
        if operand.amount is not None:
            yield Figure(operand, "", "", sentence, about=about)


def _operand(hit: Hit, start: int, end: int, scale: str, row: str, column: str) -> Operand:
    at = hit.start_char or 0
    quote = hit.content[start:end]
    return Operand(
        hit.chunk_id, hit.document_id, at + start, at + end, quote, scale, row, column
    )  # fmt: skip
