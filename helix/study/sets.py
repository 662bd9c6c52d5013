"""Sets: quizzes, decks, workshops and maps; ordered, listed, read, renamed and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row, row_of
from helix.library.errors import NotFound
from helix.library.pagination import decode_cursor, encode_cursor
from helix.library.runs import create_run
from helix.storage.statements import study_sets as sql
from helix.study.item_storage import items_of
from helix.study.items import Difficulty, Kind

COUNTS: dict[str, tuple[int, int, int]] = {
    "quiz": (5, 10, 50), "cards": (1, 20, 200), "workshop": (3, 6, 12), "map": (2, 40, 60),
}  # fmt: skip
"""By kind: the fewest items that can be asked for, the default number, and the most."""

_MOST_TITLES = 3


@dataclass(frozen=True, slots=True)
class NewSet:
    """An order of a set.

    ``scope`` is the scope of the request, as JSON; ``document_ids`` are its documents, None for
    the whole library. ``count`` is the number of items, None for the default of COUNTS.
    """

    kind: Kind
    title: str = ""
    scope: dict[str, Any] | None = None
    document_ids: Sequence[int] | None = None
    difficulty: Difficulty = "normal"
    count: int | None = None

    def item_count(self) -> int:
        """The number of items wanted.

        Raises:
            BadRequest: the count is beyond what a set of this kind may have.
        """
        fewest, usual, most = COUNTS[self.kind]
        count = usual if self.count is None else self.count
        if not fewest <= count <= most:
            raise BadRequest(f"count is not a whole number from {fewest} to {most}: a {self.kind}"
                             f" has {usual} items where none is given")  # fmt: skip
        return count


def no_set(set_id: int) -> NotFound:
    """The error for an id that no set of the tenant has."""
    return NotFound(f"there is no study set {set_id}: GET /v1/study lists them")


def add_set(connection: Connected, tenant: str, new: NewSet) -> int:
    """A set without items and without a run; returns its id. Raises as NewSet.item_count does."""
    row = row_of(connection, sql.ADD, {
        "tenant": tenant, "kind": new.kind, "title": new.title, "scope": Jsonb(new.scope or {}),
        "document_ids": None if new.document_ids is None else list(new.document_ids),
        "difficulty": new.difficulty, "wanted": new.item_count(),
    })  # fmt: skip
    assert row is not None
    return int(row["id"])


def order_set(connection: Connected, tenant: str, new: NewSet) -> int:
    """A set that is still to be made, and the run that will make it; returns the set's id.

    Raises:
        BadRequest: it has no document to be made of, or a count that no set may have.
    """
    if new.document_ids is not None and not new.document_ids:
        raise BadRequest("the scope has no document that can be read: choose another one")
    set_id = add_set(connection, tenant, new)
    run_id = create_run(connection, "study", {"set_id": set_id, "kind": new.kind}, tenant=tenant)
    connection.execute(sql.HAS_RUN, {"tenant": tenant, "id": set_id, "run_id": run_id})
    return set_id


async def list_sets(
    library: Library,
    kind: Kind | None = None,
    limit: int = 50,
    after: str | None = None,
    space: int | None = None,
) -> Row:
    """``{"sets": […], "next": cursor or None}``, newest first; of ``space``, where one is named.

    Raises:
        BadRequest: the cursor is none of this list.
    """
    last = decode_cursor(after, int)[0] if after is not None else None
    values = {"kind": kind, "last": last, "limit": limit + 1, "space": space}
    rows = await library.all_data(sql.LIST, values)
    page, more = rows[:limit], len(rows) > limit
    return {
        "sets": list(map(_with_title, page)),
        "next": encode_cursor(page[-1]["id"]) if more else None,
    }


async def get_set(library: Library, set_id: int) -> Row:
    """A set without its items.

    Raises:
        NotFound: there is none of this id.
    """
    row = await library.data(sql.GET, {"id": set_id})
    if row is None:
        raise no_set(set_id)
    return _with_title(row)


async def set_with_items(library: Library, set_id: int) -> tuple[Row, list[Row]]:
    """A set and its items as they are stored; raises as ``get_set`` does."""
    study_set = await get_set(library, set_id)
    items = await library.change(lambda connection: items_of(connection, library.tenant, set_id))
    return study_set, items


def _with_title(row: Row) -> Row:
    """A set's row with a title for people: the titles of its documents where none is given."""
    titles = row.pop("titles")
    several = ", ".join(titles[:_MOST_TITLES]) + (" …" if len(titles) > _MOST_TITLES else "")
    return row | {"title": row["title"] or several, "named": bool(row["title"])}


def rename_set(connection: Connected, tenant: str, set_id: int, title: str) -> None:
    """Give a set a title; an empty one shows its documents' again. Raises as ``get_set`` does."""
    values = {"tenant": tenant, "id": set_id, "title": title}
    if not connection.execute(sql.RENAME, values).rowcount:
        raise no_set(set_id)


def delete_set(connection: Connected, tenant: str, set_id: int) -> None:
    """Delete a set with its items, attempts and reviews. Raises as ``get_set`` does."""
    if not connection.execute(sql.DELETE, {"tenant": tenant, "id": set_id}).rowcount:
        raise no_set(set_id)
