"""Receipts and feedback in the database: written in one statement, read, and dropped in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from helix.ended import Ended
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row
from helix.library.errors import NotFound
from helix.receipts.receipt import Json, Marks, documents_of, receipt_of
from helix.receipts.storable import restored, restored_json, storable, storable_json
from helix.store import ChunkStore

Rating = Literal["up", "down"]
MAX_NOTE_CHARS = 2000
MOST_RATINGS = 100
"""Of one answer; the latest are kept."""
KEEP_SECONDS = 2.0
"""How long storing a receipt may hold up the end of its answer."""
BATCH = 1000

# A lost receipt is a smaller loss than the 1 to 10 ms that waiting for the disk takes; what is
# committed before a crash of the server within half a second may be lost, never torn. The time it
# is given up after a connection broke is a second try's, which finds what the first one wrote.
_KEEP = """
WITH soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO answers (tenant_id, id, question, document_ids, receipt)
SELECT %(tenant)s, %(id)s, %(question)s, %(documents)s, %(receipt)s::jsonb FROM soon
ON CONFLICT DO NOTHING RETURNING 1
"""
# Words of a document that is deleted are not shown, whether or not they are out of the row yet.
_READ = """
SELECT a.created_at, a.question,
    CASE WHEN missing.ids = '{}' THEN a.receipt ELSE without_documents(a.receipt, missing.ids) END,
    coalesce((
    SELECT jsonb_agg(jsonb_build_object(
        'rating', f.rating, 'note', f.note, 'created_at', f.created_at) ORDER BY f.id)
    FROM feedback f WHERE f.tenant_id = %(tenant)s AND f.answer_id = a.id), '[]')
FROM answers a, LATERAL (
    SELECT array(SELECT unnest(a.document_ids) EXCEPT
                 SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s)) AS missing (ids)
WHERE a.tenant_id = %(tenant)s AND a.id = %(id)s
    AND a.created_at > now() - make_interval(days => %(days)s)
"""
_RATE = """
INSERT INTO feedback (tenant_id, answer_id, rating, note)
SELECT tenant_id, id, %(rating)s, %(note)s FROM answers
WHERE tenant_id = %(tenant)s AND id = %(id)s
    AND created_at > now() - make_interval(days => %(days)s)
RETURNING created_at
"""
_LATEST = """
DELETE FROM feedback WHERE tenant_id = %(tenant)s AND answer_id = %(id)s AND id NOT IN (
    SELECT id FROM feedback WHERE tenant_id = %(tenant)s AND answer_id = %(id)s
    ORDER BY id DESC LIMIT %(most)s)
"""
_EXPIRED = """
DELETE FROM answers WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM answers WHERE created_at <= now() - make_interval(days => %(days)s)
    LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""
# What the trigger left: it takes the words out of some hundred receipts only, and saw none of an
# answer that was ending just then.
_MISSED = """
UPDATE answers a SET receipt = without_documents(a.receipt, missed.ids),
    document_ids = array(SELECT unnest(a.document_ids) EXCEPT SELECT unnest(missed.ids))
FROM (SELECT tenant_id, id, array_agg(document_id) AS ids
      FROM answers n, unnest(document_ids) AS document_id
      WHERE NOT EXISTS (
          SELECT FROM documents d WHERE d.tenant_id = n.tenant_id AND d.id = document_id)
      GROUP BY tenant_id, id LIMIT %(most)s) missed
WHERE a.tenant_id = missed.tenant_id AND a.id = missed.id
"""

_IN_ORDER = (
    "trace_id", "scope", "top_k", "answer", "abstained", "reason", "clarifying_question",
    "citations", "support", "verdict",
)  # fmt: skip

_logger = logging.getLogger(__name__)


class Receipts:
    """The receipts of all tenants over the connections of ``store``: a helix.answering.Keeper.

    ``marks`` says what this process answers with now. ``kept`` and ``lost`` count, in this process,
    the receipts that were written and those that could not be.
    """

    def __init__(self, store: ChunkStore, marks: Callable[[], Marks]) -> None:
        self._store = store
        self.marks = marks
        self.kept = 0
        self.lost = 0

    async def keep(self, ended: Ended) -> bool:
        """Store the receipt of ``ended``; False, and a line in the log, where that fails."""
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                await self._keep(ended)
        except Exception as error:  # noqa: BLE001  an answer is worth more than its receipt
            self.lost += 1
            _logger.warning("a receipt was not kept: %s", type(error).__name__)
            return False
        self.kept += 1
        return True

    async def _keep(self, ended: Ended) -> None:
        tenant = ended.asked.scope.tenant
        values = {
            "tenant": tenant,
            "id": ended.asked.answer_id,
            "question": storable(ended.asked.question),
            "documents": documents_of(ended),
            "receipt": storable_json(receipt_of(ended, self.marks())),
        }
        await self._store.of(tenant).fetch(_KEEP, values)


async def read_receipt(library: Library, answer_id: str, days: int) -> Json:
    """The receipt with its id, time, question and feedback; without its prompt.

    Raises:
        NotFound: the tenant has none of this id, or it was kept long enough.
        BadRequest: it is no id.
    """
    row = await library.data(_READ, {"id": checked_id(answer_id), "days": days})
    if row is None:
        raise no_answer(answer_id, days)
    created_at, question, receipt, feedback = row
    found = restored_json(receipt)  # in the order of jsonb, which is no order to read in
    named = {key: found.pop(key, None) for key in _IN_ORDER}
    return {
        "answer_id": answer_id,
        "created_at": _moment(created_at),
        "question": restored(question),
        **named,
        **found,
        "feedback": restored_json(feedback),
    }


def rate(
    connection: Connected, answer_id: str, rating: Rating, note: str, days: int, tenant: str
) -> Row:
    """Add feedback to an answer, inside the caller's transaction.

    Raises:
        NotFound, BadRequest: as read_receipt does.
    """
    values = {
        "tenant": tenant, "id": checked_id(answer_id), "rating": rating, "note": storable(note),
        "days": days,
    }  # fmt: skip
    row = connection.execute(_RATE, values).fetchone()
    if row is None:
        raise no_answer(answer_id, days)
    connection.execute(_LATEST, values | {"most": MOST_RATINGS})
    return {
        "answer_id": answer_id, "rating": rating, "note": note, "created_at": _moment(row[0])
    }  # fmt: skip


def drop_expired(connection: Connected, days: int) -> int:
    """Delete receipts older than ``days``, of all tenants, a batch a transaction; how many."""
    return _in_batches(connection, _EXPIRED, {"days": days, "most": BATCH})


def forget_missed(connection: Connected) -> int:
    """Take the words of deleted documents out of the receipts that their deletion left."""
    return _in_batches(connection, _MISSED, {"most": BATCH})


def _in_batches(connection: Connected, statement: str, values: dict[str, int]) -> int:
    done = 0
    while True:
        batch = connection.execute(statement, values).rowcount
        done += batch
        if batch < BATCH:
            return done


def checked_id(text: str) -> str:
    """``text`` if it can be an answer's id.

    Raises:
        BadRequest: it cannot.
    """
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise BadRequest("an answer's id has 32 hex characters, as answer_id and X-Answer-Id do")
    return text


def no_answer(answer_id: str, days: int) -> NotFound:
    """The error for an id that no receipt has."""
    kept = f"receipts are kept for {days} days" if days else "HELIX_RECEIPT_DAYS=0 keeps none"
    return NotFound(f"there is no answer {answer_id}: {kept}")


def _moment(at: datetime) -> Any:
    return at.isoformat()
