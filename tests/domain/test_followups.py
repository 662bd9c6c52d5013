"""Follow-ups: which turns depend on what came before, and what the earlier questions add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.followups import (
    BARE,
    DECAY,
    EARLIER,
    MOST_TERMS,
    TERM_WEIGHT,
    VECTOR_WEIGHT,
    depends,
    follow_up,
    unresolved,
)
from helix.domain.history import EarlierTurn, History

REFUNDS = "How long is the refund window for opened kettles in Norway?"
REVENUE = "What was Apple's revenue in the third quarter of 2022?"
WORDS = st.text("abcdé 'WXZ0129?.,", max_size=60)


def _after(*questions: str, answer: str = "zebra") -> History:
    return History(tuple(EarlierTurn(question, answer) for question in questions))


def test_a_turn_that_can_stand_alone_gets_nothing() -> None:
    question = "How many vacation days do employees in Norway earn each year?"
    found = follow_up(question, _after(REFUNDS))
    assert (found.question, found.depends, found.terms, found.earlier) == (question, False, {}, ())
    assert follow_up("And why?", History()).earlier == ()
    assert follow_up("Ok, thanks!", _after(REFUNDS)).earlier == ()


def test_earlier_questions_weigh_less_the_older_they_are_and_answers_nothing() -> None:
    asked = ("Which insurance covers damaged heat pumps?", "Who pays?", REFUNDS, "And duty?", "Ok!")
    found = follow_up("Does it apply to wrapped gifts?", _after(*asked))
    assert found.terms["duti"] == TERM_WEIGHT
    assert found.terms["kettl"] == found.terms["kettles"] == pytest.approx(TERM_WEIGHT * DECAY)
    assert not {"zebra", "pump", "pay"} & found.terms.keys(), "of an answer, or of another topic"
    assert found.earlier == (("And duty?", VECTOR_WEIGHT), (REFUNDS, VECTOR_WEIGHT * DECAY))


def test_a_turn_of_hardly_a_word_is_searched_mostly_by_what_came_before() -> None:
    found = follow_up("And what does it not cover?", _after(REFUNDS))
    assert found.earlier == ((REFUNDS, VECTOR_WEIGHT * BARE),)
    assert VECTOR_WEIGHT * BARE < 1


def test_what_a_follow_up_goes_on_from_is_the_last_or_the_last_that_says_something() -> None:
    found = follow_up("And why did it rise?", _after(REVENUE, "And in 2023?"))
    assert found.before == f"And in 2023?\n{REVENUE}"
    assert follow_up("And why did it rise?", _after(REVENUE)).before == REVENUE
    assert follow_up(REVENUE, _after(REFUNDS)).before == ""


ABOUT_LOANS = _after("Who grants mortgages?", answer="The bank grants a loan of 5 years.")


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What awards did this actor receive?", "actor"),
        ("How many crates do these captains order?", "captains"),
        ("How long does this loan run?", None),
        ("Which banks grant a mortgage, and is this mortgage cheap?", None),
        ("What about those?", None),
        ("Where is the factory that assembles the phone?", None),
        ("Does it have to be paid back?", None),
    ],
)
def test_a_thing_that_nothing_names_is_told(question: str, thing: str | None) -> None:
    assert unresolved(question, ABOUT_LOANS) == thing


def test_what_only_an_answer_of_long_ago_said_is_not_named() -> None:
    long_ago = History((*ABOUT_LOANS.turns, EarlierTurn("Who pays?", "The debtor does.")))
    assert unresolved("How long does this loan run?", long_ago) == "loan"
    asked = History((EarlierTurn("What is a loan?", "Money."), *long_ago.turns))
    assert unresolved("How long does this loan run?", asked) is None


@given(st.lists(WORDS, max_size=9), WORDS)
def test_what_is_added_is_bounded(asked: list[str], question: str) -> None:
    found = follow_up(question, _after(*asked))
    assert len(found.terms) <= MOST_TERMS and len(found.earlier) <= EARLIER
    assert all(0 < weight < 1 for weight in found.terms.values())
    assert follow_up(question, _after(*asked, answer="x")) == found
    if not depends(question):
        assert found.question == question and not found.earlier
