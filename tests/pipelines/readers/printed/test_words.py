"""Words of a page: text, box, size and weight, also on turned pages; and what is drawn."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from pipelines.readers.printed.rules import Rule
from pipelines.readers.printed.words import Word, page_words
from tests.support.printed_pages import HEIGHT, WIDTH, drawn, opened, put, rules_of, words_of


def read(data: bytes) -> dict[str, Word]:
    with opened(data) as (page, textpage):
        return {word.text: word for word in words_of(page, textpage)}


def two_lines(canvas: Canvas) -> None:
    put(canvas, 100, 50, "Revenue", size=16, bold=True)
    put(canvas, 100, 90, "grew by 12%", size=10)


def test_words_have_boxes_sizes_and_weight() -> None:
    words = read(drawn(two_lines))
    assert list(words) == ["Revenue", "grew", "by", "12%"]
    head, grew, share = words["Revenue"], words["grew"], words["12%"]
    assert head.bold and not grew.bold
    assert head.size == pytest.approx(1.6 * grew.size, rel=0.05)
    assert (head.left, grew.left) == pytest.approx((100, 100), abs=0.5)
    assert 50 < head.top + head.size / 2 < 66 < 90 < grew.top + grew.size / 2 < 100
    assert (grew.top, grew.bottom) == pytest.approx((share.top, share.bottom))
    assert grew.right < words["by"].left < words["by"].right < share.left < share.right < 160


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_turned_page_is_read_upright_and_its_boxes_are_those_shown(rotation: int) -> None:
    upright = read(drawn(two_lines))
    with opened(drawn(two_lines, rotation=rotation)) as (page, textpage):
        packed = page_words(page, textpage)
    words = {word.text: word for word in packed.words()}
    assert sorted(words) == sorted(upright)
    assert words["Revenue"].box == pytest.approx(upright["Revenue"].box, abs=0.1)
    size = (WIDTH, HEIGHT) if rotation == 180 else (HEIGHT, WIDTH)
    assert (packed.frame.width, packed.frame.height) == size
    place = packed.texts().index("Revenue")
    left, top, right, bottom = (column[place] for column in packed.shown().columns)
    x, y = (upright["Revenue"].left + upright["Revenue"].right) / 2, 58
    middle = {90: (HEIGHT - y, x), 180: (WIDTH - x, HEIGHT - y), 270: (y, WIDTH - x)}[rotation]
    assert left < middle[0] < right and top < middle[1] < bottom


def test_a_stamp_along_the_margin_is_not_among_the_words() -> None:
    def page(canvas: Canvas) -> None:
        two_lines(canvas)
        canvas.rotate(90)
        canvas.drawString(200, -30, "arXiv 2023")

    with opened(drawn(page)) as (one, textpage):
        packed, upright = page_words(one, textpage), words_of(one, textpage)
    assert [word.text for word in upright] == ["Revenue", "grew", "by", "12%"]
    assert sorted(packed.texts()) == sorted(["Revenue", "grew", "by", "12%", "arXiv", "2023"])


def test_words_outside_of_the_page_are_left_out() -> None:
    def page(canvas: Canvas) -> None:
        two_lines(canvas)
        put(canvas, 700, 50, "unseen")
        put(canvas, 100, -90, "above")

    assert list(read(drawn(page))) == ["Revenue", "grew", "by", "12%"]


def test_a_bold_beginning_of_a_line_is_bold_alone() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 100, 200, "strongly", bold=True)
        put(canvas, 150, 200, "it begins")

    assert [word.text for word in read(drawn(page)).values() if word.bold] == ["strongly"]


@pytest.mark.parametrize(
    ("name", "is_bold"),
    [
        ("LMRoman10-Regular", False),
        ("LMRoman12-Italic", False),
        ("LMRomanDemi10-Regular", True),
        ("LMRoman10-BoldItalic", True),
        ("NimbusRomNo9L-MediItal", True),  # its name tells nothing, its stems do
    ],
)
def test_a_font_s_name_tells_its_weight_before_its_stems_do(name: str, is_bold: bool) -> None:
    font = TTFont(name, "Vera.ttf")
    font.face.name, font.face.stemV = name.encode(), 160
    pdfmetrics.registerFont(font)

    def page(canvas: Canvas) -> None:
        canvas.setFont(name, 10)
        canvas.drawString(100, 500, "likelihood")

    assert read(drawn(page))["likelihood"].bold is is_bold


def test_rules_are_lines_edges_and_areas() -> None:
    def page(canvas: Canvas) -> None:
        put(canvas, 10, 10, "x")
        canvas.line(100, 700, 300, 700)
        canvas.rect(100, 600, 200, 0.5, stroke=0, fill=1)
        canvas.rect(100, 500, 200, 20, stroke=0, fill=1)
        canvas.rect(100, 400, 200, 20, stroke=1, fill=0)

    with opened(drawn(page)) as (one, _):
        rules = rules_of(one)
    assert [rule.filled for rule in rules] == [False, False, True, False, False, False, False]
    assert rules[0] == pytest.approx(Rule(100, 100, 300, 100), abs=1)
    assert rules[1] == pytest.approx(Rule(100, 200, 300, 200), abs=1)
    assert rules[2] == pytest.approx(Rule(100, 280, 300, 300, True), abs=0.1)
    tops = sorted(rule.top for rule in rules[3:] if rule.right - rule.left > 100)
    assert tops == pytest.approx([380, 400], abs=1)


def test_a_drawing_of_very_many_lines_has_no_rules() -> None:
    def page(canvas: Canvas) -> None:
        for number in range(6000):
            canvas.line(10, number % 700, 300, number % 700)

    with opened(drawn(page)) as (one, _):
        assert rules_of(one) == []


def test_a_page_of_very_many_words_has_the_box_of_each() -> None:
    lines = [" ".join(f"{row:02}{column:02}" for column in range(40)) for row in range(60)]

    def page(canvas: Canvas) -> None:
        put(canvas, 20, 20, *lines, size=5, leading=12)

    words = read(drawn(page))
    assert list(words) == " ".join(lines).split()
    tops = [words[f"{row:02}00"].top for row in range(60)]
    assert [low - high for high, low in pairwise(tops)] == pytest.approx([12] * 59, abs=0.01)
    last = [words[f"59{column:02}"] for column in range(40)]
    assert all(one.right < other.left for one, other in pairwise(last))
    assert {word.top for word in last} == {tops[-1]}


def test_a_font_without_a_line_s_height_has_one_size() -> None:
    for name in ("Vera", "VeraBd"):
        pdfmetrics.registerFont(TTFont(name, f"{name}.ttf"))
    lines = [
        "no sun or moon, nor a leaf",
        "was seen over sea and lake",
        "Big Hall, Tall Tree and mud",
    ]

    def draw(canvas: Canvas) -> None:
        for number, line in enumerate(lines):
            canvas.setFont("VeraBd" if number == 2 else "Vera", 12)
            canvas.drawString(60, 700 - 14 * number, line)
        canvas.setFont("Vera", 24)
        canvas.drawString(60, 500, "All")

    # as some programs write it: a box is as high as its letters then
    flat = re.sub(rb"/Ascent \d+", lambda found: b"/Ascent 0".ljust(len(found[0])), drawn(draw))
    with opened(flat) as (page, textpage):
        words = words_of(page, textpage)
    *small, large = [word.size for word in words]
    heights = [word.bottom - word.top for word in words[:-1]]
    assert max(heights) > 1.1 * min(heights)
    assert max(small) < 1.03 * min(small) and large > 1.5 * small[0]
