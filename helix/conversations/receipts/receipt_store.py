"""Receipts and feedback in the database: stored, read, rated, and deleted when they expire."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal

from helix.answering.answer import Answer
from helix.conversations.receipts.receipt import Configuration, Json, documents_of, receipt_of
from helix.domain.input_text import restored, restored_json, storable, storable_json
from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.library.errors import NotFound
from helix.storage.connections import Connected
from helix.storage.statements import receipts as sql
from helix.storage.tenant_store import TenantStore

Rating = Literal["up", "down"]
MAX_NOTE_CHARS = 2000
MOST_RATINGS = 100
"""Most ratings of one answer; the latest are kept."""
SAVE_SECONDS = 2.0
"""Longest that storing a receipt holds up the end of its answer."""
BATCH = 1000


_IN_ORDER = (
    "trace_id", "scope", "top_k", "answer", "abstained", "reason", "clarifying_question",
    "citations", "support", "verdict", "model",
)  # fmt: skip

_logger = logging.getLogger(__name__)


class Receipts:
    """Stores the receipts of all tenants over the connections of ``store``: a ``ReceiptStore``.

    ``saved`` and ``failed`` count the receipts that this process stored and failed to store.
    """

    def __init__(self, store: TenantStore, configuration: Configuration) -> None:
        self._store = store
        self._configuration = configuration
        self.saved = 0
        self.failed = 0

    async def save(self, answer: Answer, owner: str, seconds: float) -> bool:
        """Store the receipt of ``answer``; False, and a line in the log, where that fails.

        ``owner`` is who asked, as a Reach names it, ``seconds`` ago.
        """
        tenant = answer.question.scope.tenant
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                values = {
                    "tenant": tenant,
                    "id": answer.question.answer_id,
                    "question": storable(answer.question.text),
                    "documents": documents_of(answer),
                    "receipt": storable_json(receipt_of(answer, self._configuration)),
                    "owner": owner,
                    "seconds": seconds,
                }
                await self._store.of(tenant).fetch(sql.KEEP, values)
        except Exception as error:  # noqa: BLE001  an answer is worth more than its receipt
            self.failed += 1
            _logger.warning("a receipt was not kept: %s", type(error).__name__)
            return False
        self.saved += 1
        return True


async def read_receipt(library: Library, answer_id: str, days: int) -> Json:
    """The receipt with its id, time, question and feedback; without its prompt.

    Raises:
        NotFound: the tenant has no answer of this id, or none younger than ``days``.
        BadRequest: ``answer_id`` is not an answer's id.
    """
    row = await library.data(sql.SHOWN, {"id": checked_answer_id(answer_id), "days": days})
    if row is None:
        raise no_answer(answer_id, days)
    receipt = restored_json(row["receipt"])  # its keys are in the order of jsonb, for no reader
    in_order = {key: receipt.pop(key, None) for key in _IN_ORDER}
    return {
        "answer_id": answer_id,
        "created_at": row["created_at"].isoformat(),
        "question": restored(row["question"]),
        **in_order,
        **receipt,
        "removed": row["removed"],
        "feedback": restored_json(row["feedback"]),
    }


def rate(
    connection: Connected, answer_id: str, rating: Rating, note: str, days: int, tenant: str
) -> Row:
    """Add feedback to an answer, inside the caller's transaction.

    Beside what was added the row has the ``model`` that answered, and the ``spaces`` asked.

    Raises:
        NotFound, BadRequest: as read_receipt does.
    """
    values = {
        "tenant": tenant, "id": checked_answer_id(answer_id), "rating": rating,
        "note": storable(note), "days": days,
    }  # fmt: skip
    row = connection.execute(sql.RATE, values).fetchone()
    if row is None:
        raise no_answer(answer_id, days)
    created_at, model, spaces = row
    connection.execute(sql.TRIM_RATINGS, values | {"most": MOST_RATINGS})
    return {
        "answer_id": answer_id, "rating": rating, "note": note,
        "created_at": created_at.isoformat(), "model": model, "spaces": spaces,
    }  # fmt: skip


def delete_expired(connection: Connected, days: int) -> int:
    """Delete receipts older than ``days``, of all tenants; returns how many."""
    return _in_batches(connection, sql.DROP_EXPIRED, {"days": days, "most": BATCH})


def delete_old_feedback(connection: Connected, days: int) -> int:
    """Delete feedback older than ``days``, of all tenants; returns how many. Receipts stay."""
    return _in_batches(connection, sql.DROP_EXPIRED_RATINGS, {"days": days, "most": BATCH})


def forget_deleted_documents(connection: Connected) -> int:
    """Take the words of deleted documents out of the receipts that still have them; how many."""
    return _in_batches(connection, sql.FORGET_DELETED, {"most": BATCH})


def _in_batches(connection: Connected, statement: str, values: dict[str, int]) -> int:
    deleted = 0
    while True:
        batch = connection.execute(statement, values).rowcount
        deleted += batch
        if batch < BATCH:
            return deleted


def checked_answer_id(text: str) -> str:
    """``text`` if it can be an answer's id.

    Raises:
        BadRequest: it cannot.
    """
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise BadRequest("an answer's id has 32 hex characters, as answer_id and X-Answer-Id do")
    return text


def no_answer(which: str, days: int) -> NotFound:
    """The error of a tenant that has none such, or not any more."""
    retention = f"receipts are kept for {days} days" if days else "HELIX_RECEIPT_DAYS=0 keeps none"
    return NotFound(f"there is no answer {which}: {retention}")
