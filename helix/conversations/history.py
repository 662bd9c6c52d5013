"""The history that a question of a conversation is asked with: the turns on its path."""

from __future__ import annotations

from psycopg.rows import dict_row

from helix.domain.history import EarlierTurn, History
from helix.storage.connections import Connected, Row
from helix.storage.statements import messages as sql
from helix.storage.storable_text import restored, restored_json

HISTORY_TURNS = 50
"""The most turns of a question's history; older ones are in the summary."""


def history_of(
    connection: Connected, tenant: str, conversation_id: str, leaf: int | None
) -> History:
    """The last answered turns of the path that ends in ``leaf``, and the latest summary on it."""
    if leaf is None:
        return History()
    values = {"tenant": tenant, "id": conversation_id, "leaf": leaf, "most": HISTORY_TURNS}
    rows = connection.cursor(row_factory=dict_row).execute(sql.HISTORY, values).fetchall()
    turns = tuple(_earlier_turn(row) for row in rows)
    latest = max(rows, key=lambda row: row["summarised"], default=None)
    if latest is None:
        return History()
    return History(turns, restored(latest["summary"]), latest["summarised"])


def _earlier_turn(row: Row) -> EarlierTurn:
    response = restored_json(row["response"])
    return EarlierTurn(
        restored(row["question"]),
        response.get("answer") or "",
        tuple(response.get("citations") or ()),
        bool(response.get("abstained")),
        tuple(row["document_ids"]),
    )
