"""pdfium by our own prototypes: the same as pypdfium2's, and errors that are exceptions."""

from __future__ import annotations

import io

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.sandbox.pdfium.document import NEEDS_PASSWORD, Bookmark, Document, PdfiumError
from helix.sandbox.pdfium.objects import CHANNELS, FORM, PATH, draw, kinds, objects
from pipelines.readers import read
from tests.support import sample_documents as documents
from tests.support.hostile_pdf import pdf_of
from tests.support.printed_pages import drawn, put


def shapes(canvas: Canvas) -> None:
    put(canvas, 60, 60, "Words above a red area and a line.")
    canvas.setFillColorRGB(1, 0, 0)
    canvas.rect(100, 100, 200, 50, stroke=0, fill=1)
    canvas.line(100, 90, 300, 90)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("red_first", [False, True])
def test_a_page_is_drawn_as_pypdfium2_draws_it(rotation: int, red_first: bool) -> None:
    data = drawn(shapes, rotation=rotation)
    with Document(data) as document, pypdfium2.PdfDocument(data) as expected:
        page, same = document[0], expected[0]
        assert page.size == same.get_size()
        assert (90 * page.quarter_turns, page.bounding_box) == (rotation, same.get_bbox())
        width, height, pixels = draw(page, 1.3, red_first=red_first)
        image = np.frombuffer(pixels, np.uint8).reshape(height, width, CHANNELS)
        page.close()
        wanted = same.render(scale=1.3, rev_byteorder=red_first).to_numpy()
        assert image.min() == 0 and np.array_equal(image, wanted)


def test_objects_are_listed_in_the_order_drawn() -> None:
    def twice(canvas: Canvas) -> None:
        canvas.beginForm("shapes")
        shapes(canvas)
        canvas.endForm()
        canvas.line(0, 0, 9, 9)
        canvas.doForm("shapes")

    with Document(drawn(twice)) as document:
        page = document[0]
        alone = [kind for _, kind in objects(page, 1)]
        assert (alone, [kind for _, kind in objects(page, 10)]) == ([PATH], [PATH, FORM])
        assert list(kinds(page, 1)) == [PATH, FORM]
        assert list(kinds(page, 2))[:2] == [PATH, FORM] and len(list(kinds(page, 2))) == 5
        page.close()


def test_the_outline_ends_where_it_leads_back_to_itself() -> None:
    data = pdf_of(
        "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 120]>>",
        "<</Type/Outlines/First 5 0 R/Last 6 0 R/Count 2>>",
        "<</Title(One)/Parent 4 0 R/Next 6 0 R/Dest[3 0 R/Fit]>>",
        "<</Title(Two)/Parent 4 0 R/Next 5 0 R/First 5 0 R>>",
    )
    with Document(data) as document:
        assert list(document.bookmarks()) == [Bookmark(0, "One", 0), Bookmark(0, "Two", None)]


def test_metadata_is_text_or_nothing() -> None:
    with Document(drawn(shapes, title="Größe 😀")) as document:
        assert document.metadata("Title") == "Größe 😀"
        assert document.metadata("Nothing") == ""


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"%PDF-1.7\n", 3), (documents.pdf("Secret.", password="unknown"), NEEDS_PASSWORD)],
)
def test_what_cannot_be_opened_says_why(data: bytes, code: int) -> None:
    with pytest.raises(PdfiumError) as raised:
        Document(data)
    assert raised.value.code == code


def test_a_page_that_is_not_there_is_an_error() -> None:
    with Document(drawn(shapes)) as document, pytest.raises(PdfiumError, match="page 2"):
        document[1]


def test_what_a_form_was_filled_with_is_read_and_drawn() -> None:
    def form(value: str) -> bytes:
        out = io.BytesIO()
        canvas = Canvas(out)
        canvas.drawString(72, 700, "Name:")
        canvas.acroForm.textfield(name="name", x=120, y=690, width=200, height=20, value=value)
        canvas.linkURL("https://example.com", (72, 600, 100, 620))
        canvas.showPage()
        canvas.save()
        return out.getvalue()

    assert read("pdf", form("Ada Lovelace")).text == "Name: Ada Lovelace"
    assert read("pdf", form("")).text == "Name:"
    images = []
    for value in ("", "Ada Lovelace"):
        with Document(form(value)) as document:
            for _ in range(2):  # a page is opened more than once
                page = document[0]
                images.append(bytes(draw(page, 1, red_first=True).pixels))
                page.close()
    assert images[0] == images[1] != images[2] == images[3]


def _with(annotation: str, form: str = "", content: str = "(Name:) Tj") -> bytes:
    """A page with a label, and beside it an annotation of no appearance."""
    stream = f"BT /F 12 Tf 72 695 Td {content} ET"
    return pdf_of(
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/DA(/F 12 Tf 0 g)"
        f"/DR<</Font<</F 6 0 R>>>>{form}>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Annots[4 0 R]"
        "/Resources<</Font<</F 6 0 R>>>>>>",
        f"<</Type/Annot/Rect[120 690 320 710]/DA(/F 12 Tf 0 g){annotation}>>",
        f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )


_TEXT = "/Subtype/Widget/FT/Tx/T(name)/V(Ada)"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (_with(_TEXT), "Name: Ada"),
        (_with(_TEXT, "/NeedAppearances true"), "Name: Ada"),
        (_with(_TEXT.replace("(Ada)", "<FEFF041F0440>")), "Name: \u041f\u0440"),
        (_with(f"{_TEXT}/Ff 8192"), "Name: ***"),
        (_with(f"{_TEXT}/F 2"), "Name:"),
        (_with(f"{_TEXT}/F 36"), "Name:"),
        (_with("/Subtype/Widget/FT/Ch/Ff 131072/T(c)/V(2)/Opt[[(1)(One)][(2)(Two)]]"), "Name: Two"),
        (_with(_TEXT, content="(Name:) Tj 50 0 Td (Ada) Tj"), "Name: Ada"),
    ],
)
def test_a_field_is_read_as_it_is_shown(data: bytes, text: str) -> None:
    """Without an appearance by its value, as programs fill forms; what is hidden is not read."""
    assert read("pdf", data).text == text
