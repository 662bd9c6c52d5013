"""A model's reply: whole objects are items, whatever is cut, malformed or lacks a field is not."""

from __future__ import annotations

import json

import pytest

from helix.study.items import Card, Choice, TrueFalse
from helix.study.replies import CardObject, ChoiceObject, StatementObject, items_in

ONE = {"front": "What is a caisson?", "back": "A caisson is a watertight chamber."}
TWO = {"front": "What is a capstan?", "back": "A capstan is an upright drum."}
CARDS = [Card(one["front"], one["back"]) for one in (ONE, TWO)]
WHOLE = json.dumps({"items": [ONE, TWO]})


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (WHOLE, CARDS),
        (f"```json\n{WHOLE}\n```", CARDS),
        (f"Here they are: {WHOLE}", CARDS),
        (json.dumps([ONE, TWO]), CARDS),
        (json.dumps({"questions": [ONE, TWO]}), CARDS),
        (json.dumps({"quiz": {"title": "[1]", "cards": [ONE, TWO]}}), CARDS),
        (f"From [1]: {json.dumps(ONE)}", CARDS[:1]),
        (f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n", CARDS),
        (WHOLE[:-2], CARDS),
        (WHOLE[:-5], [CARDS[0], None]),
        (WHOLE.replace('"back": "A caisson', '"back" "A caisson'), [None, CARDS[1]]),
        (json.dumps({"items": [ONE | {"back": 7}, TWO]}), [None, CARDS[1]]),
        (json.dumps({"items": [{"front": "?"}, TWO, "no object"]}), [None, CARDS[1], None]),
        (json.dumps({"items": []}), [None]),
        ("I cannot do that.", [None]),
        ("", [None]),
        ('{"items": [' + "[" * 5000, [None]),
    ],
)
def test_what_can_be_read_is_kept(reply: str, found: list[Card | None]) -> None:
    assert list(items_in(reply, CardObject)) == found


def test_every_cut_of_a_reply_gives_a_beginning_of_its_items() -> None:
    for end in range(len(WHOLE)):
        items = [item for item in items_in(WHOLE[:end], CardObject) if item is not None]
        assert items == CARDS[: len(items)]


def test_questions_and_statements_are_read_as_strictly() -> None:
    choice = {"question": "Which?", "statement": "It is ____.", "options": ["a", "b", "c", "d"],
              "answer": 2, "explanation": "It is c."}  # fmt: skip
    whole = json.dumps({"items": [choice, choice | {"answer": "2"}]})
    read = Choice("Which?", "It is ____.", ("a", "b", "c", "d"), 2, "It is c.")
    assert list(items_in(whole, ChoiceObject)) == [read, None]
    told = {"statement": "It is c.", "truth": True, "original": "x", "explanation": ""}
    whole = json.dumps({"items": [told, told | {"truth": False}, told | {"truth": "true"}]})
    assert list(items_in(whole, StatementObject)) == [
        TrueFalse("It is c.", truth=True),
        TrueFalse("It is c.", truth=False, original="x"),
        None,
    ]
