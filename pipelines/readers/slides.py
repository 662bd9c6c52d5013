"""A slide as a section of a text, for the readers of presentations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from helix.domain.tables import Table
from helix.language.sentences import Span
from helix.language.words import words
from pipelines.readers.draft import Draft
from pipelines.readers.grids import moved
from pipelines.readers.tables import uncut


class Piece(NamedTuple):
    """A paragraph of a slide, or lines with the tables in them; spans count from its start."""

    text: str
    tables: Sequence[Table] = ()


def title_of(told: str | None, titles: Sequence[str]) -> str | None:
    """The title of a presentation: that of its first slide with one.

    The one of its properties goes first where it has all words of the first slide's: else it is
    often what a template came with.
    """
    first = "".join(titles[:1])
    named = [told, first] if {*words(first)} <= {*words(told or "")} else [first]
    return next(filter(None, (*named, *titles)), None)


def add_slide(draft: Draft, number: int, title: str, pieces: Sequence[Piece]) -> None:
    """A section labelled "slide 3", with the slide's number as page."""
    blocks: list[Span] = []
    tables: list[Table] = []
    length = 0
    for text, within in pieces:
        if within:
            blocks += uncut(text, length)
            tables += [moved(table, length) for table in within]
        length += len(text) + 1
    draft.add(
        "\n".join(piece.text for piece in pieces),
        heading_path=(title,) if title else (),
        page=number,
        label=f"slide {number}",
        blocks=blocks,
        tables=tables,
    )
