"""From characters to rectangles on a page and back."""

from __future__ import annotations

import pytest

from helix.domain.pages import Box, WordBox, boxes_of, spans_in, unpack_words
from tests.support.printed_documents import PAGES, START, TEXT, box_of

HEADER = WordBox(0, 8, 100, 50, 140, 60)
AGAIN = HEADER._replace(start=30, end=38)
"""The same word on the page, which the text repeats for another row."""


def _words(page: int) -> list[WordBox]:
    return list(unpack_words(PAGES[page - 1].words))


def test_words_of_a_line_are_one_box_and_lines_are_apart() -> None:
    (line,) = boxes_of(_words(1), 0, len("Results of the quarter"))
    assert line == Box(72, 72, 72 + 5 * 22, 82)
    both = boxes_of(_words(2), START, len(TEXT))
    assert [(box.top, box.left) for box in both] == [(72, 72), (84, 72)]


def test_a_range_that_ends_within_a_word_ends_within_its_box() -> None:
    value = TEXT.index("39,669")
    (box,) = boxes_of(_words(2), value, value + 2)
    word = box_of(value - 1, value + 6)
    width = (word.right - word.left) / 7
    assert box == Box(word.left + width, word.top, word.left + 3 * width, word.bottom)


def test_an_upright_word_is_left_whole() -> None:
    assert boxes_of([WordBox(0, 4, 10, 10, 20, 90)], 1, 2) == [Box(10, 10, 20, 90)]


def test_what_is_far_apart_on_a_line_is_not_one_box() -> None:
    """Nor are two columns' lines, nor a line and the one above it."""
    words = [
        WordBox(0, 5, 10, 10, 60, 20), WordBox(6, 9, 300, 10, 330, 20),
        WordBox(10, 14, 10, 22, 50, 32),
    ]  # fmt: skip
    assert boxes_of(words, 0, 14) == [Box(*word[2:]) for word in words]


def test_a_header_that_the_text_repeats_is_there_once() -> None:
    assert boxes_of([HEADER, AGAIN], 0, 38) == [Box(*HEADER[2:])]
    assert boxes_of([HEADER, AGAIN], 30, 38) == [Box(*HEADER[2:])]


@pytest.mark.parametrize(("start", "end"), [(22, 24), (len(TEXT), len(TEXT) + 9)])
def test_white_space_has_no_box(start: int, end: int) -> None:
    assert boxes_of(_words(1) + _words(2), start, end) == []


@pytest.mark.parametrize("page", [1, 2])
def test_the_text_in_the_boxes_of_a_range_is_that_range(page: int) -> None:
    words = _words(page)
    for first, start in enumerate(word.start for word in words):
        for end in (word.end for word in words[first:]):
            spans = [span for box in boxes_of(words, start, end) for span in spans_in(words, box)]
            assert [TEXT[a:b].split() for a, b in spans] == [
                line.split() for line in TEXT[start:end].split("\n")
            ]


def test_a_point_finds_the_word_that_holds_it() -> None:
    assert spans_in(_words(2), Box(75, 75, 75, 75)) == [(START, START + len("Revenue:"))]
    assert spans_in(_words(2), Box(500, 500, 500, 500)) == []
    assert spans_in([HEADER, AGAIN], Box(110, 55, 110, 55)) == [(0, 8)]
