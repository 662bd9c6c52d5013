"""The text inside the boxes of a quote is the quote, on pages of every kind."""

from __future__ import annotations

import re

import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.domain.pages import boxes_of, spans_in, unpack_words
from pipelines.readers import pdf
from tests.support.printed_pages import Drawing, drawn, put

LINES = (
    "Revenue rose by nine percent in", "the third quarter, because more", "customers chose the",
    "larger plan than in any year", "since the harbour was opened.",
)  # fmt: skip


def _one_column(canvas: Canvas) -> None:
    put(canvas, 72, 72, "Results of the quarter", size=16, bold=True)
    put(canvas, 72, 120, *LINES)


def _two_columns(canvas: Canvas) -> None:
    for left, words in ((60, LINES), (320, [line.replace("the", "each") for line in LINES])):
        put(canvas, left, 100, *words, *words, *words)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("draw", [_one_column, _two_columns])
def test_the_text_in_the_boxes_of_a_quote_is_the_quote(draw: Drawing, rotation: int) -> None:
    read = pdf.read(drawn(draw, rotation=rotation), lambda done, total: None)
    words = list(unpack_words(read.pages[0].words))
    starts = [match.span() for match in re.finditer(r"\S+", read.text)]
    assert len(starts) > 20
    for first in range(0, len(starts), 3):
        for last in starts[first : first + 8]:
            start, end = starts[first][0], last[1]
            boxes = boxes_of(words, start, end)
            found = sorted(span for box in boxes for span in spans_in(words, box))
            told = " ".join(read.text[a:b] for a, b in found)
            assert told.split() == read.text[start:end].split()
