"""Sources as people know them: added, listed, changed, paused and removed; their syncs asked for.

Everything here is one or a few statements on the caller's connection, or reads of a Library. A sync
is a run of kind ``source``; the schema keeps two of one source from being open at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from helix.errors import BadRequest
from helix.library.errors import Conflict, NotFound
from helix.library.runs import notify
from helix.library.source_forms import checked_source
from helix.storage.statements import source_entries as entries_sql
from helix.storage.statements import sources as sql

if TYPE_CHECKING:  # helix.library.access loads what a list of keys need not
    from helix.library.access import Connected, Library, Row

_MOST_TOLD = 200
_JSON = ("options", "metadata", "group_map")
_GIVEN = (
    "name", "kind", "address", "options", "secrets", "include", "exclude", "max_bytes",
    "max_age_days", "spaces", "tags", "metadata", "folder_keys", "group_map", "every_seconds",
    "follow_removals", "host",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A source as a worker opens it; ``secrets`` are sealed."""

    tenant: str
    id: int
    name: str
    kind: str
    address: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    secrets: bytes | None = None
    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    max_bytes: int | None = None
    max_age_days: int | None = None
    spaces: list[int] = field(default_factory=lambda: [0])
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    folder_keys: list[str] = field(default_factory=list)
    group_map: dict[str, list[int]] = field(default_factory=dict)
    follow_removals: bool = True
    trusted: bool = False


def no_source(named: object) -> NotFound:
    """The error for a source that is not there, or may not be seen."""
    return NotFound(f"there is no source {str(named)[:100]}: `helix source list` has them")


async def list_sources(library: Library, ids: Sequence[int] | None = None) -> list[Row]:
    """The tenant's sources by name, or those of ``ids``; each with counts and its open sync."""
    return await library.rows(sql.LIST, {"ids": None if ids is None else list(ids)})


async def get_source(library: Library, source_id: int) -> Row:
    """One source, with what is gone there and waits, and what could not be read.

    Raises:
        NotFound: there is none of this id.
    """
    rows = await list_sources(library, [source_id]) if 0 < source_id < 2**63 else []
    if not rows:
        raise no_source(source_id)
    values = {"id": source_id, "most": _MOST_TOLD}
    told = await library.rows(entries_sql.TOLD, values)
    return {
        **rows[0],
        "gone": [row for row in told if row["gone_at"]],
        "unread": [row for row in told if row["reason"] and not row["gone_at"]],
    }


def sources_of(connection: Connected, tenant: str, ids: Sequence[int] | None = None) -> list[Row]:
    """``list_sources``, by the owner's connection."""
    values = {"tenant": tenant, "ids": None if ids is None else list(ids)}
    return [row for (row,) in connection.execute(sql.LIST, values)]


def told_of(connection: Connected, tenant: str, source_id: int) -> list[Row]:
    """The entries that are gone and wait, then those that could not be read."""
    values = {"tenant": tenant, "id": source_id, "most": _MOST_TOLD}
    return [row for (row,) in connection.execute(entries_sql.TOLD, values)]


def source_id_of(connection: Connected, tenant: str, named: str) -> int:
    """The id of a tenant's source by its name or id.

    Raises:
        NotFound: there is none.
    """
    row = connection.execute(sql.FIND, {"tenant": tenant, "named": named.strip()}).fetchone()
    if row is None:
        raise no_source(named)
    return int(row[0])


def load_source(connection: Connected, tenant: str, source_id: int) -> Source:
    """The source as a worker opens it.

    Raises:
        NotFound: it was removed meanwhile.
    """
    with connection.cursor(row_factory=class_row(Source)) as cursor:
        found = cursor.execute(sql.LOAD, {"tenant": tenant, "id": source_id}).fetchone()
    if found is None:
        raise no_source(source_id)
    return found


def add_source(
    connection: Connected, tenant: str, given: Mapping[str, Any], *, trusted: bool
) -> int:
    """Make a source of the columns ``given``; returns its id. ``secrets`` are sealed already.

    ``trusted``: it is made by whoever runs the server, and may be any folder and host.

    Raises:
        BadRequest: something of it is no such thing.
        Conflict: there is one of this name.
        NotFound: a space is not there.
    """
    values = dict.fromkeys(_GIVEN) | _defaults() | checked_source(given)
    if not values["name"] or not values["kind"]:
        raise BadRequest("a source has a name, a kind and an address")
    _check_spaces(connection, tenant, values["spaces"])
    values |= {"tenant": tenant, "trusted": trusted}
    row = connection.execute(sql.ADD, _bound(values)).fetchone()
    if row is None:
        raise Conflict(f"there is a source {values['name']} already")
    return int(row[0])


def _defaults() -> dict[str, Any]:
    lists: dict[str, list[str]] = {
        name: [] for name in ("include", "exclude", "tags", "folder_keys")
    }
    return {**lists, "spaces": [0], "follow_removals": True, "options": {}, "metadata": {},
            "group_map": {}}  # fmt: skip


def change_source(
    connection: Connected, tenant: str, source_id: int, given: Mapping[str, Any], *, trusted: bool
) -> None:
    """Change the columns ``given``; 0 as ``every_seconds``: it is synced when asked to.

    Other spaces and tags are its documents' at once, the rest with the next sync. A source whose
    address or options are changed is trusted no more, unless whoever changes them is, who alone
    leads the secrets that are stored to another place.

    Raises:
        BadRequest, Conflict, NotFound: as ``add_source``, and where there is none of this id.
    """
    from psycopg.errors import UniqueViolation

    source = load_source(connection, tenant, source_id)
    values = dict.fromkeys(_GIVEN) | checked_source({"kind": source.kind, **given})
    values["trusted"] = trusted or not {"address", "options", "secrets"} & given.keys()
    led = any(values[name] not in (None, getattr(source, name)) for name in ("address", "options"))
    if led and not trusted and source.secrets is not None and values["secrets"] is None:
        raise BadRequest(
            "secrets of this source go to its address alone: send them with another address or"
            " other options"
        )
    _check_spaces(connection, tenant, values["spaces"])
    try:
        connection.execute(sql.CHANGE, _bound(values) | {"tenant": tenant, "id": source_id})
    except UniqueViolation:
        raise Conflict(f"there is a source {values['name']} already") from None


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    json = {name: Jsonb(values[name]) for name in _JSON if values[name] is not None}
    return {**values, **json}


def spaces_there(connection: Connected, tenant: str) -> set[int]:
    """The ids of the tenant's spaces, the library's among them."""
    row = connection.execute(sql.SPACES, (tenant,)).fetchone()
    return {0, *(row[0] if row else ())}


def _check_spaces(connection: Connected, tenant: str, spaces: Sequence[int] | None) -> None:
    if spaces and (missing := set(spaces) - spaces_there(connection, tenant)):
        raise NotFound(f"there is no space {min(missing)}: `helix spaces list` has them")


def pause_source(connection: Connected, tenant: str, source_id: int, paused: bool) -> None:
    """Have no sync of it begin by itself any more, or again.

    Raises:
        NotFound: there is none of this id.
    """
    values = {"tenant": tenant, "id": source_id, "state": "paused" if paused else "active"}
    if connection.execute(sql.SET_STATE, values).fetchone() is None:
        raise no_source(source_id)


def start_sync(
    connection: Connected,
    tenant: str,
    source_id: int,
    *,
    dry_run: bool = False,
    yes: bool = False,
    again: bool = False,
    remove: bool = False,
) -> tuple[int, bool]:
    """(id, whether it was there already) of the source's open sync, made where there is none.

    ``dry_run``: it only tells what it would do. ``yes``: what waits to be removed is removed, where
    it is still gone. ``again``: what failed, or was deleted here, is read again. ``remove``: the
    source goes with its documents. A sync that is asked for something else than the open one is a
    Conflict.

    Raises:
        NotFound: there is none of this id.
        Conflict: another sync of it is under way.
    """
    asked = {"dry_run": dry_run, "yes": yes, "again": again, "remove": remove}
    options = {"source_id": source_id, **{name: True for name, wanted in asked.items() if wanted}}
    values = {"tenant": tenant, "id": source_id, "options": Jsonb(options)}
    if row := connection.execute(sql.START, values).fetchone():
        notify(connection, int(row[0]))
        return int(row[0]), False
    going = connection.execute(sql.OPEN_SYNC, values).fetchone()
    if going is None:
        raise no_source(source_id)
    run_id, status, other = going
    if status == "cancelling" or other != options:
        raise Conflict(f"run {run_id} syncs this source already: wait for it, or cancel it")
    return int(run_id), True


def reseal(
    connection: Connected, tenant: str, source_id: int, sealed: bytes, before: bytes | None
) -> None:
    """Store the secrets of a source as they are sealed now, unless it was given others since."""
    values = {"tenant": tenant, "id": source_id, "secrets": sealed, "before": before}
    connection.execute(sql.RESEAL, values)


def remove_source(connection: Connected, tenant: str, source_id: int) -> None:
    """Delete a source and leave its documents in the library, which nothing keeps in step then.

    Raises:
        NotFound: there is none of this id.
        Conflict: a sync of it is under way.
    """
    values = {"tenant": tenant, "id": source_id}
    if going := connection.execute(sql.OPEN_SYNC, values).fetchone():
        raise Conflict(f"run {going[0]} syncs this source: wait for it, or cancel it")
    if not delete_source(connection, tenant, source_id):
        raise no_source(source_id)


def delete_source(connection: Connected, tenant: str, source_id: int) -> bool:
    """Delete a source with what is known of its entries; true where there was one."""
    values = {"tenant": tenant, "id": source_id}
    return connection.execute(sql.DELETE, values).fetchone() is not None


def start_due(connection: Connected) -> list[int]:
    """Start the syncs that are due, of all tenants; the ids of their runs."""
    started = [int(run_id) for (run_id,) in connection.execute(sql.START_DUE)]
    for run_id in started:
        notify(connection, run_id)
    return started


def watched_folders(connection: Connected, host: str) -> list[tuple[str, int, str]]:
    """(tenant, id, folder) of the sources whose changes a worker of this machine looks for."""
    return connection.execute(sql.WATCHED, {"host": host}).fetchall()


def make_due(connection: Connected, tenant: str, source_id: int) -> None:
    """Have a source synced as soon as it can be; one that is paused stays so."""
    connection.execute(sql.DUE_NOW, {"tenant": tenant, "id": source_id})
