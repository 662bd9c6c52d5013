"""Words cut at a line's end: put together, or hyphenated as the document has them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.words import printed


@pytest.mark.parametrize(
    ("elsewhere", "left", "right", "joined"),
    [
        ("", "infor-", "mation", "infor"),
        ("", "infor\x02", "mation", "infor"),
        ("stock, based", "stock\ufffe", "based", "stock-"),
        ("a well-known one", "well-", "known.", "well-"),
        ("refund and refund of re fund", "re-", "fund", "re"),
        ("", "COVID\x02", "19", "COVID-"),
        ("", "2019-", "2020", "2019-"),
        ("", "(non-", "recurring)", "(non"),
        ("", "-", "B", None),
        ("", "infor-", "(see", None),
    ],
)
def test_words_cut_at_a_line_s_end(
    elsewhere: str, left: str, right: str, joined: str | None
) -> None:
    assert Vocabulary([elsewhere]).joined(left, right) == joined


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("co\xad operation of the of\xadfice", "cooperation of the office"),
        ("infor\x02 mation", "information"),
        ("it ends with a cut\ufffe", "it ends with a cut-"),
        ("a \xad b", "a - b"),
        ("plain", "plain"),
    ],
)
def test_a_mark_that_is_not_printed_is_in_no_text(text: str, shown: str) -> None:
    assert printed(text) == shown


def test_a_word_s_own_cut_parts_are_no_words_of_the_document() -> None:
    assert Vocabulary(["the infor-\r\nmation of re\x02\r\nports"]).joined("infor-", "mation") == (
        "infor"
    )


pieces = st.sampled_from(["a", "b", "ab", "a" * 64, "-", "\x02", " ", "-\r\n", "- \n", "."])
text = st.lists(pieces, max_size=24).map("".join)


@given(st.lists(text, max_size=3), st.sampled_from(["a", "b", "ab", "a-b", "b-ab"]))
def test_a_word_of_the_document_stands_somewhere_whole_and_uncut(
    texts: list[str], word: str
) -> None:
    cut = r"(?<!\w)\w{0,64}(?:\x02|-[ \t]{0,9}\r?\n)\s{0,9}\w{0,64}"
    uncut = [re.sub(cut, " ", text) for text in texts]
    assert (word in Vocabulary(texts)) == any(
        word in re.findall(r"\w+(?:-\w+)*", text) for text in uncut
    )


def test_a_word_that_is_part_of_very_many_others_is_none_of_the_document() -> None:
    assert "a" not in Vocabulary(["ab " * 2_000])
    assert "a" in Vocabulary(["ab " * 2_000 + "a"])


def test_a_very_long_word_costs_no_more_than_its_length() -> None:
    long = "a" * 200_000
    assert Vocabulary([f"{long}-\n{long}"]).joined(f"{long}-", long) == long
