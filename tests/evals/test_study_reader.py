"""The eval's reader: it aligns words, compares numbers, and reads nothing into either."""

from __future__ import annotations

import pytest

from evals.study.reader import holds, in_the_gap, is_same, says, sentences, tokens

SPAN = "The main span of the Halden Bridge measures 312 metres between the two towers."


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("The main span of the Halden Bridge measures ____ metres between the two towers.", "312"),
        ("____ of the Halden Bridge measures 312 metres between the two towers.", "the main span"),
        ("The main span of the Halden Bridge measures 312 metres between ____.", "the two towers"),
        ("The Halden Bridge measures ____ metres.", "312"),
        ("The bridge was opened in ____ by the council.", None),
        ("The main span of the Halden Bridge weighs ____ metres between the two towers.", None),
    ],
)
def test_what_stands_in_the_gap(statement: str, found: str | None) -> None:
    assert in_the_gap(statement, SPAN) == (found.split() if found else None)


def test_numbers_are_the_same_in_any_form_and_words_are_not() -> None:
    assert is_same(tokens("2,300,000"), tokens("2.3 million"))
    assert not is_same(tokens("2.3"), tokens("2.3 million"))
    assert not is_same(tokens("Marta"), tokens("Greta"))
    assert holds(tokens("It cost 2.3 million kroner."), tokens("2,300,000"))
    assert not holds(tokens("It cost 2.3 million kroner."), tokens("3"))
    assert holds(tokens("methyl-binding protein 1 (MBD1)"), tokens("1"))


def test_a_text_is_said_in_its_order() -> None:
    assert says("The Halden Bridge measures 312 metres.", SPAN)
    assert not says("The towers measure 312 metres.", SPAN)
    assert sentences("One. Two?\nThree 4.5 of it!") == ["One.", "Two?", "Three 4.5 of it!"]
