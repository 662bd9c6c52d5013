"""Background maintenance of all tenants' conversations."""

from __future__ import annotations

from helix.conversations.liveness import INTERRUPT_ALL_LATE
from helix.library.access import compose
from helix.storage.connections import Connected

KEPT_DAYS = 7
"""Days for which the events of an answer are kept; the message itself has the whole answer."""
_MOST = 1000

# Words that the trigger of a deletion left, and answers that ended at the same time.
_FORGET_DELETED = """
WITH changed AS (
    UPDATE messages m SET response = response_without(m.response, gone.ids), summary = '',
        summarised = 0, document_ids = array(SELECT unnest(m.document_ids) EXCEPT
                                             SELECT unnest(gone.ids))
    FROM (SELECT tenant_id, conversation_id, id, array_agg(document_id) AS ids
          FROM messages n, unnest(document_ids) AS document_id
          WHERE n.status <> 'answering' AND NOT EXISTS (
              SELECT FROM documents d WHERE d.tenant_id = n.tenant_id AND d.id = document_id)
          GROUP BY tenant_id, conversation_id, id LIMIT %(most)s) gone
    WHERE m.tenant_id = gone.tenant_id AND m.conversation_id = gone.conversation_id
        AND m.id = gone.id
    RETURNING m.tenant_id, m.conversation_id, m.id),
untold AS (
    DELETE FROM message_events e USING changed c
    WHERE e.tenant_id = c.tenant_id AND e.conversation_id = c.conversation_id
        AND e.message_id = c.id)
SELECT count(*) FROM changed
"""
_DROP_EVENTS = compose(
    """
DELETE FROM message_events e USING (
    SELECT tenant_id, conversation_id, id FROM messages m
    WHERE finished_at < now() - make_interval(days => {days}) AND EXISTS (
        SELECT FROM message_events x WHERE x.tenant_id = m.tenant_id
            AND x.conversation_id = m.conversation_id AND x.message_id = m.id)
    LIMIT %(most)s) old
WHERE e.tenant_id = old.tenant_id AND e.conversation_id = old.conversation_id
    AND e.message_id = old.id
""",
    days=str(KEPT_DAYS),
)


def maintain_conversations(connection: Connected) -> int:
    """Mark interrupted answers, remove the words of deleted documents, delete old events.

    Needs the owner's rights. Returns how many answers lost a deleted document's words.
    """
    connection.execute(INTERRUPT_ALL_LATE)
    forgotten = 0
    while True:
        row = connection.execute(_FORGET_DELETED, {"most": _MOST}).fetchone()
        count = int(row[0]) if row else 0
        forgotten += count
        if count < _MOST:
            break
    while connection.execute(_DROP_EVENTS, {"most": _MOST}).rowcount > 0:
        continue
    return forgotten
