"""Formulas of Office and MathML as lines, in each kind of file that may have them."""

from __future__ import annotations

import io

import docx
import pytest
from docx.oxml import parse_xml
from lxml import etree  # type: ignore[import-untyped]
from pptx import Presentation

from pipelines.readers import read
from pipelines.readers.formulas import formula_text
from tests.support.open_documents import package

_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_CHOICE = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def office(parts: str) -> str:
    """A formula as Office writes it; ``[x]`` is a run."""
    for sign, tag in (("[", "<m:r><m:rPr/><m:t>"), ("]", "</m:t></m:r>")):
        parts = parts.replace(sign, tag)
    return f'<m:oMath xmlns:m="{_MATH}">{parts}</m:oMath>'


HALF = "<m:f><m:fPr/><m:num>[1]</m:num><m:den>[2]</m:den></m:f>"
NEWTON = office(f"[E=]{HALF}[m]<m:sSup><m:e>[v]</m:e><m:sup>[2]</m:sup></m:sSup>")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (NEWTON, "E=1/2mv^2"),
        (
            office("<m:f><m:num>[a+b]</m:num><m:den><m:rad><m:deg/><m:e>[xy]</m:e></m:rad></m:den>"
                   "</m:f>"), "(a+b)/(√xy)",
        ),
        (
            office('<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>[i=1]</m:sub>'
                   "<m:sup>[n]</m:sup><m:e><m:sSub><m:e>[x]</m:e><m:sub>[i]</m:sub></m:sSub></m:e>"
                   "</m:nary>"), "∑_(i=1)^n x_i",
        ),
        (office("<m:d><m:e>[a]</m:e><m:e>[b]</m:e></m:d>"), "(a|b)"),
        (
            "<math><semantics><mrow><msup><mi>a</mi><mn>2</mn></msup><mo>+</mo>"
            "<msqrt><mi>b</mi><mo>-</mo><mn>1</mn></msqrt></mrow>"
            '<annotation encoding="TeX">a^2</annotation></semantics></math>', "a^2+√(b-1)",
        ),
        ("<math><mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>",
         "1/(x+1)"),
        ("<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi></math>",
         "∑_i^ni"),
        ("<math><mfrac><mn>1</mn></mfrac></math>", "1"),
    ],
)  # fmt: skip
def test_a_formula_is_a_line(formula: str, text: str) -> None:
    assert formula_text(etree.fromstring(formula)) == text


def test_a_formula_stands_in_the_text_of_each_kind_of_file() -> None:
    document, out = docx.Document(), io.BytesIO()
    paragraph = document.add_paragraph("Energy: ")._p
    paragraph.append(parse_xml(NEWTON))
    document.save(out)
    assert read("docx", out.getvalue()).text == "Energy: E=1/2mv^2"

    math = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac><annotation>half</annotation></math>"
    assert read("html", f"<p>Share: {math} of it.</p>".encode()).text == "Share: 1/2 of it."

    frame = '<text:p>Share:<draw:frame><draw:object xlink:href="Formula-0/"/></draw:frame></text:p>'
    made = package("text", frame, parts={"Formula-0/content.xml": math.encode()})
    assert read("odt", made).text == "Share:\n\n1/2"


def test_a_slide_s_shape_with_a_formula_keeps_its_text() -> None:
    deck, out = Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text_frame.text = "Energy"
    shape = slide.placeholders[1]
    shape.text_frame.text = "Known as "
    shape.text_frame.paragraphs[0]._p.append(
        parse_xml(
            f'<a:m xmlns:a="http://schemas.microsoft.com/office/drawing/2010/main">{NEWTON}</a:m>'
        )
    )
    shape.text_frame.add_paragraph().text = "By Newton's laws."
    alternatives = parse_xml(
        f'<mc:AlternateContent xmlns:mc="{_CHOICE}"><mc:Choice Requires="a14"/><mc:Fallback/>'
        "</mc:AlternateContent>"
    )
    shape._element.addprevious(alternatives)
    alternatives[0].append(shape._element)
    deck.save(out)
    assert read("pptx", out.getvalue()).text == (
        "Energy\n- Known as E=1/2mv^2\n- By Newton's laws."
    )
