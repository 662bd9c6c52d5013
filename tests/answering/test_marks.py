"""Marks of an answer: how each statement stands to its sources, how likely the answer is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helix.answering.proof import Proof, prove, with_marks
from helix.evidence.model import LIKELY
from tests.support.proof_sources import HANDED, REFUNDS, source

QUESTION = "How many days of vacation do employees accrue?"
QUOTE = "Unused days are not paid out. [1]"


def marked(answer: str, question: str = QUESTION) -> Proof:
    return with_marks(prove(answer, (HANDED, REFUNDS)), question, answer, (HANDED, REFUNDS))


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (QUOTE, "quoted"),
        ("Staff who work full-time accrue 27 days of paid vacation per year. [1]", "borne out"),
        ("Full-time employees accrue 28 days of paid vacation per calendar year. [1]",
         "contradicted"),
        ("Unused days are paid out. [1]", "contradicted"),
        ("Primary caregivers plant tulips in their gardens. [1]", "in doubt"),
        ("Unused days are not paid out.", "nothing cited"),
    ],
)  # fmt: skip
def test_status_of_a_statement(answer: str, status: str) -> None:
    assert [one["status"] for one in marked(answer).to_json()["statements"]] == [status]


def test_an_answer_is_likelier_to_the_question_that_it_answers() -> None:
    answer = "Full-time employees accrue 27 days of paid vacation per calendar year. [1]"
    right, wrong = marked(answer).answers, marked(answer, "Who pays for the parking?").answers
    assert right is not None
    assert wrong is not None
    assert wrong < 0.2 < right


def test_what_is_not_supported_has_no_probability() -> None:
    assert marked("Unused days are paid out. [1]").answers is None
    assert marked("Unused days are paid out. [1]").to_json()["answers"] is None


@pytest.mark.parametrize(("probability", "likely"), [(LIKELY, True), (LIKELY - 0.01, False)])
def test_below_the_bar_nothing_is_called_relevant(probability: float, likely: bool) -> None:
    told = replace(marked(QUOTE), answers=probability).to_json()
    assert told["answers"] == {"probability": round(probability, 4), "likely": likely}
    assert [one["relevant"] for one in told["statements"]] == [likely]
    assert [one["reason"] for one in told["statements"]] == [None]


def test_a_span_of_a_source_that_does_not_say_where_it_lies() -> None:
    lost = replace(source(1, "Unused days are not paid out."), start_char=None, end_char=None)
    proof = prove(QUOTE, (HANDED,))
    assert with_marks(proof, QUESTION, QUOTE, (lost,)).answers is not None
