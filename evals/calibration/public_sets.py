"""Gates over the public sets: ``python -m evals.calibration.public_sets --data DIR``.

Each set is in turn the corpus, in a database of its own, searched as served. Prints the Markdown of
evals/CALIBRATION.md: the plain and the calibrated gate, fitted to the other corpora, to other
documents of the same one, and to all; the ceiling of the offline embedder by the rule of
evals/CALIBRATION.md; and the fit that Helix brings (``--write``).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from evals.calibration.curves import Curve, Floats
from evals.calibration.gates import cross_fitted, distance_scores, fitted_to_all, model_scores
from evals.calibration.questions import COVERED
from evals.calibration.searches import SearchedQuestion, search_set
from evals.corpora import judged_set
from evals.database import temporary_databases
from evals.datasets import load_all
from evals.datasets.records import Question, QuestionSet
from evals.datasets.sec10q import load_report_questions
from helix.evidence.vectors import IDENTITY as OFFLINE
from helix.providers.offline import MAX_DISTANCE
from helix.retrieval.calibration.model import GateModel
from helix.store import ChunkStore

COVERAGES = (0.80, 0.85, 0.90)
LET_THROUGH = 0.85
"""The least share of every corpus's covered questions that the fit which Helix brings lets pass."""
NEIGHBOURS = {"covidqa": ("foreign: scifact",), "scifact": ("foreign: covidqa",)}
"""Kinds that a fit ignores: of two corpora on medicine, one may answer the other's questions."""
PLAIN = "distance"
PACKAGED = Path("helix/retrieval/calibration/packaged.json")


def search_sets(data: Path, names: Sequence[str] = ()) -> dict[str, list[SearchedQuestion]]:
    """Every public set as the corpus, or those named: its questions and the others', searched."""
    sets = load_all(data)
    reports = [Question(question.text, 0, ()) for question in load_report_questions(data)]
    foreign = QuestionSet("sec10q", [], reports)
    with temporary_databases() as created:
        return {
            each.name: asyncio.run(
                _searched(
                    created(each.name), each, [*(o for o in sets if o.name != each.name), foreign]
                )
            )
            for each in sets
            if not names or each.name in names
        }


async def _searched(
    url: str, source: QuestionSet, others: Sequence[QuestionSet]
) -> list[SearchedQuestion]:
    store = ChunkStore(url, OFFLINE)
    try:
        whole = source.name == "scifact"  # an abstract left out says little: others say the same
        corpus = judged_set(source.name, source)
        return await search_set(store, corpus, others, left_out=not whole)
    finally:
        await store.close()


def gates(name: str, world: Mapping[str, list[SearchedQuestion]]) -> Iterator[tuple[str, Floats]]:
    """The gates that are compared on one corpus: (what it is, scores of its questions)."""
    asked = world[name]
    yield PLAIN, distance_scores(asked)
    apart = [(world[o], NEIGHBOURS.get(o, ())) for o in world if o != name]
    yield "calibrated on the other corpora", model_scores(asked, fitted_to_all(apart))
    ignored = NEIGHBOURS.get(name, ())
    yield "calibrated on its other documents", cross_fitted(asked, ignored=ignored)
    yield "as Helix brings it", model_scores(asked, packaged(world))


def packaged(world: Mapping[str, list[SearchedQuestion]]) -> GateModel:
    """The fit to all; it lets LET_THROUGH of every corpus's covered questions pass."""
    model = fitted_to_all([(asked, NEIGHBOURS.get(name, ())) for name, asked in world.items()])
    least = [
        Curve(model_scores(asked, model), [one.kind for one in asked]).covering(LET_THROUGH).least
        for asked in world.values()
    ]
    return model.asking(min(least))


def tables(world: Mapping[str, list[SearchedQuestion]]) -> Iterator[str]:
    """Refused shares by kind, at equal coverage, of each gate on each corpus."""
    for name, asked in world.items():
        kinds = [one.kind for one in asked]
        others = sorted(set(kinds) - {COVERED})
        yield f"\n### {name}\n"
        counts = [f"{kind} (n={kinds.count(kind)})" for kind in others]
        covered = kinds.count(COVERED)
        yield f"| gate | threshold | coverage (n={covered}) | {' | '.join(counts)} |"
        yield "|---" * (3 + len(others)) + "|"
        for gate, scores in gates(name, world):
            curve = Curve(scores, kinds)
            if gate == PLAIN:
                yield _row(f"**distance <= {MAX_DISTANCE}, as set**", curve, -MAX_DISTANCE)
            for coverage in COVERAGES:
                yield _row(gate, curve, curve.covering(coverage).least)
        yield _row("**as Helix brings it, as set**", curve, packaged(world).least)


def _row(gate: str, curve: Curve, least: float) -> str:
    cells = [gate, f"{abs(least):.3f}", str(curve.estimates(least)[0])]
    cells += [str(share) for share in curve.refusals(least).values()]
    return f"| {' | '.join(cells)} |"


def offline_ceiling(world: Mapping[str, list[SearchedQuestion]]) -> float:
    """The tightest ceiling, to two places, that lets LET_THROUGH of every corpus's questions pass.

    Distances alone count: a question that passes by its identifier says nothing of them.
    """
    needed = [
        np.quantile([one.distance for one in asked if one.covered and one.distance], LET_THROUGH)
        for asked in world.values()
    ]
    return math.ceil(float(max(needed)) * 100) / 100


def written(model: GateModel) -> str:
    """helix/retrieval/calibration/packaged.json of this fit."""
    fit = model.to_json()
    for name in ("weights", "means", "deviations"):
        fit[name] = [round(value, 4) for value in fit[name]]
    fit["intercept"] = round(model.intercept, 4)
    fit["least"] = math.floor(model.least * 1000) / 1000
    return json.dumps({model.embedder: fit}, indent=2) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--write", action="store_true", help="write the fit that Helix brings")
    arguments = parser.parse_args()
    world = search_sets(arguments.data)
    for line in tables(world):
        print(line, flush=True)
    print(f"\nRecommended RETRIEVAL_MAX_DISTANCE: {offline_ceiling(world):.2f}")
    print(f"\n```json\n{written(packaged(world))}```")
    if arguments.write:
        PACKAGED.write_text(written(packaged(world)), encoding="utf-8")


if __name__ == "__main__":
    main()
