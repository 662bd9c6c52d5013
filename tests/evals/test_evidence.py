"""Fitting the model of evidence: trees, calibration, measures, and how questions are put."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evals.evidence.asked import is_held
from evals.evidence.boosting import boosted
from evals.evidence.corpus import Corpus
from evals.evidence.measures import auroc, fitted_line
from helix.language.sentences import Passage


def test_trees_learn_what_one_column_does_not_tell() -> None:
    draw = np.random.default_rng(1)
    rows = draw.random((4_000, 3)).astype(np.float32)
    labels = ((rows[:, 0] > 0.5) != (rows[:, 2] > 0.3)).astype(np.float32)
    ones = np.ones(len(rows), dtype=np.float32)
    trees = boosted(rows, labels, ones, trees=60, depth=3, rate=0.3, share=1.0)
    fresh = draw.random((500, 3)).astype(np.float32)
    right = (fresh[:, 0] > 0.5) != (fresh[:, 2] > 0.3)
    assert ((trees.log_odds(fresh) > 0) == right).mean() > 0.9


def test_the_same_seed_gives_the_same_trees() -> None:
    rows = np.random.default_rng(2).random((500, 4)).astype(np.float32)
    labels = (rows[:, 1] > 0.4).astype(np.float32)
    ones = np.ones(len(rows), dtype=np.float32)
    one, other = (boosted(rows, labels, ones, trees=5, seed=3).log_odds(rows) for _ in "12")
    assert np.array_equal(one, other)


def test_a_line_undoes_too_much_confidence() -> None:
    draw = np.random.default_rng(4)
    true = draw.normal(0, 1.5, 20_000).astype(np.float32)
    labels = (draw.random(len(true)) < 1 / (1 + np.exp(-true))).astype(np.float32)
    line = fitted_line(3 * true + 1, labels, np.ones(len(true), dtype=np.float32))
    assert line.slope == pytest.approx(1 / 3, abs=0.03)
    assert line.probabilities(3 * true + 1).mean() == pytest.approx(labels.mean(), abs=0.01)


def test_auroc_counts_pairs() -> None:
    assert auroc([0.9, 0.8, 0.3, 0.3], [1, 0, 1, 0]) == pytest.approx((2 + 0.5) / 4)
    assert math.isnan(auroc([0.1, 0.2], [1, 1]))


def test_the_halves_hold_about_as_many_documents_and_every_translation_together() -> None:
    held = sum(is_held(f"document {number}") for number in range(1_000))
    assert 400 < held < 600
    assert is_held("Super_Bowl_50") == is_held("super bowl 50")


def test_a_search_leaves_documents_out() -> None:
    passages = [Passage("Kettles boil water."), Passage("Kettles are red."), Passage("Pumps.")]
    corpus = Corpus(passages, ["a", "b", "c"])
    assert corpus.search("Which kettles boil?", 2) == [0, 1]
    assert corpus.search("Which kettles boil?", 1, ["a"]) == [1]
