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


def math(parts: str) -> str:
    return f"<math>{parts}</math>"


_HALVED = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
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
         "∑_i^n i"),
        (math("<mi>a</mi><mi>sin</mi><mi>x</mi><mtext>&#xa0;if&#xa0;</mtext><mi>y</mi>"),
         "a sin x if y"),
        (math("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi><mn>2</mn><mo>&#x2062;</mo><mi>y</mi>"),
         "sin x2y"),
        (math("<msup><mi>sin</mi><mn>2</mn></msup><mo>&#x2061;</mo><mi>x</mi>"), "sin^2 x"),
        (math(f"<mn>1</mn>{_HALVED}"), "1 1/2"),
        (math(f"<msup>{_HALVED}<mn>2</mn></msup>"), "(1/2)^2"),
        (math("<mfrac><mn>1</mn><mrow><mn>2</mn><mi>x</mi></mrow></mfrac>"), "1/(2x)"),
        (math("<msup><mi>x</mi><mrow><mn>2</mn><mi>y</mi></mrow></msup>"), "x^(2y)"),
        (math("<mfenced><mi>a</mi><mi>b</mi></mfenced>"), "(a,b)"),
        (math('<mfenced open="[" close="]" separators=";|"><mi>a</mi><mi>b</mi><mi>c</mi>'
              "<mi>d</mi></mfenced>"), "[a;b|c|d]"),
        (math("<mn>2</mn><mroot><mi>x</mi><mn>3</mn></mroot>"), "2√[3]x"),
        (math("<mtable><mtr><mtd><mn>1</mn></mtd><mtd/></mtr><mlabeledtr><mtd><mtext>(1)</mtext>"
              "</mtd><mtd><mi>a</mi></mtd></mlabeledtr></mtable>"), "1, ; (1), a"),
        (math('<mover accent="true"><mi>x</mi><mo>¯</mo></mover>'), "x̄"),
        (math("<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn>"
              "</mmultiscripts>"), "_6^14C"),
        (math('<mo>(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>'),
         "(n; k)"),
        (math("x + 1"), "x + 1"),
        (math("<mi>a</mi><mphantom><mi>b</mi></mphantom>"), "a"),
        (office("[2]<m:func><m:fName>[sin]</m:fName><m:e>[x]</m:e></m:func>[+1][2]"), "2 sin x+12"),
        (office('<m:acc><m:e>[x]</m:e></m:acc>[=]<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>'
                "<m:e>[y]</m:e></m:bar>"), "x̂=y̅"),
        (office("<m:eqArr><m:e>[x=1]</m:e><m:e>[y=2]</m:e></m:eqArr>"), "x=1; y=2"),
        (office("<m:sPre><m:sub>[6]</m:sub><m:sup>[14]</m:sup><m:e>[C]</m:e></m:sPre>"), "_6^14C"),
        (office('<w:del xmlns:w="w">[5]</w:del>[6]'), "6"),
        (math(120 * "<mrow>" + "<mi>x</mi><mi>y</mi>" + 120 * "</mrow>"), "x y"),
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

    prefixed = "<m:math><m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac></m:math>"
    assert read("html", f"<p>Share: {prefixed} of it.</p>".encode()).text == "Share: a/b of it."

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
