"""Running headers, footers and page numbers are left out; what only looks so stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from pipelines.readers import ReadText, read
from pipelines.readers.printed.page_numbers import labels_of
from tests.support.printed_pages import Drawing, drawn, put

BODY = (
    "The refund policy covers every purchase made in the last thirty days",
    "and is paid back to the card that was used for it.",
)

TOWNS = ("Ostend", "Bredene", "Knokke", "Zeebrugge", "Veurne", "Ghent")


def pages(count: int, *parts: Callable[[Canvas, int], None]) -> list[Drawing]:
    """Pages with a body of their own and what ``parts`` draw on each."""

    def page(number: int) -> Drawing:
        def draw(canvas: Canvas) -> None:
            put(canvas, 60, 120, f"Chapter text {'abcdefgh'[number % 8] * 3} begins.", *BODY)
            for part in parts:
                part(canvas, number)

        return draw

    return [page(number) for number in range(1, count + 1)]


def header(canvas: Canvas, number: int) -> None:
    put(canvas, 250, 40, "Example Corporation annual report", size=8)


def footer(canvas: Canvas, number: int) -> None:
    put(canvas, 280, 760, f"Example | {number + 2}", size=8)


def furniture(found: ReadText) -> list[tuple[str, ...]]:
    return [page.furniture for page in found.pages]


def test_headers_and_footers_are_kept_beside_the_text() -> None:
    found = read("pdf", drawn(*pages(5, header, footer)))
    assert "Example" not in found.text
    assert furniture(found) == [
        ("Example Corporation annual report", f"Example | {number}") for number in range(3, 8)
    ]
    assert [page.label for page in found.pages] == ["3", "4", "5", "6", "7"]
    assert {section.label for section in found.sections} == {
        f"page {number} (printed {number + 2})" for number in range(1, 6)
    }


def test_a_title_that_the_headers_repeat_is_kept() -> None:
    def running(canvas: Canvas, number: int) -> None:
        put(canvas, 250, 40, "Example Corporation annual report", size=18 if number == 1 else 8)

    found = read("pdf", drawn(*pages(5, running)))
    assert found.heading == "Example Corporation annual report"
    assert found.text.count("Example") == 1 and found.text.startswith("Example")
    assert furniture(found)[:2] == [(), ("Example Corporation annual report",)]


def test_a_page_number_with_the_count_of_pages_is_one() -> None:
    def running(canvas: Canvas, number: int) -> None:
        put(canvas, 60, 40, f"Guide for Keepers {number} / 12", size=8)

    found = read("pdf", drawn(*pages(5, running)))
    assert "Keepers" not in found.text
    assert [page.label for page in found.pages] == ["1", "2", "3", "4", "5"]


def test_a_footer_is_known_wherever_a_page_ends() -> None:
    def below(canvas: Canvas, number: int) -> None:
        put(canvas, 280, 200 + 50 * number, str(number), size=8)

    found = read("pdf", drawn(*pages(5, below)))
    assert furniture(found) == [(str(number),) for number in range(1, 6)]


def test_headers_of_odd_and_even_pages_and_of_chapters() -> None:
    def chapter(canvas: Canvas, number: int) -> None:
        if number % 2:
            put(canvas, 60, 40, "Example Corporation", size=8)
        else:
            put(canvas, 480, 40, f"Part {'ABCDEFGHIJKL'[number]}", size=8)

    rows = furniture(read("pdf", drawn(*pages(10, chapter))))
    assert rows[::2] == [("Example Corporation",)] * 5


def test_a_table_s_repeated_header_is_no_furniture() -> None:
    def rows(canvas: Canvas) -> None:
        put(canvas, 60, 40, "Region", "North", "South", "East", "West")
        put(canvas, 300, 40, "Revenue", "1,200", "3,400", "5,600", "7,800")

    found = read("pdf", drawn(rows, rows, rows, rows))
    assert furniture(found) == [()] * 4
    assert found.text.count("1,200") == 4


@pytest.mark.parametrize("leading", [14, 24], ids=["lines", "paragraphs"])
def test_lines_that_differ_in_a_number_alone_are_text(leading: int) -> None:
    def farmers(canvas: Canvas, number: int) -> None:
        put(canvas, 60, 40, f"The mills of {TOWNS[number - 1]}", size=16)
        lines = [f"Each morning {40 + 7 * number + line} farmers come early." for line in range(8)]
        put(canvas, 60, 90, *lines, leading=leading)
        put(canvas, 290, 760, str(number), size=8)

    found = read("pdf", drawn(*(partial(farmers, number=number) for number in range(1, 7))))
    assert furniture(found) == [(str(number),) for number in range(1, 7)]
    assert found.text.count("farmers come early.") == 48


def test_a_text_that_begins_with_the_number_of_its_page_is_text() -> None:
    def page(canvas: Canvas, number: int) -> None:
        town = f"We saw it in {TOWNS[number - 1]}."
        put(canvas, 60, 40, f"{number} farmers come to the market early.", town, *BODY, leading=14)
        put(canvas, 290, 760, str(number), size=8)

    found = read("pdf", drawn(*(partial(page, number=number) for number in range(1, 7))))
    assert furniture(found) == [(str(number),) for number in range(1, 7)]


def test_no_more_than_four_rows_at_an_edge_are_furniture() -> None:
    def notes(canvas: Canvas, number: int) -> None:
        lines = ["Example Corporation", "Annual report", "Printed in Ghent", "1 May", "Sign here"]
        put(canvas, 60, 600, *lines, leading=30)

    found = read("pdf", drawn(*pages(5, notes)))
    assert furniture(found)[0] == (
        "Sign here", "1 May", "Printed in Ghent", "Annual report"
    )  # fmt: skip
    assert found.text.count("Example Corporation") == 5


def test_a_page_that_would_be_empty_keeps_its_text() -> None:
    def page(number: int) -> Drawing:
        return lambda canvas: put(canvas, 60, 120, f"Page {number} {BODY[0]}")

    found = read("pdf", drawn(*map(page, range(1, 6))))
    assert found.text.count(BODY[0]) == 5


def test_of_two_pages_what_both_have_in_small_letters_at_one_place_is_furniture() -> None:
    def number(canvas: Canvas, page: int) -> None:
        put(canvas, 290, 760, str(page), size=8)

    def form(canvas: Canvas, page: int) -> None:
        put(canvas, 250, 40, "Example Corporation order form")

    def moved(canvas: Canvas, page: int) -> None:
        put(canvas, 60, 400 + 100 * page, "See the notes below.", size=8)

    def two_rows(canvas: Canvas, page: int) -> None:
        put(canvas, 250, 40, "Example Corporation", "10 High Street", size=8)

    found = read("pdf", drawn(*pages(2, header, number, moved)))
    assert furniture(found) == [("Example Corporation annual report", n) for n in ("1", "2")]
    assert "Corporation" not in found.text and found.text.count("See the notes") == 2
    found = read("pdf", drawn(*pages(2, two_rows)))
    assert furniture(found) == [("Example Corporation", "10 High Street")] * 2
    found = read("pdf", drawn(*pages(2, form, number)))
    assert furniture(found) == [("1",), ("2",)]
    assert found.text.count("Example Corporation order form") == 2
    assert furniture(read("pdf", drawn(*pages(1, header)))) == [()]


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["1", "2", "3"], ["1", "2", "3"]),
        (["- 7 -", "- 8 -", "- 9 -"], ["7", "8", "9"]),
        (["iii", "iv", "v"], ["iii", "iv", "v"]),
        (["F-3", "F-4", "F-5"], ["F-3", "F-4", "F-5"]),
        (["Page 1 of 3", "Page 2 of 3", "Page 3 of 3"], ["1", "2", "3"]),
        (["Report 2023 | 11", "Report 2023 | 12", "Report 2023 | 13"], ["11", "12", "13"]),
        (["1", "5", "2"], ["", "", ""]),
        (["Notes", "Notes", "Notes"], ["", "", ""]),
    ],
)
def test_printed_page_numbers(texts: list[str], labels: list[str]) -> None:
    rows = [(page, tuple(text.split())) for page, text in enumerate(texts, 1)]
    assert labels_of(rows, len(texts)) == labels


def test_pages_lie_one_after_the_other_in_the_text() -> None:
    found = read("pdf", drawn(*pages(5, header, footer)))
    assert all(page.start < page.end for page in found.pages)
    assert all(one.end <= two.start for one, two in pairwise(found.pages))


def test_a_page_number_within_a_footer() -> None:
    def dated(canvas: Canvas, number: int) -> None:
        put(canvas, 100, 760, f"Edited in May Page {number} of 4 Copyright E. Galstad", size=8)

    found = read("pdf", drawn(*pages(4, dated)))
    assert "Galstad" not in found.text
    assert [page.label for page in found.pages] == ["1", "2", "3", "4"]


def test_a_line_within_which_a_number_does_not_go_up_with_the_pages_stays() -> None:
    def counted(canvas: Canvas, number: int) -> None:
        put(canvas, 100, 700, f"Of the farms {(7, 3, 9, 2)[number - 1]} keep cows in winter")

    assert read("pdf", drawn(*pages(4, counted))).text.count("keep cows") == 4


def test_the_running_head_of_a_short_chapter_and_headings_that_slides_repeat() -> None:
    def head(canvas: Canvas, number: int) -> None:
        put(canvas, 60, 40, f"Chapter about {TOWNS[(number - 1) // 2]} and its harbour", size=8)

    def slide(canvas: Canvas, number: int) -> None:
        put(canvas, 60, 60, f"Harbour of {TOWNS[(number - 1) // 2]}", size=18)

    assert "Chapter about" not in read("pdf", drawn(*pages(12, head))).text
    assert read("pdf", drawn(*pages(12, slide))).text.count("Harbour of") == 12


def test_an_empty_page_has_its_header_only() -> None:
    """A blank page of a printed book; pages that are nothing else stay."""
    blank: Drawing = lambda canvas: header(canvas, 0)  # noqa: E731
    found = read("pdf", drawn(*pages(5, header), blank))
    assert "Example" not in found.text
    assert read("pdf", drawn(blank, blank, blank)).text.count("Example") == 3
