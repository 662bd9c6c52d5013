"""Sessions: whose rows a transaction sees, and by which plans it finds them."""

from __future__ import annotations

from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from helix.domain.scope import WHOLE, Reach
from helix.storage.statements import moments

if TYPE_CHECKING:
    from helix.storage.write_pool import Connected

# The role of a tenant's transactions, which may see the tenant's rows only.
ROLE = "helix_app"

# Planning the search anew each time costs a tenth of it: a bound LIMIT makes Postgres prefer that.
# And a plan whose estimate passes jit_above_cost would be compiled for longer than it runs.
READ_SETTINGS = f"SET ROLE {ROLE}; SET plan_cache_mode = force_generic_plan; SET jit = off"

# A pooler gives each transaction another server's session: what is set for one must end with it.
POOLED_SETTINGS = (
    f", set_config('role', '{ROLE}', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)"
)

# Whose role it is, whether it may act as tenants do, and whether row-level security binds it: then
# it does not own the tables.
MAY_ACT = """
SELECT current_user, (SELECT count(*) = cardinality(%(roles)s::name[]) FROM pg_roles
                      WHERE rolname = ANY(%(roles)s) AND pg_has_role(oid, 'MEMBER')),
       coalesce(row_security_active(to_regclass('chunks')), false)
"""

# Until the transaction ends: what goes back to its pool keeps nothing.
SET_TENANT = "set_config('helix.tenant', %(tenant)s, true)"

# With the owner's rights, for COPY: Postgres has none under row-level security.
AS_TENANT = f"SELECT {SET_TENANT}"

# As a role that owns nothing, so that row-level security binds it.
AS_TENANT_IN_ROLE = f"{AS_TENANT}, set_config('role', '{ROLE}', true)"

# The role of transactions that see the documents of some spaces only.
LIMITED_ROLE = "helix_limited"

# Those that the login has to be a member of.
ROLES = ROLE, LIMITED_ROLE

# With AS_TENANT, in its round trip: the spaces whose documents the transaction sees.
SET_SPACES = (
    ", set_config('helix.spaces', %(spaces)s, true)"
    ", set_config('helix.space_runs', %(space_runs)s, true)"
    f", set_config('role', '{LIMITED_ROLE}', true)"
)

# The same of whoever's conversations it sees.
SET_OWNER = ", set_config('helix.owner', %(owner)s, true)"

# Behind a statement that is prepared: the plans of one text are of one role, or each change of the
# role would plan it anew.
LIMITED = "/* limited */"

# A pooler gives its clients a process id of its own making.
BACKEND = "SELECT pg_backend_pid()"


def become(connection: Connected, tenant: str, reach: Reach = WHOLE) -> None:
    """Act as ``tenant`` until the transaction that is open on ``connection`` ends."""
    more, who = settings_of(tenant, reach)
    connection.execute(AS_TENANT_IN_ROLE + more, who)


def settings_of(tenant: str, reach: Reach) -> tuple[str, dict[str, Any]]:
    """The settings that make a transaction one of ``reach``, with all the values that they bind."""
    settings = ""
    values: dict[str, Any] = {"tenant": tenant}
    if reach.owner:
        settings, values["owner"] = SET_OWNER, reach.owner
    if reach.as_of is not None:
        settings += moments.SET_MOMENT
        # Postgres refuses offsets from 16 hours on
        values["as_of"] = reach.as_of.astimezone(UTC).isoformat()
    if reach.spaces is not None:
        settings += SET_SPACES
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
    return statement if reach.spaces is None else statement + LIMITED
