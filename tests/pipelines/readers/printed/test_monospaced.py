"""Code among the text of a page, told by the one width of its letters."""

from __future__ import annotations

import pytest
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.cidfonts import UnicodeCIDFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.domain.pages import unpack_words
from pipelines.readers import ReadText, read
from tests.support.printed_pages import HEIGHT, Drawing, drawn, put

FULL = "The settings are read once, when the program starts, from the folder that is named by"
CODE = ("while read name", "do", '    echo "$name  $(wc -l < $name)"', "", "    done += 1", "}")


def typed(canvas: Canvas, left: float, top: float, *lines: str) -> None:
    canvas.setFont("Courier", 9)
    for number, line in enumerate(lines):
        canvas.drawString(left, HEIGHT - top - 9 - 11 * number, line)


def manual(canvas: Canvas) -> None:
    put(canvas, 60, 60, FULL, "an option. To list them, do this:")
    typed(canvas, 60, 100, *CODE)
    put(canvas, 60, 200, "They are shown at once.")


def boxed(found: ReadText) -> list[str]:
    return [found.text[word.start : word.end] for word in unpack_words(found.pages[0].words)]


def test_code_keeps_its_lines_and_its_spaces_and_each_word_has_its_box() -> None:
    found = read("pdf", drawn(manual))
    assert found.text.split("\n\n", 1)[1] == (
        "```\n" + "\n".join(CODE) + "\n```\n\nThey are shown at once."
    )
    assert boxed(found) == [word for word in found.text.split() if word != "```"]


def begins(canvas: Canvas) -> None:
    typed(canvas, 60, 60, "    make all the things", "make")
    put(canvas, 60, 100, FULL, FULL, FULL, "an option.")


def ends(canvas: Canvas) -> None:
    put(canvas, 60, 60, FULL, FULL, FULL, "an option.")
    typed(canvas, 60, 130, "make all the things", "make install all")


@pytest.mark.parametrize(
    ("draw", "code"),
    [(begins, "```\n    make all the things\nmake\n```"),
     (ends, "```\nmake all the things\nmake install all\n```")],
)  # fmt: skip
def test_code_at_the_edge_of_a_page(draw: Drawing, code: str) -> None:
    found = read("pdf", drawn(draw))
    assert code in (found.text[: len(code)], found.text[-len(code) :])
    assert boxed(found) == [word for word in found.text.split() if word != "```"]


def within(canvas: Canvas) -> None:
    put(canvas, 60, 60, FULL)
    typed(canvas, 60, 73, "settings.folder")
    put(canvas, 60, 110, FULL)
    typed(canvas, 60, 123, "set by the installer")
    put(canvas, 180, 122, "or by hand.")
    typed(canvas, 60, 170, "make all the things", "make install all")


def test_a_line_of_names_within_a_paragraph_is_text() -> None:
    text = read("pdf", drawn(within)).text
    assert f"{FULL} settings.folder\n\n" in text
    assert f"{FULL} set by the installer or by hand." in text


def test_code_does_not_go_on_with_the_paragraph_of_the_page_before() -> None:
    def first(canvas: Canvas) -> None:
        put(canvas, 60, 60, FULL, FULL)

    def second(canvas: Canvas) -> None:
        typed(canvas, 60, 60, "make all the things", "make install")
        put(canvas, 60, 100, FULL, FULL, FULL)

    text = read("pdf", drawn(first, second)).text
    assert f"{FULL}\n\n```\nmake all the things\nmake install\n```\n\n{FULL}" in text


LETTER = (
    "Dear Anna, we thank you for the order of May",
    "that you have sent. The goods will be with you",
    "in ten days. Please pay when you have them.",
)


def test_a_letter_among_other_text_is_prose() -> None:
    def draw(canvas: Canvas) -> None:
        put(canvas, 60, 60, *[FULL] * 8)
        typed(canvas, 60, 200, *LETTER)

    assert "```" not in read("pdf", drawn(draw)).text


def test_a_bold_line_alone_is_a_heading() -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(2):
            canvas.setFont("Courier-Bold", 10)
            canvas.drawString(60, 700 - 100 * number, f"open_file{number}(name, mode, size)")
            put(canvas, 60, 130 + 100 * number, FULL, FULL, "here.")

    found = read("pdf", drawn(draw))
    assert [section.heading_path for section in found.sections] == [
        ("open_file0(name, mode, size)",), ("open_file1(name, mode, size)",),
    ]  # fmt: skip


def test_a_bold_line_alone_is_code_where_other_code_is_bold() -> None:
    def draw(canvas: Canvas) -> None:
        for top, lines in (
            (60, ("make all the things", "make install all")),
            (160, ("make clean up",)),
        ):
            put(canvas, 60, top, FULL, "an option. To do it, run the following command:")
            canvas.setFont("Courier-Bold", 9)
            for number, line in enumerate(lines):
                canvas.drawString(80, HEIGHT - top - 50 - 11 * number, line)

    assert "command:\n\n```\nmake clean up\n```" in read("pdf", drawn(draw)).text


def test_ideographs_are_prose() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))

    def draw(canvas: Canvas) -> None:
        put(canvas, 60, 200, *[FULL] * 6)
        canvas.setFont("STSong-Light", 12)
        for number in range(3):
            canvas.drawString(
                60, HEIGHT - 60 - 14 * number, "退款政策适用于三十天内的每次购买并在当天支付"
            )

    text = read("pdf", drawn(draw)).text
    assert "退款政策" in text and "```" not in text


def test_a_document_of_one_width_is_prose() -> None:
    def draw(canvas: Canvas) -> None:
        typed(canvas, 60, 60, *[f"{number} {FULL}" for number in range(9)], "an option.")

    assert "```" not in read("pdf", drawn(draw)).text
