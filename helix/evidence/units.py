"""Units: what an answer may quote, a sentence or a table's row, with what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helix.language.sentences import sentence_spans


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document's text, such as a chunk, under ``headings``, its title first."""

    text: str
    headings: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or row: ``text[start:end]`` of the passage at place ``passage``, from 0.

    ``place`` counts the units of its passage, ``of`` is how many that has.
    """

    text: str
    passage: int
    place: int
    of: int
    start: int
    end: int


def units_of(passages: Sequence[Passage]) -> list[Unit]:
    """The units of all passages, in order; together they cover every visible character."""
    units: list[Unit] = []
    for number, passage in enumerate(passages):
        spans = sentence_spans(passage.text)
        units += [
            Unit(passage.text[start:end], number, place, len(spans), start, end)
            for place, (start, end) in enumerate(spans)
        ]
    return units
