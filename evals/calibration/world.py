"""The public sets as the world: ``python -m evals.calibration.world --data DIR``.

Each set is in turn the corpus, in a Postgres of its own, searched as served. Prints the Markdown of
evals/CALIBRATION.md: the plain and the calibrated gate, fitted to the other corpora, to other
documents of the same one, and to all; and the fit that Helix brings (``--write``).
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import pprint
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import psycopg

from db.embedded import DATABASE, acquire
from db.migrate import migrate
from evals import retrieval
from evals.calibration.asked import (
    COVERED,
    OFFLINE,
    Asked,
    Floats,
    ask_set,
    by_distance,
    by_model,
)
from evals.calibration.curves import Curve, told, wilson
from evals.calibration.fitting import cross_fitted, fitted_to_all
from evals.offline_sets import Question, QuestionSet, load_all
from helix.calibration.model import GateModel
from helix.providers.offline import MAX_DISTANCE
from helix.store import ChunkStore

COVERAGES = (0.80, 0.85, 0.90)
LET_THROUGH = 0.85
"""The least share of every corpus's covered questions that the fit which Helix brings lets pass."""
NEIGHBOURS = {"covidqa": ("foreign: scifact",), "scifact": ("foreign: covidqa",)}
"""Kinds that a fit ignores: of two corpora on medicine, one may answer the other's questions."""
PLAIN = "distance"
PACKAGED = Path("helix/calibration/packaged.py")


def others_of(name: str, sets: Sequence[QuestionSet], data: Path) -> list[QuestionSet]:
    """The sets whose questions are foreign to one of them."""
    with (data / "sec10q/qna_data.csv").open(encoding="utf-8-sig") as file:
        reports = [Question(row["Question"], 0, ()) for row in csv.DictReader(file)]
    return [*(each for each in sets if each.name != name), QuestionSet("sec10q", [], reports)]


def ask_all(data: Path, names: Sequence[str] = ()) -> dict[str, list[Asked]]:
    """Every set as the corpus, or those named; each in a database of its own."""
    sets = load_all(data)
    directory = Path(tempfile.mkdtemp(prefix="helix-evals-"))
    try:
        with acquire(directory) as server:
            return {
                each.name: asyncio.run(
                    _asked(_created(server.url, each.name), each, others_of(each.name, sets, data))
                )
                for each in sets
                if not names or each.name in names
            }
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _created(url: str, name: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # one of load_all's names
    own = url.replace(f"/{DATABASE}?", f"/{name}?")
    migrate(own)
    return own


async def _asked(url: str, source: QuestionSet, others: Sequence[QuestionSet]) -> list[Asked]:
    store = ChunkStore(url, OFFLINE)
    try:
        whole = source.name == "scifact"  # an abstract left out says little: others say the same
        corpus = retrieval.corpus(source, source.name)
        return await ask_set(store, corpus, others, left_out=not whole)
    finally:
        await store.close()


def gates(name: str, world: Mapping[str, list[Asked]]) -> Iterator[tuple[str, Floats]]:
    """The gates that are compared on one corpus: (what it is, scores of its questions)."""
    asked = world[name]
    yield PLAIN, by_distance(asked)
    apart = [(world[o], NEIGHBOURS.get(o, ())) for o in world if o != name]
    yield "calibrated on the other corpora", by_model(asked, fitted_to_all(apart))
    ignored = NEIGHBOURS.get(name, ())
    yield "calibrated on its other documents", cross_fitted(asked, ignored=ignored)
    yield "as Helix brings it", by_model(asked, packaged(world))


def packaged(world: Mapping[str, list[Asked]]) -> GateModel:
    """The fit to all; it lets LET_THROUGH of every corpus's covered questions pass."""
    model = fitted_to_all([(asked, NEIGHBOURS.get(name, ())) for name, asked in world.items()])
    least = [
        Curve(by_model(asked, model), [one.kind for one in asked]).covering(LET_THROUGH).least
        for asked in world.values()
    ]
    return model.asking(min(least))


def tables(world: Mapping[str, list[Asked]]) -> Iterator[str]:
    """Refused shares by kind, at equal coverage, of each gate on each corpus."""
    for name, asked in world.items():
        kinds = [one.kind for one in asked]
        others = sorted(set(kinds) - {COVERED})
        yield f"\n### {name}\n"
        counts = [f"{kind} (n={kinds.count(kind)})" for kind in others]
        yield f"| gate | coverage (n={kinds.count(COVERED)}) | {' | '.join(counts)} |"
        yield "|---" * (2 + len(others)) + "|"
        for gate, scores in gates(name, world):
            curve = Curve(scores, kinds)
            if gate == PLAIN:
                yield _row(f"**distance <= {MAX_DISTANCE}, as set**", curve, -MAX_DISTANCE)
            for coverage in COVERAGES:
                yield _row(gate, curve, curve.covering(coverage).least)
        yield _row("**as Helix brings it, as set**", curve, packaged(world).least)


def _row(gate: str, curve: Curve, least: float) -> str:
    own = curve.of(COVERED) >= least
    cells = [told(float(own.mean()), wilson(int(own.sum()), len(own)))]
    for kind in curve.others:
        refused = curve.of(kind) < least
        cells.append(told(float(refused.mean()), wilson(int(refused.sum()), len(refused))))
    return f"| {gate} | {' | '.join(cells)} |"


def written(model: GateModel) -> str:
    """helix/calibration/packaged.py of this fit."""

    def numbers(values: Sequence[float]) -> str:
        return pprint.pformat(tuple(round(value, 4) for value in values), width=90, compact=True)

    return f'''"""The fits that Helix brings, by the embedder's identity.

Written by ``python -m evals.calibration.world --write`` (evals/CALIBRATION.md).
"""

from __future__ import annotations

from helix.calibration.model import GateModel

_OFFLINE = GateModel(
    embedder="{model.embedder}",
    weights={numbers(model.weights)},
    means={numbers(model.means)},
    deviations={numbers(model.deviations)},
    intercept={model.intercept:.4f},
    least={np.floor(model.least * 1000) / 1000:.3f},
)
PACKAGED = {{model.embedder: model for model in (_OFFLINE,)}}
"""By ``Embedder.identity``; another embedder needs a fit of its own (docs/calibration.md)."""
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--write", action="store_true", help="write the fit that Helix brings")
    arguments = parser.parse_args()
    world = ask_all(arguments.data)
    for line in tables(world):
        print(line, flush=True)
    print(f"\n```python\n{written(packaged(world))}```")
    if arguments.write:
        PACKAGED.write_text(written(packaged(world)), encoding="utf-8")


if __name__ == "__main__":
    main()
