"""The model of evidence: its probabilities, what it must rank first, its weights."""

from __future__ import annotations

import json

import numpy as np
import pytest

from helix.evidence.model import WEIGHTS, Line, arrays_of, evidence_model, model_of
from helix.language.sentences import Passage, units_of

KETTLES = Passage(
    "Kettles are tested before they leave the factory. A kettle that was opened may be sent back"
    " within 14 days. The lid of the kettle is made of steel in Linz. Repairs cost 35 euros.",
    "Handbook of kettles",
)
WASSER = Passage(
    "Das Werk in Linz wurde 1954 gegründet. Es beschäftigt heute 320 Menschen."
    " Der Direktor heißt Karl Moser.",
    "Das Werk",
)


def first(question: str, *passages: Passage) -> str:
    units = units_of(passages)
    return units[int(evidence_model().answers(question, passages, units).argmax())].text


@pytest.mark.parametrize(
    ("question", "passage", "start"),
    [
        ("Within how many days may an opened kettle be sent back?", KETTLES, "A kettle that"),
        ("Where is the lid of the kettle made?", KETTLES, "The lid"),
        ("How much do repairs cost?", KETTLES, "Repairs"),
        ("Wann wurde das Werk in Linz gegründet?", WASSER, "Das Werk"),
        ("Wie viele Menschen beschäftigt das Werk?", WASSER, "Es beschäftigt"),
    ],
)
def test_the_unit_that_answers_is_likeliest(question: str, passage: Passage, start: str) -> None:
    assert first(question, WASSER if passage is KETTLES else KETTLES, passage).startswith(start)


def test_a_question_about_something_else_is_answered_with_less_confidence() -> None:
    units = units_of([KETTLES])
    answered, foreign = (
        float(evidence_model().answers(question, [KETTLES], units).max())
        for question in ("How much do repairs cost?", "Who wrote the opera about Orpheus?")
    )
    assert foreign < 0.2 < answered


def test_probabilities_are_the_same_each_time_and_one_a_unit() -> None:
    passages = [KETTLES, WASSER]
    units = units_of(passages)
    once, again = (evidence_model().answers("Who is the director?", passages, units) for _ in "12")
    assert once.shape == (len(units),)
    assert np.array_equal(once, again)
    assert ((once > 0) & (once < 1)).all()


@pytest.mark.parametrize("question", ["", "?!…", " " * 50_000, "\ud800"])
def test_a_question_without_a_word_is_answered_by_nothing(question: str) -> None:
    assert not evidence_model().answers(question, [KETTLES], units_of([KETTLES])).any()


@pytest.mark.parametrize(
    "filled", ["a" * 50_000, "1" * 50_000, "1," * 20_000, "蒸" * 5_000, "_" * 50_000]
)
def test_texts_of_any_filling_are_read(filled: str) -> None:
    passages = [Passage(filled, filled[:100]), KETTLES]
    units = units_of(passages)
    for question in (filled[:3_000], "How much do repairs cost?"):
        said = evidence_model().answers(question, passages, units)
        assert len(said) == len(units)
        assert np.isfinite(said).all()


def test_no_units_are_no_probabilities() -> None:
    assert evidence_model().answers("How much?", [Passage("")], []).shape == (0,)


def test_weights_are_small_and_name_what_they_were_learned_from() -> None:
    assert WEIGHTS.stat().st_size < 200_000
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
    assert about["seed"] >= 0
    assert about["sets"]["squad2"] == "CC BY-SA 4.0"


def test_weights_are_read_as_they_were_written() -> None:
    model = evidence_model()
    again = model_of(arrays_of(model))
    units = units_of([KETTLES])
    one, other = (m.answers("How much do repairs cost?", [KETTLES], units) for m in (model, again))
    assert np.array_equal(one, other)


def test_a_line_gives_probabilities() -> None:
    said = Line(2.0, -1.0).probabilities(np.array([-40.0, 0.5, 40.0], dtype=np.float32))
    assert said == pytest.approx([0.0, 0.5, 1.0])
