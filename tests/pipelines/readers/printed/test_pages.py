"""Pages with their boxes: what the text has is where the box says, on turned pages too."""

from __future__ import annotations

import random
from time import process_time

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.domain.pages import WordBox, pack_words, unpack_words
from pipelines.readers import ReadText, read
from tests.support.printed_pages import Drawing, drawn, put

ROWS = (("Shoes", "1,200", "1,100"), ("Hats", "340", "290"), ("Total", "1,540", "1,390"))


def report(canvas: Canvas) -> None:
    put(canvas, 60, 60, "Sales of the shops by what they sold, as they were counted each year:")
    put(canvas, 300, 100, "2023")
    put(canvas, 400, 100, "2022")
    for number, (label, this_year, last_year) in enumerate(ROWS):
        top = 120 + 16 * number
        put(canvas, 60, top, label)
        canvas.drawRightString(322, 800 - top - 10, this_year)
        canvas.drawRightString(422, 800 - top - 10, last_year)
    put(canvas, 60, 220, "Hats were sold in summer only, which is when most of them are worn.")


def boxes(found: ReadText) -> list[WordBox]:
    return [word for page in found.pages for word in unpack_words(page.words)]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_text_in_a_word_s_box_is_the_word(rotation: int) -> None:
    data = drawn(report, rotation=rotation)
    found = read("pdf", data)
    words = boxes(found)
    assert {found.text[word.start : word.end] for word in words} >= {"Sales", "1,540", "290"}
    with pdfium.PdfDocument(data) as document:
        page = document[0]
        textpage = page.get_textpage()
        for word in words:
            if rotation == 0:
                inside = (word.left, 800 - word.bottom + 2, word.right, 800 - word.top - 2)
            elif rotation == 90:
                inside = (word.top, word.left + 2, word.bottom, word.right - 2)
            elif rotation == 180:
                inside = (600 - word.right, word.top + 2, 600 - word.left, word.bottom - 2)
            else:
                inside = (600 - word.bottom, 800 - word.right + 2, 600 - word.top, 798 - word.left)
            assert textpage.get_text_bounded(*inside).strip() == found.text[word.start : word.end]
        textpage.close()
        page.close()


def test_a_table_is_a_section_of_rows_in_its_place() -> None:
    found = read("pdf", drawn(report))
    assert [section.rows for section in found.sections] == [False, True, False]
    (table,) = found.tables
    cells = {
        (table.rows[cell.row], table.columns[cell.column]): found.text[cell.start : cell.end]
        for cell in table.cells
    }
    assert cells[("Hats",), ("2022",)] == "290"
    covered = {place for word in boxes(found) for place in range(word.start, word.end)}
    assert all(set(range(*cell.span)) <= covered for cell in table.cells)


def test_words_are_packed_as_they_are_unpacked() -> None:
    (page,) = read("pdf", drawn(report)).pages
    words = list(unpack_words(page.words))
    assert words == sorted(words, key=lambda word: word.start)
    assert pack_words(words) == page.words
    assert (page.number, page.width, page.height) == (1, 600, 800)


def test_no_word_of_a_page_is_lost() -> None:
    found = read("pdf", drawn(report))
    for word in ("2023", "2022", *(cell for row in ROWS for cell in row), "counted", "worn."):
        assert word in found.text


def strewn(canvas: Canvas) -> None:
    places = random.Random(1)
    canvas.setFont("Helvetica", 3)
    for number in range(6_000):
        canvas.drawString(places.random() * 590, places.random() * 790, f"w{number}")


def crowded(canvas: Canvas) -> None:
    put(canvas, 5, 5, *(f"word{number} " * 40 for number in range(330)), size=2)


@pytest.mark.parametrize("draw", [strewn, crowded])
def test_a_page_of_very_many_words_costs_no_more_than_its_words(draw: Drawing) -> None:
    data = drawn(draw)
    started = process_time()
    assert len(read("pdf", data).text) > 30_000
    assert process_time() - started < 20
