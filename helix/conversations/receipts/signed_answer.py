"""A signed answer: what a receipt says, with the hashes of what it cites, for strangers to verify.

``verify_answer.py`` beside it is the one file that they need. A signed answer is made while every
quote is in its place in what is stored, and says so; it outlives receipt, documents and server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from helix import __version__
from helix.answering.numbering import for_readers
from helix.conversations.questions import space_of_answer
from helix.conversations.receipts.receipt_store import no_answer, read_receipt
from helix.conversations.receipts.stored_sources import of_moment
from helix.conversations.receipts.verify_answer import FORMAT, canonical
from helix.library.access import Library, Row
from helix.library.errors import Conflict
from helix.library.signing_keys import signing_key
from helix.storage.statements import receipts as sql

if TYPE_CHECKING:
    from helix.settings import Settings

Json = dict[str, Any]
_TEXT_HASH = re.compile("[0-9a-f]{64}")
_SPAN = ("n", "document_id", "start", "end", "quote", "page", "label")
_CITATION = (*_SPAN, "kind", "title", "source_url")


async def signed_answer(library: Library, reference: str, settings: Settings) -> Json:
    """``{"proof": …, "signature": …}`` of an answer of the tenant.

    ``reference`` is its id, or the SHA-256 of its text, for the latest of those of the library's
    owner that say just that.

    Raises:
        NotFound, BadRequest: as read_receipt does.
        Conflict: a document that it cites was changed or deleted since.
        StoreUnavailable: the database did not answer.
    """
    days = settings.receipt_days
    receipt = await read_receipt(library, await _id_of(library, reference, days), days)
    if receipt["answer"] is None:
        raise _cannot(receipt, "its words went with a document that was deleted")
    receipt = for_readers(receipt, len(receipt["index"]["sources"]))
    proof = _proof(receipt, await _documents(library, receipt), settings.url)

    def signed() -> Json:
        with library.store.connection() as connection, connection.transaction():
            key = signing_key(connection, settings.signing_key)
        return {"proof": proof, "signature": key.signature(canonical(proof))}

    return await library.aside(signed)


async def _id_of(library: Library, reference: str, days: int) -> str:
    if not _TEXT_HASH.fullmatch(reference):
        return reference
    values = {"digest": reference, "owner": library.reach.owner, "days": days}
    row = await library.data(sql.OF_TEXT, values)
    if row is None:
        raise no_answer("with this text", days)
    return str(row["id"])


def _proof(receipt: Json, documents: list[Json], issuer: str | None) -> Json:
    """The content that is signed: texts, whole numbers, true, false and null, and nothing else."""
    model = receipt["model"]
    proof = {
        "format": FORMAT,
        "issuer": issuer,
        "signed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "answer_id": receipt["answer_id"],
        "answered_at": receipt["created_at"],
        "made_by": {"helix": __version__, "model": model and receipt["models"]["llm"]},
        "question": receipt["question"],
        "answer": receipt["answer"],
        "abstained": receipt["abstained"],
        "reason": receipt["reason"],
        "statements": [_statement(one) for one in receipt["support"]["statements"]],
        "citations": [_part(one, _CITATION) for one in receipt["citations"]],
        "documents": documents,
    }
    return json.loads(json.dumps(proof))  # type: ignore[no-any-return]  # halves of a pair joined


def _statement(statement: Json) -> Json:
    told = _part(statement, ("start", "end", "supported", "status", "problem", "numbers"))
    return {**told, "spans": [_part(span, _SPAN) for span in statement["spans"]]}


def _part(fields: Json, names: Iterable[str]) -> Json:
    return {name: fields.get(name) for name in names}


async def _documents(library: Library, receipt: Json) -> list[Json]:
    """The documents that are quoted or cited, as they are stored, each quote in its place."""
    library = of_moment(library, receipt)
    cited = [one for one in receipt["citations"] if one["document_id"] is not None]
    spans = [span for one in receipt["support"]["statements"] for span in one["spans"]]
    quoted = [one for one in (*cited, *spans) if one["document_id"] and one["quote"] is not None]
    wanted = {one["document_id"] for one in (*cited, *quoted)}
    rows = {row["document_id"]: row for row in await _stored(library, wanted, quoted)}
    missing = wanted - rows.keys()
    if missing and (space := await space_of_answer(library, receipt["answer_id"])):
        attached = await _stored(library.of(space), missing, quoted)
        rows |= {row["document_id"]: row for row in attached}
    versions = {one["document_id"]: one.get("version_id") for one in cited}
    for number in sorted(wanted):
        row = rows.get(number)
        if row is None:
            raise _cannot(receipt, f"document {number} was deleted or moved beyond your reach")
        if not row.pop("holds") or versions.get(number) not in (None, row["file_sha256"]):
            raise _cannot(receipt, f"document {number} was changed")
    return [rows[number] | {"file_sha256": _hash_or_none(rows[number])} for number in sorted(rows)]


async def _stored(library: Library, documents: set[int], quoted: list[Json]) -> list[Row]:
    values = {
        "documents": sorted(documents),
        "ids": [one["document_id"] for one in quoted],
        "starts": [one["start"] for one in quoted],
        "ends": [one["end"] for one in quoted],
        "quotes": [one["quote"] for one in quoted],
    }
    return await library.rows(sql.CITED_DOCUMENTS, values) if documents else []


def _hash_or_none(row: Row) -> str | None:
    """The SHA-256 of its file; documents that other code wrote may have something else there."""
    return row["file_sha256"] if _TEXT_HASH.fullmatch(row["file_sha256"]) else None


def _cannot(receipt: Json, why: str) -> Conflict:
    return Conflict(
        f"answer {receipt['answer_id']} can no longer be proved: {why} since; ask again"
    )
