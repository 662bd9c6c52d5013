"""Intents: told by a question's words alone, and no question of a document is taken for one."""

from __future__ import annotations

import pytest

from helix.domain.question_analysis import Intent, intent_of, summary_topic


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Hello!", Intent.GREETING),
        ("good morning", Intent.GREETING),
        ("Great, thanks for your help!", Intent.GREETING),
        ("ok", Intent.GREETING),
        ("Ok, and how long does it take?", None),
        ("I see the fee is 5 euro, why?", None),
        ("Is this good?", None),
        ("What documents do you have?", Intent.DOCUMENTS),
        ("Please list all the documents", Intent.DOCUMENTS),
        ("Which files are available?", Intent.DOCUMENTS),
        ("Summarize the refund policy.", Intent.SUMMARY),
        ("What is this document about?", Intent.SUMMARY),
        ("Hello Kitty was made by whom?", None),
        ("What documents do you have to sign before the first day?", None),
        ("Which files are available to auditors?", None),
        ("What is the refund window?", None),
        ("What is the lease about?", None),
        ("", None),
    ],
)
def test_what_is_asked_for(question: str, intent: Intent | None) -> None:
    assert intent_of(question) is intent


def test_what_a_summary_is_of() -> None:
    assert summary_topic("Can you summarise the travel handbook?") == "the travel handbook"
    assert summary_topic("Give me a short summary of this document") == ""
    assert summary_topic("Who summarized the handbook?") is None
