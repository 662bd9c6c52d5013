"""Background maintenance of all tenants' conversations."""

from __future__ import annotations

from helix.conversations.liveness import LATE
from helix.storage.connections import Connected
from helix.storage.statements import message_events as sql
from helix.storage.statements import receipts, run_files

KEPT_DAYS = 7
"""Days for which the events of an answer are kept; the message itself has the whole answer."""
_MOST = 1000


def forget_removed(connection: Connected) -> int:
    """Take out the words of documents removed in the last hour that are left; how many rows.

    Of receipts, messages and the names of files of runs. Needs the owner's rights.
    """
    forgotten = connection.execute(run_files.FORGET_REMOVED).rowcount
    for statement in (receipts.FORGET_REMOVED, sql.FORGET_REMOVED):
        while True:
            cursor = connection.execute(statement, {"most": _MOST})
            row = cursor.fetchone() if cursor.description else None
            count = int(row[0]) if row else cursor.rowcount
            forgotten += count
            if count < _MOST:
                break
    return forgotten


def maintain_conversations(connection: Connected) -> int:
    """Mark interrupted answers, remove the words of deleted documents, delete old events.

    Needs the owner's rights. Returns how many answers lost a deleted document's words.
    """
    connection.execute(sql.INTERRUPT_ALL_LATE, LATE)
    forgotten = 0
    while True:
        row = connection.execute(sql.FORGET_DELETED, {"most": _MOST}).fetchone()
        count = int(row[0]) if row else 0
        forgotten += count
        if count < _MOST:
            break
    while connection.execute(sql.DROP_EVENTS, {"most": _MOST, "days": KEPT_DAYS}).rowcount > 0:
        continue
    return forgotten
