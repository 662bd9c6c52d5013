"""The model of evidence: how likely a unit answers a question.

Two stages of trees: one over the features of each unit, one that also sees how the unit stands
among the others. Then the encoder reads the question with the units in front, and a logistic
regression joins what trees and encoder say. The weights lie beside this file; ``python -m
evals.evidence.fit`` makes them, and their ``about`` names the sets that they were learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from helix.evidence.encoder import Encoder, evidence_encoder, read_log_odds
from helix.evidence.features import question_features
from helix.evidence.words import Floats, words_of
from helix.language.sentences import Passage, Unit, units_of

_MOST_KEPT = 32  # questions with their passages, some 20 kB each

LIKELY = 0.9
"""Least probability from which on an answer is said to answer what was asked."""

WEIGHTS = Path(__file__).with_name("weights.npz")


@dataclass(frozen=True)
class Trees:
    """Boosted trees of one depth, read by numpy: whole binary ones, the root first, by levels.

    ``columns`` and ``cuts``, shape (trees, 2**depth - 1): a row whose column is above the cut goes
    right. ``leaves``, shape (trees, 2**depth), are added up over the trees to ``base``.
    """

    columns: NDArray[np.uint8]
    cuts: Floats
    leaves: Floats
    base: float

    def log_odds(self, rows: Floats) -> Floats:
        """The log-odds of each row of features: shape (rows,)."""
        trees, inner = self.columns.shape
        every = np.arange(trees)
        at = np.zeros((len(rows), trees), dtype=np.intp)
        number = np.arange(len(rows))[:, None]
        for _ in range(int(inner + 1).bit_length() - 1):
            values = rows[number, self.columns[every, at]]
            at = 2 * at + 1 + (values > self.cuts[every, at])
        return np.asarray(self.leaves[every, at - inner].sum(axis=1) + self.base, dtype=np.float32)


class Line(NamedTuple):
    """Log-odds that were learned, as log-odds that hold: ``slope * learned + shift``."""

    slope: float
    shift: float

    def probabilities(self, log_odds: Floats) -> Floats:
        """Probabilities from 0 to 1."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * log_odds + self.shift))), np.float32)


class Joint(NamedTuple):
    """Weights of log-odds: of the trees, of the encoder's lead, of its finding nothing."""

    trees: float
    lead: float
    nothing: float
    shift: float

    def probabilities(self, trees: Floats, encoder: Floats) -> Floats:
        """Probabilities from 0 to 1 of units; ``encoder`` is NaN where it has not read one.

        Such a unit is no likelier than the trees say, nor than any that was read.
        """
        is_read = ~np.isnan(encoder)
        log_odds = (
            joint_rows(trees[is_read], encoder[is_read]) @ np.array(self[:-1], dtype=np.float32)
            + self.shift
        )
        said = np.asarray(1 / (1 + np.exp(-trees)), dtype=np.float32)
        said[is_read] = 1 / (1 + np.exp(-log_odds))
        return np.minimum(said, np.where(is_read, 1, said[is_read].min(initial=1)))


def joint_rows(trees: Floats, encoder: Floats) -> Floats:
    """The log-odds that Joint weighs, of units that the encoder has read: shape (units, 3)."""
    nothing = np.full(len(encoder), -_summed(encoder), dtype=np.float32)
    return np.column_stack([trees, _leads(encoder), nothing]).astype(np.float32)


def _summed(encoder: Floats) -> float:
    """The log-odds that one of the units answers, beside 0 for none."""
    return float(np.logaddexp.reduce([*encoder, 0.0]))


def _leads(encoder: Floats) -> Floats:
    """By how much each unit is above all others and 0 together, in log-odds."""
    others = [_summed(np.delete(encoder, at)) for at in range(len(encoder))]
    return np.asarray(encoder - np.array(others, dtype=np.float32), dtype=np.float32)


@dataclass(frozen=True)
class Model:
    """The trees of both stages, the calibration of what the second says, and its risks."""

    first: Trees
    second: Trees
    line: Line
    joint: Joint
    curve: Floats
    """Shape (n, 2): a probability, and the share of wrong answers from it on, falling."""
    curve_of_features: Floats
    """The same of what features say alone."""

    def bar(self, risk: float, *, by_features: bool = False) -> float:
        """The least probability from which on at most the share ``risk`` of answers is wrong.

        As on the sets of ``curve``, whose questions weigh by one over their number; 1 where none is
        as good.
        """
        curve = self.curve_of_features if by_features else self.curve
        enough = curve[curve[:, 1] <= risk, 0]
        return float(enough.min(initial=1.0))

    def answers(
        self, question: str, passages: Sequence[Passage], units: Sequence[Unit],
        encoder: Encoder | None = None,
    ) -> Floats:  # fmt: skip
        """Probability that each of ``units``, all of ``passages``, answers ``question``: 0 to 1.

        About 10 ms of a processor for 60 units by features alone, 100 ms more with an ``encoder``;
        0 for each where the question has no word.
        """
        if not units or not words_of(question):
            return np.zeros(len(units), dtype=np.float32)
        trees = self.trees(question_features(question, passages, units))
        if encoder is None:
            return self.line.probabilities(trees)
        read = read_log_odds(encoder, question, passages, units, trees)
        return self.joint.probabilities(trees, read)

    def probabilities(self, rows: Floats) -> Floats:
        """Probabilities by features alone; ``rows`` are those of ``question_features``."""
        return self.line.probabilities(self.trees(rows))

    def trees(self, rows: Floats) -> Floats:
        """The log-odds of both stages, not calibrated, from the features of all units."""
        return self.second.log_odds(among(rows, self.first.log_odds(rows)))


def among(rows: Floats, log_odds: Floats) -> Floats:
    """The features of units with those of how each stands among all: 6 further columns."""
    best = log_odds.max()
    second = np.sort(log_odds)[-2:][0] if len(log_odds) > 1 else best - 5
    exponents, sure = np.exp(log_odds - best), 1 / (1 + np.exp(-log_odds))
    none = np.log1p(-np.minimum(sure, 1 - 1e-6))
    rank = np.argsort(np.argsort(-log_odds, kind="stable"), kind="stable")
    return np.column_stack([
        rows, log_odds, log_odds - np.where(log_odds >= best, second, best),
        exponents / exponents.sum(), none.sum() - none, rank,
        np.full(len(rows), np.sort(sure)[-5:].sum()),
    ]).astype(np.float32)  # fmt: skip


def arrays_of(model: Model) -> dict[str, NDArray[Any]]:
    """The weights as arrays by name, as ``model_of`` reads them."""
    arrays: dict[str, NDArray[Any]] = {
        "line": np.array(model.line),
        "joint": np.array(model.joint),
        "curve": model.curve,
        "curve_of_features": model.curve_of_features,
    }
    for name, trees in (("first", model.first), ("second", model.second)):
        arrays |= {f"{name}_columns": trees.columns, f"{name}_cuts": trees.cuts}
        arrays |= {f"{name}_leaves": trees.leaves, f"{name}_base": np.array(trees.base)}
    return arrays


def model_of(arrays: Mapping[str, NDArray[Any]]) -> Model:
    """The model of such arrays."""
    line = Line(*arrays["line"].tolist())
    joint = Joint(*arrays["joint"].tolist())
    curves = (arrays[name].astype(np.float32) for name in ("curve", "curve_of_features"))
    return Model(_trees(arrays, "first"), _trees(arrays, "second"), line, joint, *curves)


def _trees(arrays: Mapping[str, NDArray[Any]], name: str) -> Trees:
    columns, cuts, leaves = (arrays[f"{name}_{part}"] for part in ("columns", "cuts", "leaves"))
    return Trees(columns, cuts, leaves, float(arrays[f"{name}_base"]))


@cache
def evidence_model() -> Model:
    """The model, read from the package on the first call of the process (a few milliseconds)."""
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        return model_of(arrays)


@lru_cache(maxsize=_MOST_KEPT)
def how_likely(question: str, passages: tuple[Passage, ...]) -> Floats:
    """The probability that each of ``units_of(passages)`` answers, by features and encoder.

    Kept for the questions asked last: the answerer and the marks of its answer ask the same.
    """
    said = evidence_model().answers(question, passages, units_of(passages), evidence_encoder())
    said.flags.writeable = False
    return said
