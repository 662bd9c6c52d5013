"""Follow-ups: which turns depend on what came before, and what the earlier questions add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.followups import (
    DECAY,
    EARLIER,
    MOST_TERMS,
    TERM_WEIGHT,
    VECTOR_WEIGHT,
    depends,
    follow_up,
    in_full,
)
from helix.domain.history import EarlierTurn, History

REFUNDS = "How long is the refund window for opened kettles in Norway?"
REVENUE = "What was Apple's revenue in the third quarter of 2022?"
WORDS = st.text("abcdé 'WXZ0129?.,", max_size=60)


def _after(*questions: str, answer: str = "zebra") -> History:
    return History(tuple(EarlierTurn(question, answer) for question in questions))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does it apply to sale items bought in Norway last winter?", True),
        ("And the shipping costs of heavy parcels to northern Norway?", True),
        ("What about heavy parcels that are sent to northern Norway?", True),
        ("How long?", True),
        ("Why?", True),
        ("How many vacation days do employees in Norway earn each year?", False),
        ("Which insurance covers damaged heat pumps during the warranty?", False),
    ],
)
def test_which_turns_depend(question: str, expected: bool) -> None:
    assert depends(question) is expected


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("And in 2023?", "What was Apple's revenue in 2023?"),
        (
            "What about the first quarter of 2021?",
            "What was Apple's revenue in the first quarter of 2021?",
        ),
        ("and Microsoft?", REVENUE.replace("Apple", "Microsoft")),
        ("What about Boreal Heating", REVENUE.replace("Apple", "Boreal Heating")),
        ("And why did it rise in 2023?", "And why did it rise in 2023?"),
        ("Microsoft", "Microsoft"),
        ("and shipping?", "and shipping?"),
    ],
)
def test_what_was_left_out_is_taken_from_the_question_before(
    question: str, understood: str
) -> None:
    assert in_full(question, [REVENUE]) == understood


def test_what_was_left_out_is_taken_along_several_turns() -> None:
    asked = [REVENUE, "And Microsoft?"]
    assert in_full("And in 2021?", asked) == "What was Microsoft's revenue in 2021?"


def test_a_turn_that_can_stand_alone_gets_nothing() -> None:
    question = "How many vacation days do employees in Norway earn each year?"
    found = follow_up(question, _after(REFUNDS))
    assert (found.question, found.depends, found.terms, found.earlier) == (question, False, {}, ())
    assert follow_up("And why?", History()).earlier == ()


def test_earlier_questions_weigh_less_the_older_they_are_and_answers_nothing() -> None:
    found = follow_up("Does it apply to gifts?", _after("Who pays customs duty?", REFUNDS))
    assert found.terms["kettl"] == found.terms["kettles"] == TERM_WEIGHT
    assert found.terms["custom"] == pytest.approx(TERM_WEIGHT * DECAY)
    assert "zebra" not in found.terms
    assert found.earlier == (
        (REFUNDS, VECTOR_WEIGHT), ("Who pays customs duty?", VECTOR_WEIGHT * DECAY)
    )  # fmt: skip


@given(st.lists(WORDS, max_size=9), WORDS)
def test_what_is_added_is_bounded(asked: list[str], question: str) -> None:
    found = follow_up(question, _after(*asked))
    assert len(found.terms) <= MOST_TERMS and len(found.earlier) <= EARLIER
    assert all(0 < weight < 1 for weight in found.terms.values())
    assert follow_up(question, _after(*asked, answer="x")) == found
    if not depends(question):
        assert found.question == question and not found.earlier
