"""SQL that the statements of study share: an item with its spans, and whether it is stale."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from helix.library.access import Connected, Row
from helix.storage.statements import study_items as sql


def one(connection: Connected, statement: str, values: dict[str, Any]) -> Row | None:
    """The first row of a statement, by the names of its columns."""
    return connection.cursor(row_factory=dict_row).execute(statement, values).fetchone()


def items_of(connection: Connected, tenant: str, set_id: int) -> list[Row]:
    """The items of a set in their order, with their sources."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sql.ITEMS, {"tenant": tenant, "set_id": set_id}).fetchall()


def item_row(connection: Connected, tenant: str, item_id: int) -> Row | None:
    """One item with its sources; None where there is none of this id."""
    return one(connection, sql.ITEM, {"tenant": tenant, "item_id": item_id})
