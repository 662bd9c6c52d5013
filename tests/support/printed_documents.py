"""A document of two printed pages and a table, as a reader gives it."""

from __future__ import annotations

import re

from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.tables import Cell, Table

FIRST = "Results of the quarter"
ROWS = "Revenue: $39,669\nCost: $20,000"
TEXT = f"{FIRST}\n\n{ROWS}"
"""The first page has the heading, the second the table."""
WIDTH, HEIGHT = 612.0, 792.0
START = len(FIRST) + 2


def box_of(start: int, end: int) -> WordBox:
    """The box of the word ``TEXT[start:end]``: 5 points a character, lines 12 apart."""
    line_start = TEXT.rfind("\n", 0, start) + 1
    top = 72.0 + 12.0 * TEXT.count("\n", START if start >= START else 0, start)
    left = 72.0 + 5.0 * (start - line_start)
    return WordBox(start, end, left, top, left + 5.0 * (end - start), top + 10.0)


def _page(number: int, label: str, start: int, end: int) -> PrintedPage:
    words = (
        box_of(start + word.start(), start + word.end())
        for word in re.finditer(r"\S+", TEXT[start:end])
    )
    return PrintedPage(
        number, label, WIDTH, HEIGHT, start, end, ("Helix Inc.", label), pack_words(words)
    )


PAGES = (_page(1, "i", 0, len(FIRST)), _page(2, "1", START, len(TEXT)))
TABLE = Table(
    start=START,
    end=len(TEXT),
    rows=(("Revenue",), ("Cost",)),
    columns=(("Three Months Ended", "July 1, 2023"),),
    cells=tuple(
        Cell(row, 0, TEXT.index(value), TEXT.index(value) + len(value))
        for row, value in enumerate(("$39,669", "$20,000"))
    ),
    page=2,
    caption="Results",
    units="in millions",
)
