"""Storage of items; each span is compared with the document's text in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from helix.library.access import Connected, Row, row_of, rows_of
from helix.storage.statements import study_items as sql
from helix.study.items import CheckedItems, Proven, body_of

CHANGED = "document changed"
"""The reason for dropping a proven item whose document changed before it was stored."""


def read_set(connection: Connected, tenant: str, set_id: int) -> Row | None:
    """A set's order and progress; None where it was deleted."""
    return row_of(connection, sql.SET, {"tenant": tenant, "id": set_id})


def keep_plan(
    connection: Connected, tenant: str, set_id: int, plan: Sequence[int], model: str
) -> None:
    """Store the chunks that a set is made of, and its model; an earlier plan stays."""
    values = {"tenant": tenant, "id": set_id, "plan": list(plan), "model": model}
    connection.execute(sql.PLAN, values)


def count_items(connection: Connected, tenant: str, set_id: int) -> tuple[int, int]:
    """(number of items, ``n`` of the last one) of a set."""
    row = row_of(connection, sql.COUNT, {"tenant": tenant, "id": set_id})
    return (int(row["made"]), int(row["last"])) if row else (0, 0)


def keep_step(
    connection: Connected, tenant: str, set_id: int, at: int, checked: CheckedItems
) -> bool:
    """Store the items of step ``at`` of a set's plan; False where they were stored already."""
    row = row_of(connection, sql.HOLD_SET, {"tenant": tenant, "id": set_id})
    if row is None or row["at"] != at:
        return False
    add_items(connection, tenant, set_id, checked)
    dropped: dict[str, int] = dict(row["dropped"])
    for reason, count in checked.dropped.items():
        dropped[reason] = dropped.get(reason, 0) + count
    values = {"tenant": tenant, "id": set_id, "at": at + 1, "dropped": Jsonb(dropped)}
    connection.execute(sql.ADVANCE, values)
    return True


def add_items(
    connection: Connected,
    tenant: str,
    set_id: int,
    checked: CheckedItems,
    more: Mapping[int, dict[str, Any]] | None = None,
) -> list[int | None]:
    """Add proven items at the end of a set; returns their ids, None where a span has changed.

    ``more`` has further keys of the body by the item's place in the list.
    """
    _, last = count_items(connection, tenant, set_id)
    ids: list[int | None] = []
    for place, proven in enumerate(checked.proven):
        body = body_of(proven.item) | ((more or {}).get(place) or {})
        item_id = _add(connection, tenant, set_id, last + 1, proven, body)
        ids.append(item_id)
        if item_id is None:
            checked.drop(CHANGED)
        else:
            last += 1
    return ids


def _add(
    connection: Connected, tenant: str, set_id: int, n: int, proven: Proven, body: dict[str, Any]
) -> int | None:
    values = {"tenant": tenant, "set_id": set_id, "n": n, "kind": proven.item.kind}
    row = row_of(connection, sql.ADD, values | {"body": Jsonb(body)})
    assert row is not None
    item_id = int(row["id"])
    for number, span in enumerate(proven.supports, 1):
        source = span.to_json() | {"tenant": tenant, "item_id": item_id, "n": number}
        if not connection.execute(sql.ADD_SOURCE, source).rowcount:
            connection.execute(sql.REMOVE, {"tenant": tenant, "id": item_id})
            return None
    return item_id


def add_unproven(
    connection: Connected, tenant: str, set_id: int, n: int, body: dict[str, Any]
) -> int:
    """Add a card that a person brought in and that rests on no span; returns its id."""
    values = {"tenant": tenant, "set_id": set_id, "n": n, "kind": "card", "body": Jsonb(body)}
    row = row_of(connection, sql.ADD, values)
    assert row is not None
    return int(row["id"])


def change_body(connection: Connected, tenant: str, item_id: int, body: dict[str, Any]) -> None:
    """Set keys of an item's body; its other keys stay."""
    connection.execute(sql.SET_BODY, {"tenant": tenant, "id": item_id, "body": Jsonb(body)})


def items_of(connection: Connected, tenant: str, set_id: int) -> list[Row]:
    """The items of a set in their order, with their sources."""
    return rows_of(connection, sql.ITEMS, {"tenant": tenant, "set_id": set_id})


def item_row(connection: Connected, tenant: str, item_id: int) -> Row | None:
    """One item with its sources; None where there is none of this id."""
    return row_of(connection, sql.ITEM, {"tenant": tenant, "item_id": item_id})
