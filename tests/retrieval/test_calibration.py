"""The calibrated gate, pure: its signals and its fit."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.gate import Estimate, decide
from helix.language.terms import question_words
from helix.retrieval.calibration import SIGNALS, GateModel, signals
from helix.retrieval.calibration.model import fit
from helix.retrieval.searches import fuse
from tests.support.searched_policy import MODEL, POLICY, found


def of(question: str, text: str = POLICY, **more: float) -> dict[str, float]:
    values = signals(question, found(text, question, **more))
    assert values is not None
    return dict(zip(SIGNALS, values, strict=True))


def test_a_question_in_the_words_of_one_sentence() -> None:
    met = of("Within how many days of purchase are refunds accepted?")
    assert met["near"] == -0.5
    assert 0.7 < met["passage"] < 1  # all but "within" and "many"
    assert met["kind"] == met["unnegated"] == met["names"] == 1
    assert of("refunds accepted within days of purchase")["known"] == 1


def test_words_of_two_sentences_are_less_than_of_one() -> None:
    far = POLICY + " Nothing else is said here." * 20 + " Elephants trumpet loudly."
    assert of("refunds purchase accepted", far)["passage"] == 1
    assert of("refunds elephants trumpet", far)["passage"] == pytest.approx(2 / 3)


def test_stems_meet_and_words_that_only_begin_alike_do_not() -> None:
    assert of("shipping battery")["passage"] == 1
    assert of("cities", "A city of two rivers.")["passage"] == 1
    assert of("port", "An important report.")["passage"] == 0


def test_names_and_numbers_that_the_passage_lacks() -> None:
    assert of("What does Anna Schmidt answer?")["names"] == 1
    assert of("What does Anna Miller answer?")["names"] < 0.6
    assert of("Are refunds accepted within 30 days?")["names"] == 1
    assert of("Are refunds accepted within 45 days?")["names"] == 0


def test_negation_and_the_kind_of_answer() -> None:
    assert of("Which refunds are not accepted?")["unnegated"] == 0
    assert of("What is not shipped by air from Hamburg?")["unnegated"] == 1
    assert of("Who answers every complaint?")["kind"] == 1
    assert of("Who accepted the refunds?", "refunds are accepted by us")["kind"] == 0
    assert of("How many days?", "days are counted")["kind"] == 0


def test_identifiers_and_scripts_without_spaces_are_met() -> None:
    assert of("GPT-4 §3", "As §3 says, GPT-4 is a model.")["passage"] == 1
    assert of("退款政策", "本公司的退款政策很简单。")["passage"] == 1


def test_terms_beside_the_question_score_nothing_of_it() -> None:
    question = "Within how many days of purchase are refunds accepted?"
    own, terms = found(POLICY, question, score=2.0), found(POLICY, question, score=90.0)
    (hit,) = terms.candidates
    other = replace(hit, hit=replace(hit.hit, chunk_id=2))
    both = fuse([own, replace(terms, candidates=[other, hit])])
    assert [one.score for one in both.candidates] == [2.0, None]
    assert signals(question, both) == signals(question, own)


@pytest.mark.parametrize("nearest", [None, float("nan")])
def test_without_a_distance_or_frequencies_there_is_nothing_to_tell_by(
    nearest: float | None,
) -> None:
    asked = found(POLICY, "refunds")
    assert signals("refunds", asked) is not None
    assert signals("refunds", replace(asked, nearest=nearest)) is None
    assert signals("refunds", replace(asked, frequencies=())) is None
    assert signals("refunds", replace(asked, candidates=[])) is None


@given(st.text(max_size=60), st.text(max_size=300), st.floats(0, 2), st.floats(0, 100))
def test_signals_stay_within_their_bounds(
    question: str, text: str, distance: float, score: float
) -> None:
    counts = tuple(n % 4 for n in range(len(set(question_words(question).values()))))
    values = signals(question, replace(found(text, "", distance, score), frequencies=counts))
    if counts:
        assert values is not None
        assert values[0] == -distance
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in values[1:])
    else:
        assert values is None


@given(
    st.lists(st.floats(-2, 1), min_size=len(SIGNALS), max_size=len(SIGNALS)),
    st.integers(0, len(SIGNALS) - 1),
    st.floats(0, 1),
)
def test_a_larger_signal_never_makes_an_answer_less_likely(
    values: list[float], place: int, more: float
) -> None:
    raised = [*values]
    raised[place] += more
    assert 0 <= MODEL.probability(values) <= MODEL.probability(raised) <= 1


def _sample(count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(7)
    covered = np.arange(count) % 2 == 0
    rows = source.normal(size=(count, len(SIGNALS)))
    rows[:, 0] += 2 * covered  # tells
    rows[:, 1] -= 2 * covered  # tells the wrong way round
    return rows, covered


def test_a_fit_finds_what_tells_and_is_never_against_a_signal() -> None:
    rows, covered = _sample()
    model = fit("e", rows, covered, np.ones(len(rows)))
    assert model.weights[0] > 0.5 > max(model.weights[2:])
    assert model.weights[1] == 0
    passed = np.array([model.probability(row) >= model.least for row in rows])
    assert (passed == covered).mean() > 0.8
    assert model == fit("e", rows, covered, np.ones(len(rows)))


def test_a_strong_penalty_keeps_a_fit_near_its_prior() -> None:
    rows, covered = _sample()
    near = fit("e", rows, covered, np.ones(len(rows)), prior=[0.3] * len(SIGNALS), penalty=1e4)
    assert near.weights == pytest.approx([0.3] * len(SIGNALS), abs=1e-3)
    with pytest.raises(ValueError):
        fit("e", rows, np.ones(len(rows), dtype=bool), np.ones(len(rows)))


def test_a_model_is_what_its_json_says() -> None:
    stored = json.loads(json.dumps(MODEL.to_json()))
    assert GateModel.from_json(MODEL.embedder, stored) == MODEL
    assert GateModel.from_json(MODEL.embedder, stored | {"signals": ["near"]}) is None


def test_the_packaged_fit_tells_an_answer_from_a_foreign_question() -> None:
    near = signals(q := "Within how many days are refunds accepted?", found(POLICY, q, 0.45, 8.0))
    far = signals(q := "Which stars make up Orion's belt?", found(POLICY, q, 0.8, 0.0))
    assert near is not None and far is not None
    assert MODEL.probability(near) > MODEL.least > MODEL.probability(far)
    assert all(weight >= 0 for weight in MODEL.weights)


@pytest.mark.parametrize(
    ("score", "bounded", "distance", "passed"),
    [
        (0.9, False, 0.8, True),  # beyond a ceiling that nobody set
        (0.9, True, 0.8, False),
        (0.9, True, 0.6, True),
        (0.1, False, 0.6, False),  # near enough, but it does not answer
        (0.5, False, 0.6, True),
        (0.9, False, float("nan"), False),
    ],
)
def test_an_estimate_decides_within_a_ceiling_that_was_set(
    score: float, bounded: bool, distance: float, passed: bool
) -> None:
    estimate = Estimate(score, 0.5, bounded)
    decision = decide([distance], 0.7, None, estimate)
    assert decision.passed is passed
    assert decision.estimate is estimate


def test_the_probability_of_an_extreme_is_finite() -> None:
    extreme = replace(MODEL, weights=(1e6,) * len(SIGNALS))
    assert math.isfinite(extreme.probability([1.0] * len(SIGNALS)))
