"""A prompt's Markdown: its parts, its placeholders, and what cannot be written into it."""

from __future__ import annotations

import re

import pytest

from helix.settings.prompts import BrokenPrompt, Template, templates
from helix.settings.prompts.template import LONGEST, parse

FILE = """\
---
title: Quiz
use: Says: make a quiz.
placeholders: count, level
---
In front.
<!-- editable -->
Make {{count}} questions,
each {{ level }}.
<!-- fixed -->
Reply in JSON of {{count}} items.
"""
QUIZ = parse("quiz", FILE)
VALUES = {"count": 5, "level": "{{count}} or $0 \\1"}


def test_a_file_has_its_head_and_its_three_parts() -> None:
    parts = ("In front.", "Make {{count}} questions,\neach {{ level }}.")
    assert (QUIZ.before, QUIZ.text) == parts
    assert QUIZ.after == "Reply in JSON of {{count}} items."
    assert (QUIZ.title, QUIZ.use) == ("Quiz", "Says: make a quiz.")
    assert QUIZ.placeholders == ("count", "level")


def test_placeholders_are_filled_once_and_wherever_they_stand() -> None:
    assert QUIZ.filled(None, VALUES).split("\n") == [
        "In front.", "Make 5 questions,", "each {{count}} or $0 \\1.", "Reply in JSON of 5 items.",
    ]  # fmt: skip
    with pytest.raises(AssertionError, match="quiz takes"):
        QUIZ.filled(None, {"count": 5})


def test_an_override_stands_between_what_is_fixed() -> None:
    assert QUIZ.whole("Other.\n") == "In front.\nOther.\nReply in JSON of {{count}} items."
    assert QUIZ.whole(" \n") == QUIZ.after, "nothing stands in front of nothing"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("One\n{{count}} of {{number}}", "line 2: {{number}} is no placeholder of quiz: it has"),
        ("{{count", "line 1: {{count is no placeholder"),
        ("a\nb\n{{}}", "line 3: {{}} is no placeholder"),
        ("{{ count.__class__ }}", "line 1: {{ count.__class__ }} is no placeholder"),
        ("a\n <!-- fixed -->", "line 2: <!-- fixed --> divides the files"),
        ("---", "line 1: --- divides the files"),
        ("a\nb\x00", "line 2: a control character"),
        ("\ud800", "line 1: a control character"),
        (" \n\t", "the text is blank"),
        ("x" * (LONGEST + 1), "the text has 8,001 characters"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(BrokenPrompt, match="^" + re.escape(told)):
        QUIZ.check(text)


def test_what_can_be_used_is_not_refused() -> None:
    QUIZ.check("Make {{ level }} ones.\r\n\tThe { of JSON, } and é \u2028 too." + "x" * 7000)


@pytest.mark.parametrize("shipped", templates().values(), ids=templates())
def test_every_shipped_prompt_is_sound(shipped: Template) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", shipped.name)
    assert shipped.title and shipped.use.endswith(".")
    shipped.check(shipped.text)
    filled = shipped.filled(None, dict.fromkeys(shipped.placeholders, "·"))
    assert "{{" not in filled and "<!--" not in filled
    unused = [name for name in shipped.placeholders if name not in shipped.whole()]
    assert not unused
