"""The tree of a conversation's messages: continuing, branching and switching.

Each function works inside the caller's transaction, as the caller's tenant. Adding a message locks
the conversation's row, so that messages are added one after another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from helix.conversations.conversation_rows import hold
from helix.conversations.liveness import LATE
from helix.conversations.names import Busy, no_message
from helix.domain.history import EarlierTurn, History
from helix.domain.input_text import restored, restored_json, storable, storable_json
from helix.library.access import row_of, rows_of
from helix.storage.connections import Connected, Row
from helix.storage.statements import conversations, message_events
from helix.storage.statements import messages as sql

HISTORY_TURNS = 50
"""The most turns of a question's history; older ones are in the summary."""


def history_of(
    connection: Connected, tenant: str, conversation_id: str, leaf: int | None
) -> History:
    """The last answered turns of the path that ends in ``leaf``, and the latest summary on it."""
    if leaf is None:
        return History()
    values = {"tenant": tenant, "id": conversation_id, "leaf": leaf, "most": HISTORY_TURNS}
    rows = rows_of(connection, sql.HISTORY, values)
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


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A question for a conversation.

    ``scope`` is as POST /v1/query takes it, None for the conversation's own. ``owner`` is the
    process that answers it. ``attachments`` describe the images that the question is about; None:
    it says nothing of them. The other fields are those of an imported turn, answered elsewhere.
    """

    question: str
    answer_id: str
    owner: str = ""
    scope: dict[str, Any] | None = None
    top_k: int | None = None
    model: str = ""
    attachments: list[dict[str, Any]] | None = None
    status: str = "answering"
    response: dict[str, Any] = field(default_factory=dict)
    document_ids: list[int] = field(default_factory=list)
    cited: dict[str, str] = field(default_factory=dict)
    error: str = ""
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class AddedMessage:
    """A message that was added, with the ``scope`` that holds for it and its history."""

    message_id: int
    parent_id: int | None
    scope: dict[str, Any]
    history: History


def add_message(
    connection: Connected,
    tenant: str,
    conversation_id: str,
    new: NewMessage,
    parent_id: int | None,
) -> AddedMessage:
    """Add ``new`` below ``parent_id``, None for the beginning; it becomes the active leaf.

    Raises:
        NotFound: there is no such conversation, or no such parent in it.
        Busy: a question of the conversation is being answered.
    """
    at = {"tenant": tenant, "id": conversation_id}
    own_scope = hold(connection, tenant, conversation_id)
    if parent_id is not None:
        message(connection, tenant, conversation_id, parent_id)
    if new.status == "answering":
        connection.execute(message_events.INTERRUPT_LATE, at | LATE)
        if row_of(connection, sql.ANSWERING, at) is not None:
            raise Busy
    scope = own_scope if new.scope is None else _in_space_of(own_scope) | new.scope
    if new.scope and set(new.scope) == {"as_of"}:  # of the conversation's documents, as they were
        scope = own_scope | new.scope
    connection.execute(sql.LEAVE_ACTIVE, at)
    added = row_of(connection, sql.INSERT, at | _values(new, scope, parent_id))
    assert added is not None
    connection.execute(conversations.TOUCH, at)
    history = history_of(connection, tenant, conversation_id, parent_id)
    return AddedMessage(added["id"], parent_id, scope, history)


def _in_space_of(scope: dict[str, Any]) -> dict[str, Any]:
    """The part of a conversation's scope that holds for a question with a scope of its own."""
    return {"space": scope["space"]} if "space" in scope else {}


def _values(new: NewMessage, scope: dict[str, Any], parent_id: int | None) -> Row:
    return {
        "parent": parent_id, "question": storable(new.question), "scope": Jsonb(scope),
        "top_k": new.top_k, "attachments": Jsonb(new.attachments or []), "model": new.model,
        "answer_id": new.answer_id, "owner": new.owner, "status": new.status,
        "response": storable_json(new.response), "documents": new.document_ids,
        "cited": Jsonb(new.cited), "error": storable(new.error), "created_at": new.created_at,
    }  # fmt: skip


def message(connection: Connected, tenant: str, conversation_id: str, message_id: int) -> Row:
    """The place of a message in its tree, and its question.

    Raises:
        NotFound: the conversation has none of this id.
    """
    values = {"tenant": tenant, "id": conversation_id, "message": message_id}
    found = row_of(connection, sql.OF_ID, values)
    if found is None:
        raise no_message(message_id)
    return found | {"question": restored(found["question"])}


def active_leaf(connection: Connected, tenant: str, conversation_id: str) -> int | None:
    """The message that the next question follows; None in an empty conversation."""
    found = row_of(connection, sql.ACTIVE, {"tenant": tenant, "id": conversation_id})
    return None if found is None else int(found["id"])


def switch(connection: Connected, tenant: str, conversation_id: str, message_id: int) -> int:
    """Make the path through ``message_id`` the active one; returns its leaf.

    Raises:
        NotFound: there is no such conversation, or no such message in it.
    """
    at = {"tenant": tenant, "id": conversation_id}
    hold(connection, tenant, conversation_id)
    branch = message(connection, tenant, conversation_id, message_id)["branch"]
    connection.execute(sql.LEAVE_ACTIVE, at)
    leaf = row_of(connection, sql.SWITCH, at | {"branch": branch})
    assert leaf is not None
    return int(leaf["id"])
