"""Questions that a text answers behind them: as a heading, or at the beginning of a paragraph."""

from __future__ import annotations

import pytest

from helix.domain.contract import REFUSAL
from tests.support.offline_answers import ask_over as ask
from tests.support.quoted_units import quoted

FONTS = """3.3  Can I charge people for my additional work? In other words, can I sell the font?
Not by itself. Fonts made from others cannot be sold by themselves.

3.4  Can I pay someone to enhance the fonts?
Yes. This is a good way to fund the further development.

The fonts are drawn by volunteers. Why would they? They like it."""
ATTACK = """1.7\tIs the tool vulnerable to the descriptor attack?

\tRevisions 4.63 and above are not vulnerable.

\tRevisions 4.62 and below are vulnerable, but no damage
\thas so far been seen.

1.8\tCan I alter it?

\tYes."""


@pytest.mark.parametrize(
    ("start", "last"),
    [
        ("3.3", "Fonts made from others"),
        ("In other words", "Fonts made"),
        ("3.4", "This is a good"),
    ],
)
def test_the_rest_of_its_paragraph_answers_a_question(start: str, last: str) -> None:
    places = quoted(FONTS, start)
    assert places[-1].startswith(last)


def test_a_question_within_a_paragraph_is_a_sentence_of_it() -> None:
    assert quoted(FONTS, "The fonts are")[0].startswith("The fonts are")


def test_a_question_of_the_text_is_answered_and_not_given_back() -> None:
    answer = ask("Can I charge people for my additional work on a font?", FONTS)
    assert "Not by itself." in answer


def test_further_paragraphs_answer_a_heading_that_asks() -> None:
    assert quoted(ATTACK, "1.7") == [
        "Revisions 4.63 and above are not vulnerable.",
        "Revisions 4.62 and below are vulnerable, but no damage has so far been seen.",
    ]


HIVE = """How do bees find their way home? For a long time nobody had a good answer, and the keepers
of old told stories instead. Most of those stories were about luck.

What makes honey keep for years? Honey is so short of water that nothing can grow in it. Its acid
does the rest.

Is a hive ever silent? My grandfather asked me that on a winter morning. We put our ears to the
wooden wall and waited."""


@pytest.mark.parametrize(
    "asked",
    ["How do bees find their way home?", "How do bees navigate?", "Is a hive ever silent?"],
)
def test_a_question_that_its_paragraph_leaves_open_is_not_answered_by_it(asked: str) -> None:
    assert ask(asked, HIVE) == REFUSAL


def test_a_question_within_a_line_is_answered_by_what_the_model_finds_likely() -> None:
    assert "Its acid does the rest." in ask("Why does honey keep for years?", HIVE)


FERRY = """Q: Can I bring my dog on board?
A: Yes. It stays on a lead.
Q: Can I bring a cat?
A: Only in a basket.
Q: Is smoking allowed?
A: On the aft deck."""


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Can I bring my dog on board?", ["A: Yes.", "It stays on a lead."]),
        ("Can I bring a cat?", ["A: Only in a basket."]),
        ("Is smoking allowed?", ["A: On the aft deck."]),
    ],
)
def test_an_answer_ends_before_the_next_question(asked: str, answer: list[str]) -> None:
    assert quoted(FERRY, f"Q: {asked}") == [f"Q: {asked}", *answer]
    assert answer[-1] in ask(asked, FERRY)


def test_an_answer_to_the_next_heading_is_quoted_with_it() -> None:
    pets = "Can I bring a dog?\n\nCan I bring a cat?\n\nCats are welcome in a basket."
    expected = ["Can I bring a cat?", "Cats are welcome in a basket."]
    assert quoted(pets, "Can I bring a dog?") == expected
    assert quoted(pets, "Can I bring a cat?") == expected[1:]
