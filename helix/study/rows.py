"""SQL that the statements of study share: an item with its spans, and whether it is stale."""

from __future__ import annotations

from helix.library.access import Connected, Row, row_of, rows_of
from helix.storage.statements import study_items as sql


def items_of(connection: Connected, tenant: str, set_id: int) -> list[Row]:
    """The items of a set in their order, with their sources."""
    return rows_of(connection, sql.ITEMS, {"tenant": tenant, "set_id": set_id})


def item_row(connection: Connected, tenant: str, item_id: int) -> Row | None:
    """One item with its sources; None where there is none of this id."""
    return row_of(connection, sql.ITEM, {"tenant": tenant, "item_id": item_id})
