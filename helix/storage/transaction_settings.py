"""The settings that make a transaction one tenant's, and show it a part of that tenant's rows."""

from __future__ import annotations

from datetime import UTC
from functools import lru_cache
from typing import Any

from helix.domain.scope import WHOLE, Reach
from helix.storage.statements import moments
from helix.storage.statements import sessions as sql
from helix.storage.write_pool import Connected


def become(connection: Connected, tenant: str, reach: Reach = WHOLE) -> None:
    """Act as ``tenant`` until the transaction that is open on ``connection`` ends."""
    more, who = settings_of(tenant, reach)
    connection.execute(sql.AS_TENANT_IN_ROLE + more, who)


def settings_of(tenant: str, reach: Reach) -> tuple[str, dict[str, Any]]:
    """The settings that make a transaction one of ``reach``, with all the values that they bind."""
    settings = ""
    values: dict[str, Any] = {"tenant": tenant}
    if reach.owner:
        settings, values["owner"] = sql.SET_OWNER, reach.owner
    if reach.as_of is not None:
        settings += moments.SET_MOMENT
        values["as_of"] = reach.as_of.astimezone(UTC).isoformat()  # it takes offsets up to 16 hours
    if reach.spaces is not None:
        settings += sql.SET_SPACES
        values |= spaces_as_settings(reach.spaces)
    return settings, values


@lru_cache(256)
def spaces_as_settings(spaces: tuple[int, ...]) -> dict[str, str]:
    """The values of SET_SPACES: the ids in order, and their runs, as arrays in Postgres' notation.

    A run is its first id and the one behind its last. Both of a thousand ids take a third of a
    millisecond.
    """
    bounds = {*spaces} ^ {space + 1 for space in spaces}
    return {"spaces": _array_of(set(spaces)), "space_runs": _array_of(bounds)}


def _array_of(numbers: set[int]) -> str:
    return f"{{{','.join(map(str, sorted(numbers)))}}}"


def planned(statement: str, reach: Reach) -> str:
    """``statement`` as it is prepared for the role and the moment of ``reach``."""
    if reach.as_of is not None:
        statement = moments.then(statement)
    return statement if reach.spaces is None else statement + sql.LIMITED
