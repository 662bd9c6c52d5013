"""Numbers for readers: by first use, whatever the deltas; places and citations move with them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.answering.numbering import KnownMarkers, Renumbering, for_readers, renumbering_of

TEXT = "Lamps are brass [12]. Chairs are oak [3, 12], not pine [3][1]. [99] and [x] stay."


def test_numbers_are_by_first_use_and_unknown_ones_stay() -> None:
    text, made = renumbering_of(TEXT, sources=12)
    assert text == "Lamps are brass [1]. Chairs are oak [2, 1], not pine [2][3]. [99] and [x] stay."
    assert made.numbers == {12: 1, 3: 2, 1: 3}


def test_places_move_with_the_text() -> None:
    text, made = renumbering_of(TEXT, sources=12)
    for word in ("Lamps", "Chairs", "oak", "pine", "stay"):
        at = TEXT.index(word)
        assert text[made.place(at) :].startswith(word)
    assert made.place(len(TEXT)) == len(text)


@given(
    st.lists(st.sampled_from(["[", "1", "2", "12", ",", " ", "]", "a", "é", "[3]", "[ 10 ,2]"])),
    st.lists(st.integers(0, 40)),
)
def test_how_a_model_cuts_its_text_changes_nothing(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    whole, _ = renumbering_of(text, sources=11)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    made = Renumbering(11)
    fed = [made.feed(text[a:b]) for a, b in pairwise(places)]
    assert "".join(fed) + made.end() == whole


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It is brass [9].", "It is brass."),
        ("It is brass. [9] Or oak [2].", "It is brass. Or oak [2]."),
        ("It is [9][2], not [9] [9]oak", "It is [2], not oak"),
        ("Brass [9, 2] [7]", "Brass [2]"),
        ("Brass  [9]\nOak ", "Brass\nOak "),
        ("a[9]b [x] [2] .", "ab [x] [2] ."),
    ],
)
def test_a_marker_without_a_source_takes_its_space_along(text: str, left: str) -> None:
    for pieces in ([text], list(text), [text[:9], text[9:]]):
        made = KnownMarkers(3)
        assert "".join([*map(made.feed, pieces), made.end()]) == left


def test_json_is_numbered_as_one() -> None:
    told: dict[str, Any] = {
        "answer": "It is brass [4].",
        "abstained": False,
        "citations": [{"n": 4, "chunk_id": 9}],
        "support": {
            "ratio": 1.0,
            "statements": [{"start": 0, "end": 16, "numbers": [4], "spans": [{"n": 4}]}],
        },
    }
    found = for_readers(told, 5)
    assert found["answer"] == "It is brass [1]."
    assert found["citations"] == [{"n": 1, "chunk_id": 9}]
    assert found["support"]["statements"] == [
        {"start": 0, "end": 16, "numbers": [1], "spans": [{"n": 1}]}
    ]
    erased = {**told, "answer": None}
    assert for_readers(erased, 5) == erased, "the words are gone with a document"
