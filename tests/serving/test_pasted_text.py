"""A long message as a question and a pasted text: by paragraphs and marks, in any language."""

from __future__ import annotations

import pytest

from helix.serving.pasted_text import Pasted, pasted_in

LIMIT = 400
LONG = " ".join(f"Rule {n} holds." for n in range(40))
TEXT = f"{LONG}\n\n{LONG}"
SIGNED = f"Refund rules\n\n{LONG}\n\nThe board"


@pytest.mark.parametrize(
    ("message", "question", "text"),
    [
        (f"What holds?\n\n{TEXT}", "What holds?", TEXT),
        (f"{TEXT}\n\nWhat holds?", "What holds?", TEXT),
        (f"\n\n  What holds?\r\n \r\n{TEXT}\n", "What holds?", TEXT),
        # `cat text | llm summarise`: the prompt behind the pipe's last line feed
        (f"{TEXT}\n summarise", "summarise", TEXT),
        (f"{SIGNED}\n\nsummarise", "summarise", SIGNED),
        # both ends are short: the last one, unless the first alone asks or announces
        (f"{SIGNED}\n\nWhat holds?", "What holds?", SIGNED),
        (f"What holds?\n\n{SIGNED}", "What holds?", SIGNED),
        (f"Fasse zusammen:\n\n{SIGNED}", "Fasse zusammen:", SIGNED),
        (f"次を要約してください：\n\n{SIGNED}", "次を要約してください：", SIGNED),
        (
            f"What holds?\n\n{LONG}\n\nAnd who says so?",
            "And who says so?",
            f"What holds?\n\n{LONG}",
        ),
    ],
)
def test_the_short_end_is_the_question(message: str, question: str, text: str) -> None:
    assert pasted_in(message, LIMIT) == Pasted(question, text)


@pytest.mark.parametrize(
    "message",
    [
        "What holds?\n\nNo text that is long.",
        "x" * (LIMIT + 1),
        TEXT,
        f"{TEXT}\nThe last line of it is no question",
        f"---\n\n{TEXT}\n\n***",
        f"{'What holds? ' * 20}\n\n{TEXT}",
        "\n\n" + " " * LIMIT + "\n\n",
    ],
)
def test_where_no_end_is_short_nothing_is_told_apart(message: str) -> None:
    assert pasted_in(message, LIMIT) is None


def test_a_text_of_nothing_but_white_space_and_marks_has_no_question() -> None:
    for unit in ("\n \t", "\n\n", " ", "?\n\n"):
        assert pasted_in(unit * (300_000 // len(unit)), 4000) is None, repr(unit)
