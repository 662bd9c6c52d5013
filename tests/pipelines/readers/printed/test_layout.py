"""Columns, paragraphs, lists and headings of drawn pages, in reading order."""

from __future__ import annotations

from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.domain.pages import unpack_words
from pipelines.readers import ReadText, read
from tests.support.printed_pages import drawn, put

FULL = "The refund policy covers every purchase made in the last thirty days and is paid"


def sections(found: ReadText) -> list[tuple[tuple[str, ...], str]]:
    return [(one.heading_path, found.text[one.start : one.end]) for one in found.sections]


def column(name: str, count: int) -> list[str]:
    return [f"{name}{number} of the column goes on and on" for number in range(count)]


def test_two_columns_below_a_title_across_both() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 120, 40, "A study of the refunds of two hundred shops in one year", size=16)
        for left, right in zip(column("left", 12), column("right", 12), strict=True):
            number = int(left[4:].split()[0])
            put(canvas, 60, 100 + 14 * number, left)
            put(canvas, 320, 100 + 14 * number, right)
        put(canvas, 60, 300, f"{FULL} for both.")

    text = read("pdf", drawn(page)).text
    names = [word for word in text.split() if word.startswith(("left", "right"))]
    assert names == [f"{side}{number}" for side in ("left", "right") for number in range(12)]
    assert text.startswith("A study") and text.endswith("for both.")


def test_lines_of_a_paragraph_are_joined_and_paragraphs_kept_apart() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 60, 60, FULL, "back at once to the card that was used, which takes a week.")
        put(canvas, 60, 100, "A second paragraph, further", "below.", size=10)
        put(canvas, 72, 160, FULL)
        put(canvas, 60, 172, f"back. {FULL[4:]}", FULL, "again.")

    assert read("pdf", drawn(page)).text.split("\n\n") == [
        f"{FULL} back at once to the card that was used, which takes a week.",
        "A second paragraph, further",
        "below.",
        f"{FULL} back. {FULL[4:]} {FULL} again.",
    ]


def test_words_cut_at_a_line_s_end_are_mended_and_both_parts_have_a_box() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 60, 60, f"{FULL} infor-", f"mation, and {FULL[4:]}", "at once.")

    found = read("pdf", drawn(page))
    assert found.text == f"{FULL} information, and {FULL[4:]} at once."
    words = unpack_words(found.pages[0].words)
    boxes = {found.text[box.start : box.end]: box for box in words}
    assert boxes["infor"].left > 300 > boxes["mation,"].right
    assert boxes["infor"].bottom <= boxes["mation,"].top + 1


def test_items_of_a_list_are_blocks_of_their_own() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 60, 60, "These are paid back:")
        for number, item in enumerate(("shoes that do not fit and have not", "hats", "gloves")):
            top = 84 + 24 * number
            put(canvas, 70, top, "•")
            put(canvas, 84, top, item)
        put(canvas, 84, 96, "been worn out of the house")

    assert read("pdf", drawn(page)).text == (
        "These are paid back:\n\n"
        "• shoes that do not fit and have not been worn out of the house\n• hats\n\n• gloves"
    )


def test_headings_begin_sections_and_make_paths() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 60, 40, "Handbook for shops", size=20)
        put(canvas, 60, 100, "1. Refunds", size=14, bold=True)
        put(canvas, 60, 130, f"{FULL} back.")
        put(canvas, 60, 160, "1.1 Exceptions", size=10, bold=True)
        put(canvas, 60, 180, f"{FULL} late.")
        put(canvas, 60, 220, "2. Delivery", size=14, bold=True)
        put(canvas, 60, 250, f"{FULL} free.")

    found = read("pdf", drawn(page))
    assert [path for path, _ in sections(found)] == [
        ("Handbook for shops", "1. Refunds"),
        ("Handbook for shops", "1. Refunds", "1.1 Exceptions"),
        ("Handbook for shops", "2. Delivery"),
    ]
    assert sections(found)[1][1] == f"1.1 Exceptions\n\n{FULL} late."


def test_a_paragraph_that_goes_on_over_the_page_is_one() -> None:
    def first(canvas: Canvas) -> None:
        put(canvas, 60, 60, f"{FULL} back.", FULL)

    def second(canvas: Canvas) -> None:
        put(canvas, 60, 60, "for by us. A new sentence.")
        put(canvas, 60, 100, "A new paragraph.")

    found = read("pdf", drawn(first, second))
    assert [(one.page, found.text[one.start : one.end]) for one in found.sections] == [
        (1, f"{FULL} back. {FULL} for by us. A new sentence."),
        (2, "A new paragraph."),
    ]
    one, two = found.pages
    assert found.text[two.start : two.end].startswith("for by us.")
    assert one.end < two.start


def test_a_paragraph_around_a_picture_is_one() -> None:
    def draw(canvas: Canvas) -> None:
        put(
            canvas,
            100,
            60,
            "Saves the state of the picture and its layers to a file, whose name can be en-",
        )
        put(
            canvas,
            100,
            72,
            "tered in the dialog that opens. Its ending is added to the name that was chosen",
        )
        put(
            canvas,
            60,
            84,
            "for the file, and the state can be read back by any of the other programs here.",
        )

    text = read("pdf", drawn(draw)).text
    assert "name that was chosen for the file" in text


def test_a_path_in_another_font_goes_on_with_its_paragraph() -> None:
    def draw(canvas: Canvas) -> None:
        put(
            canvas,
            60,
            60,
            "The pages of the examples are put into the folder of the server's own files",
            FULL,
        )
        put(canvas, 60, 84, "and on the older machines of the second floor, into")
        put(canvas, 60, 97, "/usr/local/share/of/the/server/examples/pages.", size=8)

    assert "floor, into /usr/local/share" in read("pdf", drawn(draw)).text
