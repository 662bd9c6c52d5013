"""Raised numbers of each format that draws them: a power is not its digits beside the rest."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import pptx
import pytest

from helix.answering.proof.number_parser import numbers_of
from pipelines.readers import read
from pipelines.readers.superscripts import superscript
from tests.support.open_documents import package

Pieces = list[tuple[str, bool]]
"""Text, and whether it is drawn raised."""


def _html(pieces: Pieces) -> bytes:
    text = "".join(f"<sup>{text}</sup>" if raised else text for text, raised in pieces)
    return f"<html><body><h1>Sizes</h1><p>{text}</p></body></html>".encode()


def _docx(pieces: Pieces) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    paragraph = document.add_paragraph()
    for text, raised in pieces:
        paragraph.add_run(text).font.superscript = raised or None
    document.save(out)
    return out.getvalue()


def _pptx(pieces: Pieces) -> bytes:
    deck, out = pptx.Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    paragraph = slide.shapes.title.text_frame.paragraphs[0]
    for text, raised in pieces:
        run = paragraph.add_run()
        run.text = text
        if raised:
            run.font._element.set("baseline", "30000")
    deck.save(out)
    return out.getvalue()


def _odt(pieces: Pieces) -> bytes:
    style = (
        '<style:style style:name="T1" style:family="text">'
        '<style:text-properties style:text-position="super 58%"/></style:style>'
    )
    spans = "".join(
        f'<text:span text:style-name="T1">{text}</text:span>' if raised else text
        for text, raised in pieces
    )
    return package("text", f"<text:p>{spans}</text:p>", styles=style)


@pytest.mark.parametrize(
    ("kind", "made"), [("html", _html), ("docx", _docx), ("pptx", _pptx), ("odt", _odt)]
)
def test_a_raised_number_is_read_as_one(kind: str, made: Callable[[Pieces], bytes]) -> None:
    pieces = [
        ("About 10", False), ("6", True), (" cells in 50 m", False), ("2", True),
        (", a share of 36.2", False), ("1,2", True), (" or 10", False), ("-3", True),
        (", on the 1", False), ("st", True), (" of May", False),
    ]  # fmt: skip
    expected = "About 10⁶ cells in 50 m², a share of 36.2¹,² or 10⁻³, on the 1st of May"
    assert expected in read(kind, made(pieces)).text


def test_links_within_are_raised_too() -> None:
    page = "<p>Taken from here<sup><a href='#n1'>1</a>, <a href='#n2'>2</a></sup> and there.</p>"
    assert "here¹, ² and there." in read("html", page.encode()).text


@pytest.mark.parametrize("text", ["", "th", "[1]", "(2)", "2023", "6a"])
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert superscript(text) == text


def test_a_number_with_a_mark_is_no_other_number() -> None:
    found = [one.values for one in numbers_of("a share of 36.2² or 10⁶")]
    assert found == [("36.2",), ("1000000",)]
