"""Heading paths from a PDF document's bookmarks."""

from __future__ import annotations

import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from pipelines.readers import read
from pipelines.readers.printed.bookmarks import Bookmarks
from tests.support.printed_pages import Drawing, drawn, put

TEXT = "Goods are counted at the end of every week by whoever has the late shift then."


def page(*sections: tuple[str, str, int], above: str = "") -> Drawing:
    """A page of headings in the text's own letters; (heading, its bookmark or "", level) each."""

    def draw(canvas: Canvas) -> None:
        if above:
            put(canvas, 60, 40, above)
        for number, (heading, title, level) in enumerate(sections):
            if title:
                canvas.bookmarkPage(title)
                canvas.addOutlineEntry(title, title, level)
            put(canvas, 60, 80 + 80 * number, heading)
            put(canvas, 60, 110 + 80 * number, f"{TEXT} {number}.")

    return draw


def paths(*pages: Drawing) -> list[tuple[str, ...]]:
    return [section.heading_path for section in read("pdf", drawn(*pages)).sections]


def test_each_section_of_a_page_is_under_its_own_bookmark() -> None:
    first = page(("6 Stock", "Stock", 0), ("6.1 Warehouses", "Warehouses", 1))
    second = page(("6.2 Languages", "Languages", 1), ("7 Goods", "Goods", 0), above=f"{TEXT} So.")
    assert paths(first, second) == [
        ("6 Stock",), ("6 Stock", "6.1 Warehouses"), ("6 Stock", "6.1 Warehouses"),
        ("6 Stock", "6.2 Languages"), ("7 Goods",),
    ]  # fmt: skip


def test_a_heading_without_text_stays_with_the_one_below_it() -> None:
    def draw(canvas: Canvas) -> None:
        for top, title, level in ((60, "Stock", 0), (90, "Warehouses", 1)):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
            put(canvas, 60, top, title)
        put(canvas, 60, 130, TEXT)

    (section,) = read("pdf", drawn(draw)).sections
    assert section.heading_path == ("Stock", "Warehouses")


def test_where_a_title_is_not_on_its_page_all_of_it_is_under_what_they_share() -> None:
    found = page(("Stock", "Stock", 0), ("Halls", "Warehouses", 1), ("Tongues", "Languages", 1))
    assert set(paths(found)) == {("Stock",)}


def test_a_title_in_a_table_of_contents_is_no_heading() -> None:
    marks = Bookmarks([1, 1], [("Stock",), ("Stock", "Halls")]).on(1)
    lines = ["Stock . . . . 4", "Halls . . . . 5", "1 Stock", "Goods are counted.", "1.1 Halls"]
    assert marks.places_in(lines) == {-1: (), 2: ("Stock",), 4: ("Stock", "Halls")}
    assert marks.places_in(lines[:4]) == {}
    assert marks.places_in(["", *lines[2:]]) == {-1: (), 1: ("Stock",), 3: ("Stock", "Halls")}


def test_the_path_of_a_page_is_that_of_the_last_bookmark() -> None:
    marks = Bookmarks([2, 2, 2], [("A",), ("A", "A1"), ("A", "A2")])
    assert [marks.on(number).path for number in (1, 2, 3)] == [(), ("A",), ("A", "A2")]
    assert Bookmarks([2, 2], [("A",), ("B",)]).on(2).path == ("A",)


def test_a_list_of_what_follows_is_not_where_it_begins() -> None:
    marks = Bookmarks([1, 1], [("Halls",), ("Tongues",)]).on(1)
    assert marks.places_in(["Halls", "Tongues", "Halls", TEXT, "Tongues", TEXT]) == {
        -1: (), 2: ("Halls",), 4: ("Tongues",),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "title", "is_title"),
    [
        ("4.2.1 Halls", "Halls", True),
        ("Halls", "4 Halls", True),
        ("Chapter 4. Halls", "Halls", True),
        ("APPENDIX B: HALLS", "Halls", True),
        ("iv) Halls", "Halls", True),
        ("Halls and tongues", "Halls and  tongues", True),
        ("Two halls", "Halls", False),
        ("Halls", "Terms of halls", False),
        ("2", "Step 2", False),
        ("Aplomb", "B", False),
        ("Halls 4", "Halls", False),
        ("–", "–", False),
    ],
)
def test_a_title_may_have_another_number(line: str, title: str, *, is_title: bool) -> None:
    assert bool(Bookmarks([1], [(title,)]).on(1).places_in([line])) is is_title
