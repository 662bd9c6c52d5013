"""``python -m evals.evidence.fit --data DIR``: the weights of helix.evidence.

Trees are fitted on one half of each set's documents (evals.evidence.asked.is_held names the
other). The second stage and the calibration see, of each group of sets, only what a model without
that group said of it: so the probabilities are of documents unlike those that were learned from.
What trees and encoder say together is fitted on documents of the other half that the encoder never
learned from either (is_kept_out), after ``evals.evidence.train``. ``evals.evidence.table`` measures
them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evals.evidence.asked import Asked, asked_of, is_kept_out, share_of
from evals.evidence.boosting import boosted
from evals.evidence.measures import fitted_line, logistic
from evals.evidence.sets import SETS
from helix.evidence.blocks import Layout
from helix.evidence.encoder import Encoder, evidence_encoder, read_log_odds
from helix.evidence.features import ANSWERS, question_features
from helix.evidence.model import WEIGHTS, Joint, Line, Model, Trees, among, arrays_of, joint_rows
from helix.evidence.words import Floats, words_of

SEED = 7
LICENCES = {
    "squad2": "CC BY-SA 4.0", "covidqa": "Apache-2.0", "selqa": "Apache-2.0",
    "clapnq": "Apache-2.0", "tatqa": "CC BY 4.0", "xquad": "CC BY-SA 4.0",
    "manuals": "of Debian's main section, each its own",
    "handbooks": "each document its repository's",
}  # fmt: skip
GROUPS = {
    "squad2": "spans of Wikipedia", "xquad": "spans of Wikipedia",
    "selqa": "sentences of Wikipedia", "clapnq": "sentences of Wikipedia",
}  # fmt: skip
_EASY = 0.08  # of the units that neither words nor meaning put in front, each standing for many
_FRONT = np.log1p([12, 8])  # ranks by rarity and by meaning of those in front
_TOP = (1.0, 0.5, 0.3, 0.2)  # weights of a question's first units in the second stage
_FEWEST = 20  # answers from which a share is taken
_RIDGE = 1.0
_OF_TREES = [name for name in SETS if name not in ("manuals", "xquad en")]
"""Sets of the trees; of all they quote no better (decision record 0081)."""
_NO_JOINT = Joint(1.0, 0.0, 0.0, 0.0)
_LEAD = 0.4
"""The weight of the encoder's lead. Fitted it is 0.13 on texts like those that the trees know; on
other texts more is as good, or better (decision record 0081)."""
_NO_CURVE = np.zeros((0, 2), dtype=np.float32)


@dataclass(frozen=True)
class Read:
    """A question with the features of its units."""

    asked: Asked
    rows: Floats

    @property
    def group(self) -> str:
        """The sets that are left out together, for they have texts in common."""
        name = self.asked.set.partition(" ")[0]
        return GROUPS.get(name, name)

    def is_answered(self, place: int) -> bool:
        """True if the unit at ``place``, or one that is quoted together with it, answers."""
        chosen, right = self.asked.units[place], self.right
        own = [at for at, unit in enumerate(self.asked.units) if unit.passage == chosen.passage]
        units = [self.asked.units[at] for at in own]
        layout = Layout(self.asked.passages[chosen.passage], units)
        return any(right[own[at]] for at in layout.quoted(chosen.place))

    @property
    def right(self) -> Floats:
        """1 for each unit that answers, or has the words of an answer where one is there."""
        labels = np.array(self.asked.labels)
        right = (labels == 1) | ((labels == -1) & (labels == 1).any())
        return np.asarray(right, dtype=np.float32)


def read_sets(data: Path, held: bool, names: Collection[str] = tuple(SETS)) -> list[Read]:
    """The questions of the sets ``names``, of one half of their documents."""
    return [
        Read(asked, question_features(asked.question, asked.passages, asked.units))
        for name in names
        for asked in asked_of(name, data, held)
        if words_of(asked.question)
    ]


def _first(read: Sequence[Read]) -> Trees:
    """The trees over the features of each unit alone."""
    draw, sizes = np.random.default_rng(SEED), Counter(one.asked.set for one in read)
    ranks = [ANSWERS.index("rank by rarity"), ANSWERS.index("rank alike")]
    rows, labels, weights = [], [], []
    for one in read:
        marked = np.array(one.asked.labels)
        front = (one.rows[:, ranks] < _FRONT).any(axis=1) | (marked == 1)
        kept = (marked >= 0) & (front | (draw.random(len(marked)) < _EASY))
        rows.append(one.rows[kept])
        labels.append(marked[kept] == 1)
        weights.append(np.where(front[kept], 1, 1 / _EASY) / sizes[one.asked.set] ** 0.5)
    return _boosted(rows, labels, weights, trees=120, depth=4, rate=0.1)


def _second(read: Sequence[Read], first: Sequence[Floats]) -> Trees:
    """The trees that see how a unit stands among the others; ``first`` is what the others said."""
    sizes = Counter(one.asked.set for one in read)
    rows, labels, weights = [], [], []
    for one, log_odds in zip(read, first, strict=True):
        top = np.argsort(-log_odds, kind="stable")[: len(_TOP)]
        rows.append(among(one.rows, log_odds)[top])
        labels.append(one.right[top])
        weights.append(np.array(_TOP[: len(top)]) / sizes[one.asked.set] ** 0.5)
    return _boosted(rows, labels, weights, trees=100, depth=3, rate=0.08)


def _boosted(
    rows: Sequence[Floats], labels: Sequence[Floats], weights: Sequence[Floats], *,
    trees: int, depth: int, rate: float,
) -> Trees:  # fmt: skip
    weighed = np.concatenate(weights)
    return boosted(
        np.concatenate(rows), np.concatenate(labels).astype(np.float32),
        (weighed / weighed.mean()).astype(np.float32),
        trees=trees, depth=depth, rate=rate, seed=SEED,
    )  # fmt: skip


def best(model: Model, one: Read) -> tuple[float, bool]:
    """The probability of a question's best unit, and whether what is quoted for it answers."""
    values = model.probabilities(one.rows)
    place = int(values.argmax())
    return float(values[place]), one.is_answered(place)


def curve(said: Sequence[Sequence[tuple[float, bool]]]) -> Floats:
    """Model.curve, from what ``best`` says of the questions of each set.

    A question weighs by one over the size of its set, so that sets weigh alike.
    """
    every = [(value, right, 1 / len(one)) for one in said for value, right in one]
    values, rights, weights = np.array(every, dtype=np.float64).T
    rows = []
    for bar in np.linspace(0.02, 0.98, 49):
        given = np.where(values >= bar, weights, 0)
        is_known = np.count_nonzero(given) >= _FEWEST
        rows.append((bar, given @ (1 - rights) / given.sum() if is_known else 0.0))
    shares = np.array(rows, dtype=np.float32)
    shares[:, 1] = np.maximum.accumulate(shares[::-1, 1])[::-1]
    return shares


def fitted(read: Sequence[Read]) -> Model:
    """The model of all sets; its calibration is of what one without its group said of each."""
    groups = sorted({one.group for one in read})
    firsts = {group: _first([one for one in read if one.group != group]) for group in groups}
    foreign = [firsts[one.group].log_odds(one.rows) for one in read]

    def second(without: str | None) -> Trees:
        kept = [at for at, one in enumerate(read) if one.group != without]
        return _second([read[at] for at in kept], [foreign[at] for at in kept])

    seconds = {group: second(group) for group in groups}
    said = [
        seconds[one.group].log_odds(among(one.rows, first))
        for one, first in zip(read, foreign, strict=True)
    ]
    line = _line(read, said)
    return Model(_first(read), second(None), line, _NO_JOINT, _NO_CURVE, _NO_CURVE)


def _line(read: Sequence[Read], said: Sequence[Floats]) -> Line:
    """The calibration by what models without its group said of each question; sets weigh alike."""
    sizes = Counter(one.asked.set for one in read)
    told, labels, weights = [], [], []
    for one, log_odds in zip(read, said, strict=True):
        top = np.argsort(-log_odds, kind="stable")[: len(_TOP)]
        told.append(log_odds[top])
        labels.append(one.right[top])
        weights.append(np.array(_TOP[: len(top)]) / sizes[one.asked.set])
    return fitted_line(np.concatenate(told), np.concatenate(labels), np.concatenate(weights))


@dataclass(frozen=True)
class Heard:
    """A question of documents kept out, with the log-odds of trees and encoder of each unit."""

    read: Read
    trees: Floats
    encoder: Floats

    def best(self, joint: Joint) -> tuple[float, bool]:
        """The probability of the best unit, and whether what is quoted for it answers."""
        values = joint.probabilities(self.trees, self.encoder)
        return float(values.max()), self.read.is_answered(int(values.argmax()))


def heard(model: Model, encoder: Encoder, held: Sequence[Read]) -> list[Heard]:
    """The log-odds of trees and encoder for questions whose documents neither was fitted on."""
    found = []
    for one in held:
        if is_kept_out(one.asked.document):
            asked, trees = one.asked, model.trees(one.rows)
            read = read_log_odds(encoder, asked.question, asked.passages, asked.units, trees)
            found.append(Heard(one, trees, read))
    return found


def joined(kept: Sequence[Heard]) -> Joint:
    """The joint weights but _LEAD, by the units that either puts in front.

    Sets weigh by their roots.
    """
    sizes = Counter(one.read.asked.set for one in kept)
    rows, labels, weights = [], [], []
    for one in kept:
        read = np.flatnonzero(~np.isnan(one.encoder))
        front = {int(at) for said in (one.trees[read], one.encoder[read])
                 for at in np.argsort(-said, kind="stable")[: len(_TOP)]}  # fmt: skip
        places = sorted(front)
        rows.append(joint_rows(one.trees[read], one.encoder[read])[places])
        labels.append([one.read.is_answered(int(at)) for at in read[places]])
        weights.append(np.full(len(places), sizes[one.read.asked.set] ** -0.5))
    every = np.concatenate(labels).astype(np.float32)
    trees, lead, nothing = np.concatenate(rows).T
    told = np.column_stack([trees, nothing])
    found = logistic(told, every, np.concatenate(weights), _RIDGE, given=_LEAD * lead)
    return Joint(float(found[0]), _LEAD, float(found[1]), float(found[2]))


def across(kept: Sequence[Heard]) -> dict[str, list[tuple[float, bool]]]:
    """By set, what the joint weights of one half of the questions say of the other half."""
    halves: list[list[Heard]] = [[], []]
    for one in kept:
        halves[share_of(f"side {one.read.asked.question}") < 0.5].append(one)
    said: dict[str, list[tuple[float, bool]]] = {}
    for own, others in (halves, halves[::-1]):
        joint = joined(others)
        for one in own:
            said.setdefault(one.read.asked.set, []).append(one.best(joint))
    return said


def main() -> None:
    """Fit, and write the weights."""
    parser = argparse.ArgumentParser(prog="evals.evidence.fit", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="the file of the weights")
    options = parser.parse_args()
    whole = fitted(read_sets(options.data, held=False, names=_OF_TREES))
    held = read_sets(options.data, held=True)
    kept = heard(whole, evidence_encoder(), held)
    by_features = [[best(whole, o) for o in held if o.asked.set == name] for name in SETS]
    about = {"made by": "python -m evals.evidence.fit", "seed": SEED, "sets": LICENCES}
    finished = replace(
        whole, joint=joined(kept), curve=curve(list(across(kept).values())),
        curve_of_features=curve(by_features),
    )  # fmt: skip
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about)), **arrays_of(finished)}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
