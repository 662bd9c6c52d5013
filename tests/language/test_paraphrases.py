"""Phrases of one meaning, and a question asked anew with another of them."""

from __future__ import annotations

from helix.language.paraphrases import rephrasings


def test_each_phrase_of_a_group_stands_for_the_others() -> None:
    assert rephrasings("What was Net Income in 2023?") == [
        "What was profit in 2023?", "What was bottom line in 2023?",
    ]  # fmt: skip
    assert rephrasings("What is a lamp?") == []


def test_letters_that_are_alike_only_without_case_are_no_error() -> None:
    assert rephrasings("What was net \u0131ncome in 2023?") == []
