"""``python -m evals.evidence.fit_statements --data DIR``: when a statement counts as borne out.

Fits the regression of helix.evidence.statements on claims that its adapters did not learn from,
each set and both kinds of claims weighing the same, and prints what it shows on the half of the
documents that was left out of it, in turn.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.evidence import claims
from evals.evidence.altered import Alterations, Context
from evals.evidence.claims import Claim
from evals.evidence.measures import auroc, logistic
from evals.proof_alterations import alone
from evals.proof_pairs import PAIRS
from helix.answering.proof.facts import Facts
from helix.answering.proof.passages import Passage, exact
from helix.answering.proof.reading import closest_units, comparison, missing, signs_of
from helix.evidence.statements import WEIGHTS, statement_reader
from helix.evidence.words import Floats
from helix.language.sentences import sentences

SEED, _ALTERED, _FOREIGN, _RIDGE = 11, 800, 500, 1.0
_BARS = (0.3, 0.38, 0.45, 0.5)
_BY_HAND = "by hand"  # the exact checks were mended on these
BAR = 0.38
"""At 0.3 one claim in ten passes that is held against another text, at 0.5 half or more of the
claims of prose that hold are in doubt (decision record 0084)."""


@dataclass(frozen=True)
class Judged:
    """A claim with the row that the regression weighs; ``vetoed`` by an exact check."""

    claim: Claim
    row: Floats
    vetoed: bool


def judged(claim: Claim) -> Judged:
    """``claim`` as the prover judges it, cited to its sentences as one source."""
    source = alone("\n".join(claim.sentences), 1, claim.headings)
    passages, facts = [Passage(1, source, source.hit)], Facts(claim.text)
    units = closest_units(facts, passages)
    compared, verdict = comparison(facts, units), exact(facts, passages)
    row = signs_of(facts, units, compared).row
    vetoed = bool(verdict.problem or missing(facts, passages) or compared.is_sure)
    return Judged(claim, row, vetoed and not verdict.supports)


def sets(data: Path) -> Iterator[tuple[str, list[Claim]]]:
    """The claims to measure on, by set."""
    for domain in claims.LEFT_OUT:
        yield f"SummEdits, {domain}", list(claims.summedits(data, [domain]))
    yield "WiCE", list(claims.wice(data))
    learned = claims.rated_to_learn_from(data)
    rated = [one for one in claims.ratings(data) if one.document not in learned]
    yield "answers rated by people", rated
    lines = (data / "scifact/corpus.jsonl").read_text("utf-8").splitlines()[:1500]
    entries = [json.loads(line) for line in lines]
    read = [
        Context("scifact", str(one["_id"]), tuple(sentences(one["text"])), one["title"])
        for one in entries
    ]
    known = [one for one in read if len(one.sentences) > 2]
    yield "SciFact, altered", list(Alterations(known, SEED).synthetic(_ALTERED))
    yield _BY_HAND, list(by_hand())
    yield "held against other texts", list(foreign([*rated, *by_hand()]))


def by_hand() -> Iterator[Claim]:
    """The claims of proof_pairs.json."""
    for group in json.loads(PAIRS.read_text("utf-8")):
        read = tuple(sentences(group["passage"]))
        for kind in ("true", "false"):
            for text in group[kind]:
                yield Claim(_BY_HAND, group["passage"], text, read, float(kind == "false"))


def foreign(known: Sequence[Claim]) -> Iterator[Claim]:
    """Claims that hold, held against the sentences of another document: nothing bears them out."""
    draw, holds = random.Random(SEED), [one for one in known if not one.label]
    for one in draw.sample(holds, _FOREIGN):
        other = draw.choice(holds)
        if other.document != one.document:
            yield replace(
                one, set="foreign", sentences=other.sentences, label=1.0, whole="", bad=None
            )


def _half(one: Judged) -> int:
    return zlib.crc32(one.claim.document.encode()) % 2


def fitted(known: Sequence[Sequence[Judged]]) -> Floats:
    """The weights of the regression, its constant last."""
    rows, labels, weights = list[Floats](), list[float](), list[float]()
    for one_set in known:
        for wrong in (0.0, 1.0):
            part = [one for one in one_set if one.claim.label == wrong]
            rows += [one.row for one in part]
            labels += [1.0 - wrong] * len(part)
            weights += [1000 / len(known) / 2 / max(len(part), 1)] * len(part)
    found = logistic(np.array(rows), np.array(labels), np.array(weights), _RIDGE)
    return np.asarray(found, dtype=np.float32)


def probabilities(known: Sequence[Judged], joint: Floats) -> Floats:
    """The probability that each is borne out; 0 where an exact check says that it is not."""
    log_odds = np.array([one.row for one in known]) @ joint[:-1] + joint[-1]
    said = 1 / (1 + np.exp(-log_odds))
    return np.where([one.vetoed for one in known], 0, said).astype(np.float32)


def _wholes(known: Sequence[Judged], said: Floats) -> tuple[list[float], list[float]]:
    """The least probability of each text that claims are parts of, and 1 where it holds."""
    least: dict[str, float] = {}
    holds: dict[str, float] = {}
    for place, (one, probability) in enumerate(zip(known, said, strict=True)):
        key = one.claim.whole or str(place)
        least[key] = min(least.get(key, 1.0), float(probability))
        holds[key] = min(holds.get(key, 1.0), 1.0 - one.claim.label)
    return [least[key] for key in least], [holds[key] for key in least]


def held_back(measured: Mapping[str, Sequence[Judged]]) -> dict[str, Floats]:
    """The probabilities of each set's claims, fitted on the other half of all documents."""
    fits = [
        fitted([[one for one in known if _half(one) != half] for known in measured.values()])
        for half in (0, 1)
    ]
    found = {}
    for name, known in measured.items():
        halves = [probabilities(known, fit) for fit in fits]
        said = [halves[_half(one)][at] for at, one in enumerate(known)]
        found[name] = np.array(said, dtype=np.float32)
    return found


def table(measured: Mapping[str, Sequence[Judged]], said: Mapping[str, Floats]) -> Iterator[str]:
    """A row for each set, as Markdown.

    Two shares a cell: of claims that hold those in doubt, and of the others those borne out.
    """
    columns = "set | claims | not borne out | AUROC | of texts | exact checks"
    yield f"| {columns} | {' | '.join(f'bar {one:.2f}' for one in _BARS)} |"
    yield "|---" * (6 + len(_BARS)) + "|"
    for name, known in measured.items():
        wrong = np.array([one.claim.label for one in known]) == 1
        vetoed = np.array([one.vetoed for one in known])
        cells = [
            f"{_share(said[name][~wrong] < one)}, {_share(said[name][wrong] >= one)}"
            for one in _BARS
        ]
        checks = f"{_share(vetoed[~wrong])}, {_share(~vetoed[wrong])}"
        areas = auroc(said[name], ~wrong), auroc(*_wholes(known, said[name]))
        texts = [f"{one:.3f}" for one in areas]
        row = [name, str(len(known)), str(int(wrong.sum())), *texts, checks, *cells]
        yield f"| {' | '.join(row)} |"


def _share(true: NDArray[np.bool_]) -> str:
    return f"{true.mean():.2f}" if len(true) else "–"


def main() -> None:
    """Fit, write the weights, and print the table."""
    parser = argparse.ArgumentParser(prog="evals.evidence.fit_statements", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="the file of the adapters")
    options = parser.parse_args()
    reader = statement_reader()
    measured = {
        name: [judged(one) for one in all_ if reader.tokens([one.text])[0]]
        for name, all_ in sets(options.data)
    }
    write(measured, options.out)


def write(measured: Mapping[str, Sequence[Judged]], out: Path) -> None:
    """Fit on all that was ``measured``, write the weights to ``out``, and print the table."""
    said = held_back(measured)
    joint = fitted(list(measured.values()))
    print(*table(measured, said), sep="\n")
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        others = {name: arrays[name] for name in arrays.files if name not in ("joint", "bar")}
    np.savez_compressed(out, joint=joint, bar=np.array(BAR, dtype=np.float32), **others)


if __name__ == "__main__":
    main()
