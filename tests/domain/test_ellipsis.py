"""Words that a short turn takes from the questions before it; and replies to questions back."""

from __future__ import annotations

import pytest

from helix.domain.ellipsis import depends, in_full, in_reply
from helix.domain.history import EarlierTurn, History

REVENUE = "What was Apple's revenue in the third quarter of 2022?"


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
        ("Thanks!", "Thanks!"),
        ("And per month?", "And per month?"),
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


@pytest.mark.parametrize(
    ("before", "asked", "understood"),
    [
        ("What does Sprout cost per year?", "And per month?", "What does Sprout cost per month?"),
        ("What is the monthly price?", "And per year?", "What is the yearly price?"),
        ("What is the annual fee?", "And monthly?", "What is the monthly fee?"),
        ("How much is a berth?", "And per night?", "How much is a berth per night?"),
        ("How long is the warranty?", "And for repairs?", "How long is the warranty for repairs?"),
        ("What is due for a meal?", "And for coffee?", "What is due for coffee?"),
        (
            "What is the limit for a room?",
            "And in Paris?",
            "What is the limit for a room in Paris?",
        ),
        ("What does express mail cost?", "And standard mail?", "What does standard mail cost?"),
        ("How many keys does it have?", "And Grove?", "How many keys does Grove have?"),
        ("How many weeks of leave do I get?", "And of rest?", "And of rest?"),
        ("How long is the warranty?", "And for how long?", "And for how long?"),
        ("How long is the warranty?", "And for those?", "And for those?"),
        ("Who signs?", "And per month?", "And per month?"),
    ],
)
def test_rates_purposes_and_things_take_the_place_of_others(
    before: str, asked: str, understood: str
) -> None:
    assert in_full(asked, [before]) == understood


@pytest.mark.parametrize(
    ("asked", "reply", "completed"),
    [
        ("How large is this city?", "Bergen", "How large is Bergen?"),
        ("What is the actor's name?", "The one in Hamlet", "What is Hamlet's name?"),
        ("What is the actor's name?", "I mean the villain", "What is the villain's name?"),
        ("Did its author win a prize?", "The novel.", "Did the novel's author win a prize?"),
        ("How large is this city?", "Where do I live?", None),
        ("How large is this city?", "opening hours", None),
        ("How large is Bergen?", "Oslo", None),
    ],
)
def test_a_reply_names_what_the_refused_question_did_not(
    asked: str, reply: str, completed: str | None
) -> None:
    refused = EarlierTurn(asked, "No.", abstained=True)
    told = in_reply(reply, History((refused,)))
    assert (told and told.replace("The novel", "the novel")) == completed
    assert in_reply(reply, History((EarlierTurn(asked, "Yes."),))) is None
    assert in_reply(reply, History()) is None
