"""PDFs drawn for the evals: turned pages, pages of two columns; no two sentences are the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from io import BytesIO

from reportlab.lib.pagesizes import letter  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

_WORDS = (
    "harbour ledger turbine orchard signal granite meadow cabinet railway compass archive "
    "lantern valley reactor pasture voyage kernel mosaic glacier furnace parcel estuary "
    "bridge column station window measure account seasonal northern quarterly careful narrow "
    "public early common steady remote formal brought carried settled reported measured "
    "recorded examined delivered returned approved opened divided expected followed"
).split()
_STYLE = ParagraphStyle("drawn", fontName="Times-Roman", fontSize=10.5, leading=13)
_MARGIN = 60
_GAP = 24
TURNS = (0, 90, 180, 270)


def sentence(draw: random.Random) -> str:
    """A sentence of 7 to 16 words, with a number."""
    words = draw.sample(_WORDS, draw.randint(6, 15))
    words.insert(draw.randrange(2, len(words)), f"{draw.randint(100, 99_999):,}")
    return " ".join(words).capitalize() + "."


def drawn_pdf(seed: int, *, turn: int, columns: int) -> bytes:
    """Three pages of paragraphs in ``columns``, shown turned by ``turn`` degrees."""
    draw = random.Random(seed)
    out = BytesIO()
    shown = letter if turn in (0, 180) else letter[::-1]  # reportlab turns the media box itself
    canvas = Canvas(out, pagesize=shown, invariant=1)
    for _ in range(3):
        canvas.setPageRotation(turn)
        canvas.setFont("Times-Bold", 11)
        canvas.drawString(_MARGIN, letter[1] - _MARGIN, sentence(draw).rstrip("."))
        canvas.setFont(_STYLE.fontName, _STYLE.fontSize)
        width = (letter[0] - 2 * _MARGIN - (columns - 1) * _GAP) / columns
        for column in range(columns):
            left = _MARGIN + column * (width + _GAP)
            _draw_column(canvas, draw, left, width)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw_column(canvas: Canvas, draw: random.Random, left: float, width: float) -> None:
    top = letter[1] - _MARGIN - 40
    while top > _MARGIN + 120:
        text = " ".join(sentence(draw) for _ in range(draw.randint(3, 5)))
        for line in simpleSplit(text, _STYLE.fontName, _STYLE.fontSize, width):
            canvas.drawString(left, top, line)
            top -= _STYLE.leading
        top -= _STYLE.leading


def drawn_pdfs(count: int) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of files of every turn with one column and with two."""
    for number in range(count):
        turn, columns = TURNS[number % 4], 1 + number // 4 % 2
        name = f"drawn-{number}-turned-{turn}-columns-{columns}.pdf"
        yield name, drawn_pdf(number, turn=turn, columns=columns)
