"""SQL that the statements of study share: an item with its spans, and whether it is stale."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from helix.library.access import Connected, Row, compose

IS_STALE = "(d.content_hash, d.recipe) <> (s.content_hash, s.recipe)"
"""SQL: true if the document ``d`` of a source ``s`` has changed since the item was made of it."""

ITEM_COLUMNS = compose(
    """
i.id, i.n, i.kind, i.body, i.set_id,
EXISTS (SELECT FROM study_sources s JOIN documents d ON d.tenant_id = s.tenant_id
        AND d.id = s.document_id
        WHERE s.tenant_id = i.tenant_id AND s.item_id = i.id AND {stale}) AS stale,
(SELECT coalesce(jsonb_agg(jsonb_build_object(
     'document_id', s.document_id, 'chunk_id', s.chunk_id, 'title', d.title,
     'start', s.start_char, 'end', s.end_char, 'quote', s.quote, 'page', s.page,
     'label', s.label, 'heading_path', s.heading_path) ORDER BY s.n), '[]')
 FROM study_sources s JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
 WHERE s.tenant_id = i.tenant_id AND s.item_id = i.id) AS sources
""",
    stale=IS_STALE,
)
"""The columns of ``study_items i``: an item with its sources, as routes tell it."""

_ITEMS = compose(
    "SELECT {columns} FROM study_items i WHERE i.tenant_id = %(tenant)s AND i.set_id = %(set_id)s"
    " ORDER BY i.n",
    columns=ITEM_COLUMNS,
)
_ITEM = compose(
    "SELECT {columns} FROM study_items i WHERE i.tenant_id = %(tenant)s AND i.id = %(item_id)s",
    columns=ITEM_COLUMNS,
)


def one(connection: Connected, statement: str, values: dict[str, Any]) -> Row | None:
    """The first row of a statement, by the names of its columns."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement, values).fetchone()


def items_of(connection: Connected, tenant: str, set_id: int) -> list[Row]:
    """The items of a set in their order, with their sources."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(_ITEMS, {"tenant": tenant, "set_id": set_id}).fetchall()


def item_row(connection: Connected, tenant: str, item_id: int) -> Row | None:
    """One item with its sources; None where there is none of this id."""
    return one(connection, _ITEM, {"tenant": tenant, "item_id": item_id})
