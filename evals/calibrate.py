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
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from evals.calibration import question_generator
from evals.calibration.curves import UNCOVERED_SHARE
from evals.calibration.plot import calibration_page
from evals.calibration.public_sets import NEIGHBOURS, search_sets
from evals.calibration.questions import COVERED, GateQuestion, read_questions
from evals.calibration.searches import SearchedQuestion, search_questions, searched
from evals.calibration.sweep import (
    Calibration,
    SearchedCorpus,
    calibrate,
    check_coverage,
    fit_of,
    report,
)
from helix.domain.retrieval import Fusion
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest, HelixError
from helix.evidence.vectors import IDENTITY as OFFLINE
from helix.providers.factories import build_embedder
from helix.providers.offline import MAX_DISTANCE
from helix.retrieval.calibration.fits import corpus_size, record_fit
from helix.retrieval.vector_space import fusion_of, gate_ceiling, open_store
from helix.settings import load_settings
from helix.store import ChunkStore

SETS = ("squad2", "covidqa", "scifact")
_MOST_PASSAGES = 2000
_PASSAGES = """
SELECT document_id, content FROM chunks WHERE tenant_id = %(tenant)s
ORDER BY md5(id::text || %(seed)s), id LIMIT %(most)s
"""


async def search_database(
    store: ChunkStore, questions: Sequence[GateQuestion], vectors: Sequence[Sequence[float]],
    fusion: Fusion | None, *, lexical: bool = True,
) -> list[SearchedQuestion]:  # fmt: skip
    """Ask the store's tenant; without ``fusion`` by distance alone."""
    rows = await store.fetch(
        "SELECT id FROM documents WHERE tenant_id = %(tenant)s", {"tenant": store.tenant}
    )
    found = await search_questions(
        store, questions, vectors, fusion or Fusion(1.0), [row["id"] for row in rows]
    )
    return [
        searched(question, each, _found_own_document(question, each.hits), lexical=lexical)
        for question, each in found
    ]


def _found_own_document(question: GateQuestion, hits: Sequence[object]) -> bool | None:
    """True where a generated question's own document is among the first five; None of others."""
    if question.kind != COVERED or not question.document:
        return None
    return any(getattr(hit, "document_id", None) == question.document for hit in hits)


async def generated_questions(store: ChunkStore, count: int, seed: int) -> list[GateQuestion]:
    """``count`` covered questions of the store's tenant, as many left out, and foreign ones."""
    values = {"tenant": store.tenant, "seed": str(seed), "most": _MOST_PASSAGES}
    rows = await store.fetch(_PASSAGES, values)
    passages = [question_generator.Passage(row["document_id"], row["content"]) for row in rows]
    own = question_generator.covered(passages, count, seed)
    several = len({passage.document_id for passage in passages}) > 1
    return [
        *own,
        *(question_generator.left_out(own) if several else ()),
        *question_generator.foreign(),
    ]


async def _calibrate_database(arguments: argparse.Namespace, target: float) -> int:
    settings = load_settings()
    async with AsyncExitStack() as stack:
        embedder = build_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        store = await stack.enter_async_context(open_store(ChunkStore, settings, embedder))
        store = store.of(tenant_name(arguments.tenant))
        documents, chunks = await corpus_size(store)
        if not chunks:
            raise BadRequest(f"tenant {store.tenant} has no documents: ingest some first")
        questions = (
            read_questions(arguments.questions) if arguments.questions
            else await generated_questions(store, arguments.generate, arguments.seed)
        )  # fmt: skip
        vectors = [
            await embedder.model.aget_query_embedding(question.text) for question in questions
        ]
        asked = await search_database(
            store, questions, vectors, fusion_of(settings, embedder), lexical=settings.gate_lexical
        )
        try:
            ceiling: float | None = gate_ceiling(settings, embedder)
        except HelixError:
            ceiling = None
        corpus = SearchedCorpus(
            asked, embedder.identity, ceiling, documents, chunks, not arguments.questions
        )
        found = _reported(corpus, arguments, target)
        if arguments.apply:
            check_coverage(found, force=arguments.force)
            fit = fit_of(corpus, found, target)
            number = await asyncio.to_thread(record_fit, store, fit)
            print(f"recorded as fit {number} of tenant {store.tenant}; HELIX_GATE=calibrated"
                  " uses it within a minute")  # fmt: skip
    return 0


def _reported(corpus: SearchedCorpus, arguments: argparse.Namespace, target: float) -> Calibration:
    found = calibrate(corpus, target, arguments.uncovered_share)
    lines = list(report(corpus, found, target))
    print("\n".join(lines), flush=True)
    if arguments.html:
        curves = {"distance": found.distance}
        if found.estimate:
            curves["calibrated"] = found.estimate
        arguments.html.write_text(
            calibration_page("Calibration of the gate", lines, curves), encoding="utf-8"
        )
    return found


def _calibrate_set(arguments: argparse.Namespace, target: float) -> int:
    asked = search_sets(arguments.data, [arguments.set])[arguments.set]
    ignored = NEIGHBOURS.get(arguments.set, ())
    documents = len({one.question.document for one in asked if one.covered})
    corpus = SearchedCorpus(asked, OFFLINE, MAX_DISTANCE, documents, 0, ignored=ignored)
    _reported(corpus, arguments, target)
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
            return _calibrate_set(given, given.target_risk)
        return asyncio.run(_calibrate_database(given, given.target_risk))
    except HelixError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
