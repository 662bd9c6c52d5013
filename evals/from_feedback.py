"""``python -m evals.from_feedback --out FILE``: what people said of answers, as cases.

The last vote on an answer counts. An up vote becomes a case, asked within the same scope: its cited
passages are what must be found; of all documents, a refusal must be refused again. Anything else
becomes a case with ``review``, which is run only once a person has completed it: a down vote, an up
vote whose passages are not stored any more, and a refusal within some documents or for want of any.
Cases that FILE has already stay as they are. Run it with ``evals.run --cases FILE --tenant NAME``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from evals.cases import Case, CaseError, Passage, Within, load_cases
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import HelixError
from helix.settings import Settings, load_settings
from helix.storage.connections import unavailable
from helix.storage.database import open_url
from helix.storage.statements.sessions import become
from helix.telemetry.logs import configure_logging

_VOTES = """
SELECT DISTINCT ON (f.answer_id) f.answer_id, f.rating, f.note, a.question, a.receipt
FROM feedback f JOIN answers a ON a.tenant_id = f.tenant_id AND a.id = f.answer_id
WHERE f.tenant_id = %(tenant)s ORDER BY f.answer_id, f.id DESC
"""
_SOURCES = """
SELECT id, source_uri FROM documents d WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)
"""
_HOLDS = """
SELECT substr(text, %(start)s::int + 1, %(end)s::int - %(start)s::int) = %(quote)s AS holds
FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

Vote = Mapping[str, Any]
"""A row of _VOTES."""


async def cases_of(settings: Settings, tenant: str) -> list[Case]:
    """A case for every answer of ``tenant`` that was voted on, in the order of answers' ids.

    Raises:
        StoreUnavailable: the database is down or without schema.
    """
    async with open_url(settings) as url:
        return await asyncio.to_thread(_read, url, tenant)


def _read(url: str, tenant: str) -> list[Case]:
    try:
        with psycopg.connect(url, row_factory=dict_row) as connection:
            become(connection, tenant)  # type: ignore[arg-type]
            votes = connection.execute(_VOTES, {"tenant": tenant}).fetchall()
            return [_case(vote, _passages(connection, tenant, vote)) for vote in votes]
    except psycopg.Error as error:
        raise unavailable(error) from error


def _passages(
    connection: psycopg.Connection[dict[str, Any]], tenant: str, vote: Vote
) -> list[Passage] | None:
    """The passages that the answer cites, as stored now; None where one is no longer stored."""
    citations = vote["receipt"].get("citations") or []
    ids = [citation["document_id"] for citation in citations]
    rows = connection.execute(_SOURCES, {"tenant": tenant, "ids": ids}).fetchall()
    sources = {row["id"]: row["source_uri"] for row in rows}
    found: list[Passage] = []
    for citation in citations:
        source, quote, start = (
            sources.get(citation["document_id"]), citation.get("quote"), citation.get("start")
        )  # fmt: skip
        if source is None or not quote or start is None:
            return None
        values = {
            "tenant": tenant, "id": citation["document_id"],
            "quote": quote, "start": start, "end": citation["end"],
        }  # fmt: skip
        holds = connection.execute(_HOLDS, values)
        if not (row := holds.fetchone()) or not row["holds"]:
            return None
        found.append(Passage(source=source, text=quote, start=start))
    return found


_UNANSWERED = ("below_gate", "model_refused")
"""Reasons of a refusal that say something of the question, not of what was stored that day."""


def _case(vote: Vote, passages: Sequence[Passage] | None) -> Case:
    receipt = vote["receipt"]
    up, refused = vote["rating"] == "up", bool(receipt.get("abstained"))
    scope = Within.model_validate(receipt.get("scope") or {})
    again = receipt.get("reason") in _UNANSWERED and scope == Within()
    settled = up and (again if refused else bool(passages))
    said = f"{vote['rating']}: {vote['note']}" if vote["note"] else vote["rating"]
    return Case(
        id=f"feedback-{vote['answer_id']}",
        question=vote["question"],
        tags=("feedback", vote["rating"]),
        passages=tuple(passages or ()) if up and not refused else (),
        refusal=settled and refused,
        scope=scope,
        review=not settled,
        note=said,
    )


def merged(path: Path, found: Sequence[Case]) -> list[Case]:
    """The cases of ``path``, if there is such a file, then those of ``found`` that are new.

    Raises:
        CaseError: the file is not one of cases.
    """
    present = load_cases(path) if path.exists() else []
    known = {case.id for case in present}
    return present + [case for case in found if case.id not in known]


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Put ``cases`` into ``path`` as evals.cases reads them; raises CaseError."""
    rows = [case.model_dump(mode="json", exclude_defaults=True) for case in cases]
    try:
        path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except OSError:
        raise CaseError(
            f"{path.name} cannot be written: give a file in a folder of yours"
        ) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the file was written, 2 when not."""
    parser = argparse.ArgumentParser(prog="evals.from_feedback", description=_first_line())
    parser.add_argument("--out", type=Path, required=True, help="file of cases, new or to add to")
    parser.add_argument("--tenant", default=DEFAULT_TENANT, help="whose answers")
    given = parser.parse_args(arguments)
    configure_logging("warning")
    try:
        found = asyncio.run(cases_of(load_settings(), tenant_name(given.tenant)))
        cases = merged(given.out, found)
        write_cases(given.out, cases)
    except HelixError as error:
        print(f"evals: {error}", file=sys.stderr)
        return 2
    waiting = sum(case.review for case in cases)
    print(f"{len(found)} answers with a vote; {len(cases)} cases, {waiting} to be reviewed")
    return 0


def _first_line() -> str:
    return (__doc__ or "").splitlines()[0]


if __name__ == "__main__":
    raise SystemExit(main())
