"""Words from the boxes of their first and last characters, on sound pages and on damaged ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers.printed.frame import Boxes
from pipelines.readers.printed.table_word_spans import WordSpans
from pipelines.readers.printed.word_boxes import Placed, placed
from tests.support.printed_pages import HEIGHT, WIDTH, drawn, opened, put

Box = tuple[float, float, float, float]

DATA = drawn(lambda canvas: put(canvas, 72, 72, "Any page"))
WORD: tuple[Box, Box] = (100.0, 710.0, 106.0, 700.0), (120.0, 710.0, 126.0, 700.0)
NAN, ENDLESS = float("nan"), float("inf")


def place(*words: tuple[Box, Box]) -> Placed:
    boxes = [edge for which in (0, 1) for word in words for edge in word[which]]
    with opened(DATA) as (page, _):
        return placed(page, array("f", boxes))


def rows(found: Placed) -> list[tuple[float, ...]]:
    return list(zip(*found.boxes.columns, strict=True))


@pytest.mark.parametrize("edge", range(8))
@pytest.mark.parametrize("broken", [NAN, ENDLESS, -ENDLESS])
def test_a_word_with_an_edge_that_is_no_number_is_left_out(edge: int, broken: float) -> None:
    flat = [*WORD[0], *WORD[1]]
    flat[edge] = broken
    odd: Sequence[float] = flat
    found = place(WORD, ((*odd[:4],), (*odd[4:],)), WORD)  # type: ignore[arg-type]
    assert found.inside == [0, 2]
    assert rows(found) == [(100, HEIGHT - 710, 126, HEIGHT - 700)] * 2


def test_a_word_with_a_raised_end_has_the_size_of_its_beginning() -> None:
    found = place(WORD, (WORD[0], (120.0, 714.0, 123.0, 706.0)))
    assert rows(found) == [(100, 90, 126, 100), (100, 86, 123, 100)]
    assert found.sizes.tolist() == [10, 10]
    assert (found.turn, found.aside, found.inside) == (0, bytes(2), None)


def test_what_is_beyond_the_page_is_left_out() -> None:
    beyond = tuple((left + WIDTH, top, right + WIDTH, bottom) for left, top, right, bottom in WORD)
    assert place(beyond[:1] * 2, WORD).inside == [1]  # type: ignore[arg-type]
    over = (WORD[0], (WIDTH - 3.0, 710.0, WIDTH + 3.0, 700.0))
    assert rows(place(over)) == [(100, 90, WIDTH + 3, 100)]


coordinate = st.integers(10, 500).map(float)


@given(st.lists(st.tuples(coordinate, coordinate, coordinate, coordinate), min_size=1))
def test_words_of_any_order_have_the_box_around_both_ends(ends: list[Box]) -> None:
    words = [((x, y, x + 5, y - 9), (a, b, a + 5, b - 9)) for x, y, a, b in ends]
    found = place(*words)
    assert found.inside is None
    around = [
        (min(x, a), HEIGHT - max(y, b), max(x, a) + 5, HEIGHT - min(y, b) + 9)
        for x, y, a, b in ends
    ]
    if found.turn == 0:
        assert rows(found) == around
    else:  # most words run upwards, downwards or backwards: the page is turned to read them
        sides = [sorted((right - left, lower - upper)) for left, upper, right, lower in around]
        read = [sorted((right - left, lower - upper)) for left, upper, right, lower in rows(found)]
        assert read == sides


@given(st.lists(st.integers(0, 40)), st.lists(st.integers(0, 30), max_size=4))
def test_boxes_are_chosen_by_number_whether_they_follow_each_other_or_not(
    numbers: list[int], begins: list[int]
) -> None:
    numbers += [number for begin in begins for number in range(begin, begin + 10)]
    columns = [array("f", range(edge, edge + 41)) for edge in range(4)]
    chosen = Boxes(*columns).chosen(numbers)
    assert [list(column) for column in chosen.columns] == [
        [column[number] for number in numbers] for column in columns
    ]


def test_a_table_none_of_whose_words_are_in_its_text_has_no_boxes() -> None:
    spans, boxes = WordSpans().arrays()
    assert (len(spans), len(boxes)) == (0, 0)
