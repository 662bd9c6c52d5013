"""Calibrate the gate: ``python -m evals.calibrate --target-risk 0.05``.

The questions come from the corpus in the database itself (``--generate N``, the default), from a
file (``--questions FILE.jsonl``: ``{"question": …, "covered": true}`` a line), or from a public set
that is made the corpus of a database of its own (``--data DIR --set squad2``). Both gates are swept
over them; the command prints what each would let pass and how often wrongly, recommends a
RETRIEVAL_MAX_DISTANCE whose risk is surely within the target, plots (``--html FILE``), and records
the fit (``--apply``).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.calibration import generate
from evals.calibration.asked import (
    COVERED,
    OFFLINE,
    Asked,
    Floats,
    Question,
    ask,
    by_distance,
    by_model,
    of,
)
from evals.calibration.curves import UNCOVERED_SHARE, Curve, Point, told, wilson
from evals.calibration.fitting import cross_fitted, fitted
from evals.calibration.labelled import read_questions
from evals.calibration.plot import page
from evals.calibration.world import NEIGHBOURS, ask_all
from helix.calibration.fits import GateFit, corpus_size, record_fit
from helix.calibration.model import PENALTY, GateModel
from helix.calibration.packaged import PACKAGED
from helix.errors import BadRequest, HelixError
from helix.hybrid_sql import Fusion
from helix.next_embedder import fusion_of, gate_ceiling
from helix.providers import build_embedder
from helix.providers.offline import MAX_DISTANCE
from helix.scope import DEFAULT_TENANT, tenant_name
from helix.services import open_store
from helix.settings import load_settings
from helix.store import ChunkStore

SETS = ("squad2", "covidqa", "scifact")
GENERATED_PENALTY = 1.0
"""Questions made of sentences are worded as these are: the weights stay near to those that Helix
brings, and what the corpus tells is the level."""
MADE_COVERAGE = 0.97
"""A model fitted to made questions refuses at least the rest of them: people's are worded less like
the documents. On SQuAD and COVID-QA 0.87 and 0.94 of the real ones then pass."""
LEAST_COVERAGE = 0.5
"""A gate that refuses more of what the documents answer is recorded only with ``--force``."""
_MOST_PASSAGES = 2000
_PASSAGES = """
SELECT document_id, content FROM chunks WHERE tenant_id = %(tenant)s
ORDER BY md5(id::text || %(seed)s), id LIMIT %(most)s
"""


@dataclass(frozen=True)
class Corpus:
    """What was asked, of how many documents and chunks, and by which embedder and ceiling."""

    asked: Sequence[Asked]
    embedder: str
    ceiling: float | None
    documents: int
    chunks: int
    generated: bool = False
    ignored: Sequence[str] = ()


@dataclass(frozen=True)
class Calibrated:
    """The curves of both gates, points of them, and the model fitted to all questions.

    ``plain`` and ``best`` are recommended: the upper end of their risk's interval is within the
    target. Of ``likely_plain`` and ``likely_best`` the risk itself is.
    """

    distance: Curve
    estimate: Curve | None
    model: GateModel | None
    plain: Point
    best: Point | None
    likely_plain: Point
    likely_best: Point | None

    @property
    def served(self) -> Point:
        """What ``--apply`` brings."""
        return self.best or self.plain


def calibrated(corpus: Corpus, target: float, uncovered: float) -> Calibrated:
    """Sweep both gates; the calibrated one is judged by fits that did not see the question.

    Raises:
        BadRequest: there is no covered question, or no other, or no chunk is at any distance.
    """
    kinds = [one.kind for one in corpus.asked]
    if COVERED not in kinds or len(set(kinds)) < 2:
        raise BadRequest("calibration needs covered questions and others: see docs/calibration.md")
    distance = Curve(by_distance(corpus.asked), kinds, uncovered)
    if not any(point.coverage for point in distance.points()):
        raise BadRequest("no covered question is near any chunk: ask of documents that are stored")
    plain, likely = distance.surely_within(target), distance.within(target)
    if not any(one.signals for one in corpus.asked):
        return Calibrated(distance, None, None, plain, None, likely, None)
    prior = PACKAGED.get(corpus.embedder) or next(iter(PACKAGED.values()), None)
    weights = prior.weights if prior else None
    penalty = GENERATED_PENALTY if corpus.generated else PENALTY
    scores = cross_fitted(
        corpus.asked, corpus.embedder, ignored=corpus.ignored, prior=weights, penalty=penalty,
        ceiling=corpus.ceiling,
    )  # fmt: skip
    model = fitted(
        corpus.asked, corpus.embedder, ignored=corpus.ignored, prior=weights, penalty=penalty
    )
    estimate = Curve(scores, kinds, uncovered)
    whole = Curve(by_model(corpus.asked, model, corpus.ceiling), kinds, uncovered)
    least = max(whole.surely_within(target).least, estimate.surely_within(target).least)
    loosest = whole.within(target).least
    if corpus.generated:
        least, loosest = (_tight(whole, one) for one in (least, loosest))
    return Calibrated(distance, estimate, model.asking(least), plain, estimate.at(least),
                      likely, estimate.at(loosest))  # fmt: skip


def _tight(curve: Curve, least: float) -> float:
    """``least``, or what lets MADE_COVERAGE pass where ``least`` lets pass more."""
    bound = curve.covering(MADE_COVERAGE).least
    return bound if curve.at(least).coverage > MADE_COVERAGE and np.isfinite(bound) else least


def report(corpus: Corpus, found: Calibrated, target: float) -> Iterator[str]:
    """What was found, line by line."""
    kinds = [one.kind for one in corpus.asked]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    chunks = f"{corpus.chunks} chunks, " if corpus.chunks else ""
    yield f"{corpus.documents} documents, {chunks}embedder {corpus.embedder}"
    yield f"questions: {counts}"
    share = found.distance.uncovered
    yield f"risk: the share of what passes that is not covered, {share:.0%} of questions being so"
    yield ""
    yield from _table(corpus, found, target)
    yield ""
    for gate, curve, point in (
        ("ceiling", found.distance, found.plain), ("calibrated gate", found.estimate, found.best)
    ):  # fmt: skip
        if curve and point and curve.intervals(point.least)[1][1] > target:
            yield f"no {gate} is sure to reach a risk of {target:.3f}: the surest one is named"
    yield f"recommended RETRIEVAL_MAX_DISTANCE={recommended(found):.2f}"
    yield "recommended: the upper end of the risk's interval is within the target; likely: the risk"


def recommended(found: Calibrated) -> float:
    """The ceiling of the plain gate, rounded down to two places: rounding admits nothing."""
    return float(np.floor(round(-found.plain.least, 6) * 100) / 100)


def _table(corpus: Corpus, found: Calibrated, target: float) -> Iterator[str]:
    others = found.distance.others
    head = f"{'gate':<34}{'coverage':<24}{'risk':<24}{'precision':<11}{'recall@5':<10}"
    yield head + "".join(f"{kind + ' refused':<28}" for kind in others)
    rows = [
        (f"distance <= {-point.least:.3f} ({name})", found.distance, point.least)
        for name, point in (("recommended", found.plain), ("likely", found.likely_plain))
    ]
    if corpus.ceiling is not None:
        now = f"distance <= {corpus.ceiling:.3f} (as set)"
        rows.insert(0, (now, found.distance, -corpus.ceiling))
    if found.estimate and found.best and found.likely_best:
        for name, point in (("recommended", found.best), ("likely", found.likely_best)):
            rows.append((f"calibrated >= {point.least:.3f} ({name})", found.estimate, point.least))
        for coverage in (0.80, 0.85):
            for name, curve in (("distance", found.distance), ("calibrated", found.estimate)):
                rows.append((f"{name} at {coverage:.2f}", curve, curve.covering(coverage).least))
    for name, curve, least in rows:
        yield _row(name, curve, least, corpus.asked)


def _row(name: str, curve: Curve, least: float, asked: Sequence[Asked]) -> str:
    point = curve.at(least)
    coverage, risk = curve.intervals(least)
    cells = f"{name:<34}{told(point.coverage, coverage):<24}{told(point.risk, risk):<24}"
    cells += f"{1 - point.risk:<11.3f}{_recall(asked, curve.scores, least):<10}"
    for kind, refused in point.refused.items():
        count = len(curve.of(kind))
        cells += f"{told(refused, wilson(round(refused * count), count)):<28}"
    return cells.rstrip()


def _recall(asked: Sequence[Asked], scores: Floats, least: float) -> str:
    """The share of the covered questions that pass and whose answer is among the first five."""
    known = [(one.found, s >= least) for one, s in zip(asked, scores, strict=True)
             if one.covered and one.found is not None]  # fmt: skip
    if not known:
        return "-"
    return f"{sum(bool(right and passed) for right, passed in known) / len(known):.3f}"


async def of_database(
    store: ChunkStore, questions: Sequence[Question], vectors: Sequence[Sequence[float]],
    fusion: Fusion | None, *, lexical: bool = True,
) -> list[Asked]:  # fmt: skip
    """Ask the store's tenant; without ``fusion`` by distance alone."""
    rows = await store.fetch(
        "SELECT id FROM documents WHERE tenant_id = %(tenant)s", {"tenant": store.tenant}
    )
    found = await ask(store, questions, vectors, fusion or Fusion(1.0), [int(r[0]) for r in rows])
    return [
        of(question, each, _found_again(question, each.hits), lexical=lexical)
        for question, each in found
    ]


def _found_again(question: Question, hits: Sequence[object]) -> bool | None:
    """Whether a generated question's own document is among the first five."""
    if question.kind != COVERED or not question.document:
        return None
    return any(getattr(hit, "document_id", None) == question.document for hit in hits)


async def generated(store: ChunkStore, count: int, seed: int) -> list[Question]:
    """``count`` covered questions of the store's tenant, as many left out, and foreign ones."""
    values = {"tenant": store.tenant, "seed": str(seed), "most": _MOST_PASSAGES}
    rows = await store.fetch(_PASSAGES, values)
    passages = [generate.Passage(int(document), content) for document, content in rows]
    own = generate.covered(passages, count, seed)
    several = len({passage.document_id for passage in passages}) > 1
    return [*own, *(generate.left_out(own) if several else ()), *generate.foreign()]


async def _of_settings(arguments: argparse.Namespace, target: float) -> int:
    settings = load_settings()
    async with AsyncExitStack() as stack:
        embedder = build_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        store = await stack.enter_async_context(open_store(settings, embedder))
        store = store.of(tenant_name(arguments.tenant))
        documents, chunks = await corpus_size(store)
        if not chunks:
            raise BadRequest(f"tenant {store.tenant} has no documents: ingest some first")
        questions = (
            read_questions(arguments.questions) if arguments.questions
            else await generated(store, arguments.generate, arguments.seed)
        )  # fmt: skip
        vectors = [
            await embedder.model.aget_query_embedding(question.text) for question in questions
        ]
        asked = await of_database(
            store, questions, vectors, fusion_of(settings, embedder), lexical=settings.gate_lexical
        )
        try:
            ceiling: float | None = gate_ceiling(settings, embedder)
        except HelixError:
            ceiling = None
        corpus = Corpus(
            asked, embedder.identity, ceiling, documents, chunks, not arguments.questions
        )
        found = _told(corpus, arguments, target)
        if arguments.apply:
            check_coverage(found, force=arguments.force)
            fit = fit_of(corpus, found, target)
            number = await asyncio.to_thread(record_fit, store, fit)
            print(f"recorded as fit {number} of tenant {store.tenant}; HELIX_GATE=calibrated"
                  " uses it within a minute")  # fmt: skip
    return 0


def check_coverage(found: Calibrated, *, force: bool) -> None:
    """Raise BadRequest for a gate that refuses too much to be recorded, unless by ``force``."""
    coverage = found.served.coverage
    if coverage < LEAST_COVERAGE and not force:
        raise BadRequest(
            f"not recorded: the gate would let pass {coverage:.2f} of the covered questions, below"
            f" {LEAST_COVERAGE:g}; raise --target-risk, label more questions, or give --force"
        )


def fit_of(corpus: Corpus, found: Calibrated, target: float) -> GateFit:
    """What ``--apply`` records."""
    best = found.served
    measured = {
        "questions": len(corpus.asked), "generated": corpus.generated,
        "distance": {"coverage": found.plain.coverage, "risk": found.plain.risk},
        "calibrated": {"coverage": best.coverage, "risk": best.risk},
    }  # fmt: skip
    ceiling = recommended(found)
    return GateFit(
        corpus.embedder, ceiling if 0 <= ceiling <= 2 else None, found.model, corpus.documents,
        corpus.chunks, target, measured,
    )  # fmt: skip


def _told(corpus: Corpus, arguments: argparse.Namespace, target: float) -> Calibrated:
    found = calibrated(corpus, target, arguments.uncovered_share)
    lines = list(report(corpus, found, target))
    print("\n".join(lines), flush=True)
    if arguments.html:
        curves = {"distance": found.distance}
        if found.estimate:
            curves["calibrated"] = found.estimate
        arguments.html.write_text(page("Calibration of the gate", lines, curves), encoding="utf-8")
    return found


def _of_set(arguments: argparse.Namespace, target: float) -> int:
    asked = ask_all(arguments.data, [arguments.set])[arguments.set]
    ignored = NEIGHBOURS.get(arguments.set, ())
    documents = len({one.question.document for one in asked if one.covered})
    corpus = Corpus(asked, OFFLINE, MAX_DISTANCE, documents, 0, ignored=ignored)
    _told(corpus, arguments, target)
    return 0


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("a share above 0 and below 1")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate and print; 1 with one line on stderr where it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m evals.calibrate", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--target-risk", type=_share, default=0.05)
    parser.add_argument("--uncovered-share", type=_share, default=UNCOVERED_SHARE,
                        help="of all questions, how many the documents do not cover")  # fmt: skip
    parser.add_argument("--data", type=Path, help="folder of the public sets, with --set")
    parser.add_argument("--set", choices=SETS, help="make this public set the corpus")
    parser.add_argument("--questions", type=Path, help="labelled questions, JSON lines")
    parser.add_argument("--generate", type=int, default=500, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tenant", default=DEFAULT_TENANT)
    parser.add_argument("--html", type=Path, help="write the report with its plots here")
    parser.add_argument("--apply", action="store_true", help="record the fit in the database")
    parser.add_argument("--force", action="store_true", help="record one that refuses too much")
    given = parser.parse_args(arguments)
    if bool(given.data) != bool(given.set) or (given.set and (given.questions or given.apply)):
        parser.error("--set goes with --data, and without --questions and --apply")
    try:
        if given.html and not given.html.parent.is_dir():
            raise BadRequest(f"{given.html} cannot be written: give a file in a folder")
        if given.set:
            return _of_set(given, given.target_risk)
        return asyncio.run(_of_settings(given, given.target_risk))
    except HelixError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
