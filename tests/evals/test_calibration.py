"""The gate's calibration: scores, curves, the command, labelled and made questions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from evals.calibration import question_generator
from evals.calibration.curves import Curve, risk_of
from evals.calibration.gates import distance_scores, model_scores
from evals.calibration.plot import calibration_page
from evals.calibration.questions import COVERED, GateQuestion, read_questions
from evals.calibration.searches import SearchedQuestion, searched
from evals.calibration.sweep import (
    SearchedCorpus,
    calibrate,
    check_coverage,
    fit_of,
    recommended,
    report,
)
from helix.domain.gate import Estimate, decide
from helix.errors import BadRequest
from helix.language.terms import question_words
from tests.support.searched_policy import MODEL, POLICY, found


def test_scores_of_either_gate_pass_what_is_served() -> None:
    booleans, distances = (False, True), (0.3, 0.6, 0.72, 0.9, None)
    for case in product(booleans, booleans, distances, (0.0, 0.5, 1.0)):
        _check_scores(*case)


def _check_scores(exact: bool, told: bool, distance: float | None, least: float) -> None:
    text = "The code HX-9 is met." if exact else POLICY
    each = found(text, question := "HX-9", 0.5 if distance is None else distance)
    each = replace(each, nearest=distance, words=1, identifiers=1, chunks=100 * told)
    each = replace(each, candidates=[replace(each.candidates[0], together=int(exact))])
    asked, lexical = searched(GateQuestion(question, COVERED), each), each.lexical(5)
    assert asked.exact is exact
    distances = [] if distance is None else [distance]
    plain = decide(distances, 0.72, lexical).passed
    assert (distance_scores([asked])[0] >= -0.72) == plain
    estimate = None
    if asked.signals:
        estimate = Estimate(MODEL.probability(asked.signals), least)
    served = decide(distances, 0.72, lexical, estimate).passed
    assert (model_scores([asked], MODEL, 0.72)[0] >= least) == served


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
    assert curve.estimates(likely.least)[1].high > 0.03 >= curve.estimates(sure.least)[1].high
    assert sure.least > likely.least and sure.coverage > 0.3
    never = curve.surely_within(1e-6)
    assert curve.estimates(never.least)[1].high <= curve.estimates(sure.least)[1].high
    few = Curve(np.array([0.9] * 5 + [0.1] * 5), [COVERED] * 5 + ["near miss"] * 5)
    assert few.estimates(0.5)[1].high > 0.02, "none of five is not none"


def test_coverage_falls_as_the_gate_tightens() -> None:
    points = _curve().points()
    assert [p.least for p in points] == sorted((p.least for p in points), reverse=True)
    assert [p.coverage for p in points] == sorted(p.coverage for p in points)


def test_intervals_hold_what_they_are_of() -> None:
    curve = _curve()
    coverage, risk = curve.estimates(0.7)
    assert coverage.low < coverage.value == 0.75 < coverage.high
    assert risk.low <= risk.value == curve.at(0.7).risk <= risk.high
    assert {kind: one.value for kind, one in curve.refusals(0.7).items()} == curve.at(0.7).refused
    assert risk_of(0.0, 0.0, 0.2) == 0


# --- the command ------------------------------------------------------------------------------


def _asked(count: int = 120) -> list[SearchedQuestion]:
    """Covered questions, near and met; near misses, near and not met; foreign ones, far."""
    source = np.random.default_rng(1)
    asked = []
    for number in range(count):
        kind = (COVERED, "near miss", "foreign: x")[number % 3]
        near = source.normal(0.8 if kind == "foreign: x" else 0.5, 0.05)
        met = source.normal(0.9 if kind == COVERED else 0.3, 0.1)
        values = (-near, met, met, met, met, 1.0, 1.0)
        question = GateQuestion(f"q{number}", kind, number)
        asked.append(SearchedQuestion(question, near, values, True if kind == COVERED else None))
    return asked


def test_calibrating_recommends_a_ceiling_and_a_better_gate() -> None:
    corpus = SearchedCorpus(_asked(600), MODEL.embedder, 0.72, 12, 34)
    result = calibrate(corpus, 0.003, 0.2)
    assert result.best is not None and result.model is not None and result.estimate is not None
    assert result.likely_plain.coverage < 0.6 < 0.9 < result.best.coverage
    assert result.likely_best is not None
    risks = [
        result.estimate.estimates(one.least)[1].high for one in (result.best, result.likely_best)
    ]
    assert risks[0] <= 0.003 < risks[1] and result.likely_best.risk <= 0.003
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
    result = calibrate(SearchedCorpus(_asked(), MODEL.embedder, 0.72, 12, 34), 0.05, 0.2)
    assert result.best is not None
    check_coverage(result, force=False)
    poor = replace(result, best=replace(result.best, coverage=0.49))
    with pytest.raises(BadRequest, match=r"not recorded: .* 0\.49 of the covered .* --force"):
        check_coverage(poor, force=False)
    check_coverage(poor, force=True)


def test_questions_near_nothing_are_said_to_be() -> None:
    far = [replace(one, distance=None, signals=None) for one in _asked()]
    with pytest.raises(BadRequest, match="no covered question is near any chunk"):
        calibrate(SearchedCorpus(far, MODEL.embedder, 0.72, 1, 1), 0.05, 0.2)


def test_what_was_found_is_one_page_without_a_script() -> None:
    html = calibration_page(
        "A <title>", ["<b> & c"], {"distance": _curve(), "calibrated": _curve()}
    )
    assert html.count("<svg") == 3 and "&lt;b&gt; &amp; c" in html
    assert "<script" not in html and "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_a_search_without_signals_is_calibrated_distance_scores() -> None:
    corpus = SearchedCorpus([replace(one, signals=None) for one in _asked()], "other", None, 1, 1)
    result = calibrate(corpus, 0.05, 0.2)
    assert result.best is None and fit_of(corpus, result, 0.05).model is None
    with pytest.raises(BadRequest):
        calibrate(replace(corpus, asked=[one for one in corpus.asked if one.covered]), 0.05, 0.2)


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
    passages = [question_generator.Passage(7, text)]
    asked = question_generator.covered(passages, 5)
    assert asked and asked == question_generator.covered(passages, 5)
    shared = [len(set(question_words(q.text)) & set(question_words(text))) for q in asked]
    assert min(shared) >= 4
    assert {q.document for q in asked} == {7}
    (left, *_) = question_generator.left_out(asked)
    assert left.without == (7,)
    assert question_generator.covered([question_generator.Passage(1, "Too short.")], 5) == []
    assert len(question_generator.foreign()) >= 60
