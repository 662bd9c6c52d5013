"""``python -m evals.real``: the golden set, and with ``--data DIR`` SQuAD and sec10q, asked of a
real model by llama.cpp in text form and in schema form, beside the offline answerer.

Every answer is kept below ``build/real``: a run that was broken off goes on. Questions come in an
order by a fixed seed in which every beginning is a fair sample of all.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from evals.cases import CaseError
from evals.database import ingest
from evals.real.answers import Answers
from evals.real.judged_answer import JudgedAnswer
from evals.real.llama import serving
from evals.real.models import LARGER, MODELS, ModelError, fetch, model_file
from evals.real.question_run import OFFLINE, SCHEMA, TEXT, Answerer, ask_missing, open_answerer
from evals.real.questions import RealQuestion, RealSuite, load_suites, shuffled
from evals.real.report import speed, table
from evals.suites import ROOT
from helix.errors import HelixError
from helix.settings import load_settings
from helix.telemetry.logs import configure_logging

FOLDER = ROOT / "build/real"
FORMS = (TEXT, SCHEMA)
TOP_K = 3


async def ask_all(
    given: argparse.Namespace, questions: Sequence[RealQuestion], answers: Answers
) -> list[str]:
    """Ask what was not asked yet, for ``given.minutes`` at most; the lines of the report."""
    end = time.monotonic() + 60 * given.minutes
    database = FOLDER / "database"
    async with AsyncExitStack() as stack:
        opened = stack.enter_async_context
        offline = await opened(open_answerer(OFFLINE, TEXT, given.top_k, database))
        for question in questions:
            await ask_missing(question, [offline], answers)
        models = [
            await opened(open_answerer(given.model, form, given.top_k, database, server))
            for form in given.form or FORMS
            # a server each, as where Helix runs: it keeps the beginning of its own prompts
            for server in [stack.enter_context(serving(model_file(given.model)))]
        ]
        for number, question in enumerate(questions):
            if time.monotonic() > end:
                break
            # each form first as often as the other
            asked = await ask_missing(question, models[:: -1 if number % 2 else 1], answers)
            if asked:
                took = ", ".join(f"{one.key.form} {one.whole:.0f} s" for one in asked)
                print(f"{number + 1}/{len(questions)} {question.id}: {took}", file=sys.stderr)
        answerers = [offline, *models]
        rows = [[await _judged(one, question, answers) for one in answerers]
                for question in questions]  # fmt: skip
        titles = [f"{one.name}, {one.form}" for one in answerers]
        return [*table(titles, rows), "", *_speed(questions, models, answers)]


async def _judged(
    answerer: Answerer, question: RealQuestion, answers: Answers
) -> JudgedAnswer | None:
    kept = answers.get(answerer.key(question))
    return await answerer.judged(question, kept) if kept else None


def _speed(
    questions: Sequence[RealQuestion], models: Sequence[Answerer], answers: Answers
) -> list[str]:
    by_form = {one.form: one for one in models}
    if set(by_form) != set(FORMS):
        return []
    pairs = []
    for question in questions:
        text, schema = (answers.get(by_form[form].key(question)) for form in FORMS)
        # without counts no model was asked: the gate refused
        if text and schema and text.tokens and schema.tokens and text.beside and schema.beside:
            pairs.append((text, schema))
    return list(speed(pairs))


def _stored(suites: Sequence[RealSuite]) -> None:
    settings = load_settings(
        database_url=f"embedded:{FOLDER / 'database'}", llm=OFFLINE, embedder=OFFLINE
    )
    for one in suites:
        ingest(settings, one.suite)


def main() -> int:
    """Ask everything, and print the table: 0, or 2 with a line that says why not."""
    parser = argparse.ArgumentParser(
        prog="evals.real", description=(__doc__ or "").partition("\n\n")[0]
    )
    add = parser.add_argument
    add("--data", type=Path, help="folder of the public sets; without it the golden set alone")
    add("--model", choices=MODELS, default=LARGER, help=f"default: {LARGER}")
    add("--form", action="append", choices=FORMS, help="one form; default: both")
    add("--top-k", type=int, default=TOP_K, metavar="N", help=f"sources; default: {TOP_K}")
    add("--minutes", type=float, default=600, help="ask for so long at most; then go on later")
    given = parser.parse_args()
    configure_logging("warning")
    try:
        fetch([given.model])
        FOLDER.mkdir(parents=True, exist_ok=True)
        suites = load_suites(given.data, FOLDER / "sets")
        _stored(suites)
        lines = asyncio.run(ask_all(given, shuffled(suites), Answers(FOLDER / "answers.jsonl")))
    except (HelixError, CaseError, ModelError) as error:
        print(f"evals.real: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
