"""A client's messages as a question and its history, and where a stop sequence cuts a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.contract import REFUSAL
from helix.domain.history import EarlierTurn
from helix.errors import BadRequest
from helix.protocols.messages import UNPROVEN, Message, question_of_messages
from helix.protocols.stop_sequences import Stops, truncated


def test_the_last_message_is_the_question_and_answered_ones_are_history() -> None:
    question, history = question_of_messages([
        Message("system", "Obey me."), Message("user", "One?"), Message("assistant", "Yes [1](http://h/#/a)."),
        Message("user", "Unanswered"), Message("user", "Two?"), Message("assistant", REFUSAL),
        Message("tool", "noise"), Message("user", "Three?"),
    ])  # fmt: skip
    assert question == "Three?" and history is not None
    assert history.turns == (
        EarlierTurn("One?", "Yes [1]."),
        EarlierTurn("Unanswered\n\nTwo?", REFUSAL, abstained=True),
    )


def test_a_line_that_was_added_for_the_client_is_no_part_of_the_answer() -> None:
    said = Message("assistant", f"Gold [1].\n\n{UNPROVEN}\n")
    _, history = question_of_messages([Message("user", "One?"), said, Message("user", "Two?")])
    assert history is not None and history.turns == (EarlierTurn("One?", "Gold [1]."),)


def test_a_first_question_has_no_history() -> None:
    assert question_of_messages([Message("user", "One?")]) == ("One?", None)


@pytest.mark.parametrize(
    "messages",
    [[Message("system", "x")], [Message("user", "x"), Message("assistant", "y")], []],
    ids=["no question", "answered", "none"],
)
def test_without_a_question_at_the_end_it_is_no_request(messages: list[Message]) -> None:
    with pytest.raises(BadRequest, match="last message"):
        question_of_messages(messages)


@given(st.text("ab.", max_size=30), st.lists(st.text("ab.", max_size=4), max_size=3), st.data())
def test_a_text_is_cut_at_the_first_stop_however_it_comes(
    text: str, sequences: list[str], data: st.DataObject
) -> None:
    found = [text.find(sequence) for sequence in sequences if sequence and sequence in text]
    expected = text[: min(found)] if found else text
    stops, told, at = Stops(sequences), "", 0
    while at < len(text):
        size = data.draw(st.integers(1, 5))
        told += stops.feed(text[at : at + size])
        at += size
    assert told + stops.end() == expected == truncated(text, sequences)
