"""The calibrated gate, pure: its signals, its fit, the curves it is chosen by, made questions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.calibrate import (
    Corpus,
    calibrated,
    check_coverage,
    fit_of,
    recommended,
    report,
)
from evals.calibration import generate
from evals.calibration.asked import COVERED, Asked, Question, by_distance, by_model
from evals.calibration.asked import of as kept
from evals.calibration.curves import Curve, risk_of, wilson
from evals.calibration.labelled import read_questions
from evals.calibration.plot import page
from helix.calibration import SIGNALS, GateModel, signals
from helix.calibration.model import fit
from helix.calibration.packaged import PACKAGED
from helix.errors import BadRequest
from helix.gate import Estimate, decide
from helix.merging import merged
from helix.records import Candidate, Found, Hit
from helix.terms import question_words

POLICY = (
    "Refunds are accepted within 30 days of purchase. The warehouse in Hamburg does not ship"
    " batteries by air. Anna Schmidt answers every complaint in writing."
)
(MODEL,) = PACKAGED.values()


def found(text: str, question: str, distance: float = 0.5, score: float = 3.0) -> Found:
    """One chunk in a corpus of a hundred, where a word of the question that it has is in five."""
    hit = Hit(1, 1, "Refund Policy", "a.txt", 0, text, 0, len(text), "n", distance)
    words = {number: form for form, number in reversed(question_words(question).items())}
    folded = f"{hit.title} {text}".lower()
    counts = tuple(5 if words[n][:4] in folded else 0 for n in sorted(words))
    return Found([Candidate(hit, 1.0, 1, score, 1)], distance, len(counts), 0, 1, counts, 100)


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
    both = merged([own, replace(terms, candidates=[other, hit])])
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


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("distance", [0.3, 0.6, 0.72, 0.9, None])
@pytest.mark.parametrize("least", [0.0, 0.5, 1.0])
def test_scores_of_either_gate_pass_what_is_served(
    exact: bool, told: bool, distance: float | None, least: float
) -> None:
    text = "The code HX-9 is met." if exact else POLICY
    each = found(text, question := "HX-9", 0.5 if distance is None else distance)
    each = replace(each, nearest=distance, words=1, identifiers=1, chunks=100 * told)
    each = replace(each, candidates=[replace(each.candidates[0], together=int(exact))])
    asked, lexical = kept(Question(question, COVERED), each), each.lexical(5)
    assert asked.exact is exact
    distances = [] if distance is None else [distance]
    plain = decide(distances, 0.72, lexical).passed
    assert (by_distance([asked])[0] >= -0.72) == plain
    estimate = None
    if asked.signals:
        estimate = Estimate(MODEL.probability(asked.signals), least)
    served = decide(distances, 0.72, lexical, estimate).passed
    assert (by_model([asked], MODEL, 0.72)[0] >= least) == served


# --- curves -----------------------------------------------------------------------------------


def _curve() -> Curve:
    scores = np.array([0.9, 0.8, 0.7, 0.2, 0.6, 0.1, 0.75, 0.05])
    return Curve(scores, [COVERED] * 4 + ["foreign: x"] * 2 + ["near miss"] * 2, 0.5)


def test_a_point_of_the_curve_by_hand() -> None:
    point = _curve().at(0.7)
    assert point.coverage == 0.75
    assert point.refused == {"foreign: x": 1.0, "near miss": 0.5}
    assert point.risk == pytest.approx(0.25 / (0.25 + 0.75))


def test_the_threshold_is_the_loosest_within_the_risk() -> None:
    curve = _curve()
    best = curve.within(0.25)
    assert best.least == 0.7
    assert curve.within(0.01).least == 0.8
    looser = [point for point in curve.points() if point.least < best.least]
    assert looser and all(point.risk > 0.25 for point in looser)
    assert curve.covering(0.75).least == 0.7


def test_a_sure_threshold_is_one_whose_interval_is_within_the_risk() -> None:
    source = np.random.default_rng(3)
    scores = np.concatenate([source.normal(0.7, 0.1, 200), source.normal(0.4, 0.1, 100)])
    curve = Curve(scores, [COVERED] * 200 + ["near miss"] * 100)
    likely, sure = curve.within(0.03), curve.surely_within(0.03)
    assert curve.intervals(likely.least)[1][1] > 0.03 >= curve.intervals(sure.least)[1][1]
    assert sure.least > likely.least and sure.coverage > 0.3
    never = curve.surely_within(1e-6)
    assert curve.intervals(never.least)[1][1] <= curve.intervals(sure.least)[1][1]
    few = Curve(np.array([0.9] * 5 + [0.1] * 5), [COVERED] * 5 + ["near miss"] * 5)
    assert few.intervals(0.5)[1][1] > 0.02, "none of five is not none"


def test_coverage_falls_as_the_gate_tightens() -> None:
    points = _curve().points()
    assert [p.least for p in points] == sorted((p.least for p in points), reverse=True)
    assert [p.coverage for p in points] == sorted(p.coverage for p in points)


def test_intervals_hold_what_they_are_of() -> None:
    curve = _curve()
    (low, high), (least, most) = curve.intervals(0.7)
    assert low < 0.75 < high and least <= curve.at(0.7).risk <= most
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert risk_of(0.0, 0.0, 0.2) == 0


# --- the command ------------------------------------------------------------------------------


def _asked(count: int = 120) -> list[Asked]:
    """Covered questions, near and met; near misses, near and not met; foreign ones, far."""
    source = np.random.default_rng(1)
    asked = []
    for number in range(count):
        kind = (COVERED, "near miss", "foreign: x")[number % 3]
        near = source.normal(0.8 if kind == "foreign: x" else 0.5, 0.05)
        met = source.normal(0.9 if kind == COVERED else 0.3, 0.1)
        values = (-near, met, met, met, met, 1.0, 1.0)
        question = Question(f"q{number}", kind, number)
        asked.append(Asked(question, near, values, True if kind == COVERED else None))
    return asked


def test_calibrating_recommends_a_ceiling_and_a_better_gate() -> None:
    corpus = Corpus(_asked(600), MODEL.embedder, 0.72, 12, 34)
    result = calibrated(corpus, 0.003, 0.2)
    assert result.best is not None and result.model is not None and result.estimate is not None
    assert result.likely_plain.coverage < 0.6 < 0.9 < result.best.coverage
    assert result.likely_best is not None
    risks = [result.estimate.intervals(one.least)[1] for one in (result.best, result.likely_best)]
    assert risks[0][1] <= 0.003 < risks[1][1] and result.likely_best.risk <= 0.003
    lines = list(report(corpus, result, 0.003))
    assert f"recommended RETRIEVAL_MAX_DISTANCE={recommended(result):.2f}" in lines
    assert [line for line in lines if line.startswith("no ")] == [
        "no ceiling is sure to reach a risk of 0.003: the surest one is named"
    ]
    assert recommended(result) <= -result.plain.least
    recorded = fit_of(corpus, result, 0.003)
    assert (recorded.documents, recorded.chunks) == (12, 34)
    assert recorded.model == result.model


def test_a_gate_that_refuses_too_much_is_not_recorded_unless_forced() -> None:
    result = calibrated(Corpus(_asked(), MODEL.embedder, 0.72, 12, 34), 0.05, 0.2)
    assert result.best is not None
    check_coverage(result, force=False)
    poor = replace(result, best=replace(result.best, coverage=0.49))
    with pytest.raises(BadRequest, match=r"not recorded: .* 0\.49 of the covered .* --force"):
        check_coverage(poor, force=False)
    check_coverage(poor, force=True)


def test_questions_near_nothing_are_said_to_be() -> None:
    far = [replace(one, distance=None, signals=None) for one in _asked()]
    with pytest.raises(BadRequest, match="no covered question is near any chunk"):
        calibrated(Corpus(far, MODEL.embedder, 0.72, 1, 1), 0.05, 0.2)


def test_what_was_found_is_one_page_without_a_script() -> None:
    html = page("A <title>", ["<b> & c"], {"distance": _curve(), "calibrated": _curve()})
    assert html.count("<svg") == 3 and "&lt;b&gt; &amp; c" in html
    assert "<script" not in html and "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_a_search_without_signals_is_calibrated_by_distance() -> None:
    corpus = Corpus([replace(one, signals=None) for one in _asked()], "other", None, 1, 1)
    result = calibrated(corpus, 0.05, 0.2)
    assert result.best is None and fit_of(corpus, result, 0.05).model is None
    with pytest.raises(BadRequest):
        calibrated(replace(corpus, asked=[one for one in corpus.asked if one.covered]), 0.05, 0.2)


def test_labelled_questions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "a?", "covered": true}\n\n{"question": "b?", "covered": false}\n')
    first, second = read_questions(file)
    assert (first.text, first.kind) == ("a?", COVERED)
    assert (second.text, second.kind) == ("b?", "not covered: near miss")
    assert first.document != second.document
    rows = [("a", None), ("b", "x"), ("c", 7), ("d", "x"), ("e", 7), ("f", None)]
    lines = [{"question": q, "covered": True} | ({"document": d} if d else {}) for q, d in rows]
    file.write_text("\n".join(map(json.dumps, lines)))
    alone, x, seven, also_x, also_seven, other = (q.document for q in read_questions(file))
    assert x == also_x and seven == also_seven and len({alone, x, seven, other}) == 4
    assert max(alone, x, seven, other) < 0


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"question": 1, "covered": true}',
        '{"question": "a"}',
        "1",
        "[]",
        '{"question": "a", "covered": true, "document": [1]}',
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"question": "a?", "covered": true}}\n{line}\n')
    with pytest.raises(BadRequest, match="line 2 is malformed"):
        read_questions(file)


def test_made_questions_are_in_words_of_their_own_sentence_and_the_same_each_time() -> None:
    text = (
        "Customers may return purchased batteries within thirty days unless the sealed package was"
        " opened before delivery."
    )
    passages = [generate.Passage(7, text)]
    asked = generate.covered(passages, 5)
    assert asked and asked == generate.covered(passages, 5)
    shared = [len(set(question_words(q.text)) & set(question_words(text))) for q in asked]
    assert min(shared) >= 4
    assert {q.document for q in asked} == {7}
    (left, *_) = generate.left_out(asked)
    assert left.without == (7,)
    assert generate.covered([generate.Passage(1, "Too short.")], 5) == []
    assert len(generate.foreign()) >= 60


def test_the_probability_of_an_extreme_is_finite() -> None:
    extreme = replace(MODEL, weights=(1e6,) * len(SIGNALS))
    assert math.isfinite(extreme.probability([1.0] * len(SIGNALS)))
