"""A conversation's own row: created, locked, changed and deleted.

Each function works inside the caller's transaction, as the caller's tenant.
"""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from helix.conversations.names import no_conversation
from helix.domain.input_text import storable
from helix.library.access import row_of
from helix.storage.connections import Connected
from helix.storage.statements import conversations as sql


def create(
    connection: Connected,
    tenant: str,
    conversation_id: str,
    title: str,
    scope: dict[str, Any],
    model: str = "",
) -> bool:
    """Make an empty conversation; False where there is one of this id already."""
    values = {"tenant": tenant, "id": conversation_id, "title": storable(title),
              "scope": Jsonb(scope), "model": storable(model)}  # fmt: skip
    return connection.execute(sql.CREATE, values).fetchone() is not None


def hold(connection: Connected, tenant: str, conversation_id: str) -> dict[str, Any]:
    """Lock the conversation until the transaction ends; returns its scope.

    Raises:
        NotFound: there is none.
    """
    values = {"tenant": tenant, "id": conversation_id}
    held = row_of(connection, sql.HOLD, values)
    if held is None:
        raise no_conversation(conversation_id)
    return dict(held["scope"])


def change(
    connection: Connected,
    tenant: str,
    conversation_id: str,
    title: str | None,
    scope: dict[str, Any] | None,
    model: str | None = None,
    keeps_space: bool = False,
) -> None:
    """Change what is not None of a conversation; an empty ``model`` is the tenant's.

    With ``keeps_space`` it stays one of its space, if the new ``scope`` names none.

    Raises:
        NotFound: there is none.
    """
    values = {
        "tenant": tenant, "id": conversation_id,
        "title": None if title is None else storable(title),
        "scope": None if scope is None else Jsonb(scope),
        "model": None if model is None else storable(model), "keeps_space": keeps_space,
    }  # fmt: skip
    if connection.execute(sql.CHANGE, values).fetchone() is None:
        raise no_conversation(conversation_id)


def delete(connection: Connected, tenant: str, conversation_id: str) -> None:
    """Delete a conversation with all its messages and their events.

    Raises:
        NotFound: there is none.
    """
    values = {"tenant": tenant, "id": conversation_id}
    if connection.execute(sql.DELETE, values).fetchone() is None:
        raise no_conversation(conversation_id)
