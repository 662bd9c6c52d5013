"""Follow-ups: which turns depend on what came before, and what the earlier questions add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.ellipsis import depends
from helix.domain.followups import (
    BARE,
    DECAY,
    EARLIER,
    MOST_TERMS,
    TERM_WEIGHT,
    VECTOR_WEIGHT,
    follow_up,
    with_topic,
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


def test_earlier_turns_are_searched_as_they_were_understood() -> None:
    found = follow_up("And why did it rise?", _after(REVENUE, "And in 2023?"))
    assert found.earlier[0][0] == "What was Apple's revenue in 2023?"


def test_a_reply_to_a_question_back_completes_it_for_later_turns_too() -> None:
    refused = EarlierTurn("How large is this city?", "No.", abstained=True)
    found = follow_up("Bergen", History((refused,)))
    assert (found.question, found.depends, found.terms) == ("How large is Bergen?", True, {})
    later = follow_up("And Oslo?", History((refused, EarlierTurn("Bergen", "Very."))))
    assert later.question == "How large is Oslo?"


@given(st.lists(WORDS, max_size=9), WORDS)
def test_what_is_added_is_bounded(asked: list[str], question: str) -> None:
    found = follow_up(question, _after(*asked))
    assert len(found.terms) <= MOST_TERMS and len(found.earlier) <= EARLIER
    assert all(0 < weight < 1 for weight in found.terms.values())
    assert follow_up(question, _after(*asked, answer="x")) == found
    if not depends(question):
        assert found.question == question and not found.earlier


@pytest.mark.parametrize(
    ("before", "asked", "wording"),
    [
        ("What does the warranty cover?", "How long is it?", "How long is warranty cover?"),
        ("What does the warranty cover?", "What does it not cover?", "What does it not cover?"),
        ("What does the warranty cover?", "How long is that?", "How long is that?"),
        (
            "What does the warranty cover?",
            "How many claims of damaged parts does it allow?",
            "How many claims of damaged parts does it allow?",
        ),
    ],
)
def test_a_pronoun_is_worded_for_a_model_that_reads_words(
    before: str, asked: str, wording: str
) -> None:
    assert with_topic(follow_up(asked, History((EarlierTurn(before, ""),)))) == wording
