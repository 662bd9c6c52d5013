"""``python -m evals.natural --documents DIR``: natural questions, each asked of its document.

Prints a table: right, wrong, wrong with every statement marked supported and relevant, refused.
``python -m evals.natural.documents DIR`` brings the documents. The half ``unopened`` is for the
figures of finished work: no choice may be made on what it shows.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from evals.cases import CaseError
from evals.database import ingest, settings_of_run
from evals.metrics.statistics import wilson
from evals.natural.documents import Half, documents
from evals.natural.questions import AskedQuestion, NaturalQuestion, is_green, questions
from evals.report.data import write_json
from evals.suites import Suite
from helix.answering.answer import Question
from helix.answering.pipeline import AnswerRequest
from helix.domain.scope import Scope
from helix.errors import HelixError
from helix.services import Services, open_services
from helix.settings import Settings

SUITE = "natural"
_IDS = """
SELECT row_to_json(x) FROM (
    SELECT id, source_uri FROM documents WHERE tenant_id = %(tenant)s) x
"""


def main() -> int:
    """Ask, and print what came of it; 2 where the run could not be made."""
    parser = argparse.ArgumentParser(
        prog="evals.natural", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--documents", type=Path, required=True, help="the folder of the documents")
    parser.add_argument("--half", choices=("tuning", "unopened"), default="tuning")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every answer")
    options = parser.parse_args()
    try:
        with settings_of_run() as settings:
            asked = measured(settings, options.documents, options.half)
    except (HelixError, CaseError) as error:
        print(error, file=sys.stderr)
        return 2
    print(table(asked))
    if options.json:
        write_json(options.json, {"answers": [_row(one) for one in asked]})
    return 0


def measured(settings: Settings, folder: Path, half: Half) -> list[AskedQuestion]:
    """The questions of ``half``, asked of the documents in ``folder``.

    Raises:
        CaseError: a document is missing or cannot be read.
        HelixError: as the services do.
    """
    listed = documents(half)
    if missing := [one.name for one in listed if not (folder / one.name).is_file()]:
        fetched = f"python -m evals.natural.documents {folder}"
        raise CaseError(f"{folder} lacks {missing[0]}: {fetched} brings it")
    with_kind = {one.name: one.kind for one in listed}
    suite = Suite(SUITE, folder.resolve().parent, folder.resolve().name, ())
    ingest(settings, suite)
    return asyncio.run(_asked(settings, suite, with_kind, questions(half)))


async def _asked(
    settings: Settings, suite: Suite, kinds: dict[str, str], asked: Sequence[NaturalQuestion]
) -> list[AskedQuestion]:
    async with open_services(settings) as services:
        rows = await services.library.of(suite.tenant).rows(_IDS, {})
        ids = {Path(row["source_uri"]).name: row["id"] for row in rows}
        return [
            await _answered(
                services, Scope(suite.tenant, document_ids=(ids[one.document],)), one, kinds
            )
            for one in asked
        ]


async def _answered(
    services: Services, scope: Scope, asked: NaturalQuestion, kinds: dict[str, str]
) -> AskedQuestion:
    request = AnswerRequest(services.answering, Question(asked.question, scope), recorded=False)
    response = await request.run_json()
    refused = bool(response["abstained"])
    green = not refused and is_green(response)
    return AskedQuestion(asked, kinds[asked.document], response["answer"], refused, green)


def table(asked: Sequence[AskedQuestion]) -> str:
    """The counts as Markdown: all answerable questions, by kind of document, the unanswerable."""
    answerable = [one for one in asked if one.question.answerable]
    others = [one for one in asked if not one.question.answerable]
    kinds = sorted({one.kind for one in answerable})
    groups = [
        ("all answerable", answerable),
        *((kind, [one for one in answerable if one.kind == kind]) for kind in kinds),
        ("not answered by the document", others),
    ]
    head = "| | questions | right | wrong | wrong and green | refused |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(_line(name, group) for name, group in groups if group)])


def _line(name: str, group: Sequence[AskedQuestion]) -> str:
    counts = {
        judgement: sum(one.judgement == judgement for one in group)
        for judgement in ("right", "wrong", "refused")
    }
    green = sum(one.judgement == "wrong" and one.green for one in group)
    values = (counts["right"], counts["wrong"], green, counts["refused"])
    shares = " | ".join(f"{value}: {wilson(value, len(group))}" for value in values)
    return f"| {name} | {len(group)} | {shares} |"


def _row(one: AskedQuestion) -> dict[str, object]:
    return {
        "document": one.question.document,
        "question": one.question.question,
        "wanted": one.question.wanted,
        "answer": one.answer,
        "judgement": one.judgement,
        "green": one.green,
    }


if __name__ == "__main__":
    sys.exit(main())
