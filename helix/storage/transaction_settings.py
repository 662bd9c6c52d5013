"""The settings that make a transaction one tenant's, and show it a part of that tenant's rows."""

from __future__ import annotations

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
        values["as_of"] = reach.as_of.isoformat()
    if reach.spaces is not None:
        settings += sql.SET_SPACES
        values["spaces"] = _array_of(reach.spaces)
    return settings, values


@lru_cache(256)
def _array_of(spaces: tuple[int, ...]) -> str:
    """``spaces`` in order as Postgres writes an array; a thousand take a tenth of a millisecond."""
    return f"{{{','.join(map(str, sorted(spaces)))}}}"


def planned(statement: str, reach: Reach) -> str:
    """``statement`` as it is prepared for the role and the moment of ``reach``."""
    if reach.as_of is not None:
        statement = moments.then(statement)
    return statement if reach.spaces is None else statement + sql.LIMITED
