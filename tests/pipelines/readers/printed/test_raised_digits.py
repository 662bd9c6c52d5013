"""Raised digits of a page by their boxes; what is small, lowered or turned is none."""

from __future__ import annotations

import io
import re

import pytest
from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import Paragraph, SimpleDocTemplate  # type: ignore[import-untyped]

from pipelines.readers import read
from tests.support.printed_pages import drawn


def page(marked: str) -> str:
    out, style = io.BytesIO(), getSampleStyleSheet()["BodyText"]
    SimpleDocTemplate(out).build([Paragraph(marked, style)])
    # pdfium has a space where the next character is set much larger
    return re.sub(" (?=[.,)])", "", read("pdf", out.getvalue()).text)


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("About 10<super>6</super> cells in 50 m<super>2</super>.", "About 10⁶ cells in 50 m²."),
        ("A share of 36.2<super>1,2</super> percent.", "A share of 36.2¹,² percent."),
        ("It is 10<super>-3</super>, they say<super>12</super>.", "It is 10⁻³, they say¹²."),
        ("In 2024 they had (10<super>9</super>) of 12.", "In 2024 they had (10⁹) of 12."),
        ("On the 1<super>st</super> of May.", "On the 1st of May."),
        ("Of 10<font size=6>6</font> and CO<sub>2</sub>.", "Of 106 and CO2."),
    ],
)
def test_raised_digits_are_read_as_such(marked: str, text: str) -> None:
    assert page(marked) == text


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_words_have_no_raised_digits(turn: int) -> None:
    def turned(canvas: Canvas) -> None:
        canvas.translate(200, 400)
        canvas.rotate(turn)
        canvas.drawString(0, 0, "Wm1 is 7, and W2.")

    assert "Wm1 is 7, and W2." in " ".join(read("pdf", drawn(turned)).text.split())
