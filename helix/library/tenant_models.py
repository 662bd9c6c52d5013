"""The models that answer a tenant's questions which choose none, as the database has them."""

from __future__ import annotations

from helix.domain.input_text import storable
from helix.library.access import Connected
from helix.storage.statements import tenant_settings as sql
from helix.storage.tenant_connections import TenantConnections


class TenantModels:
    """The choices of tenants, read for each question: a change holds at once in every process."""

    def __init__(self, store: TenantConnections) -> None:
        self._store = store

    async def of(self, tenant: str) -> str | None:
        """The name of the model that ``tenant`` has chosen; None where it has chosen none.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        rows = await self._store.of(tenant).fetch(sql.MODEL, {"tenant": tenant})
        return str(rows[0]["model"]) if rows and rows[0]["model"] else None

    async def usual(self, tenant: str, space: int | None) -> list[str]:
        """The names of the models that ``space`` and ``tenant`` have chosen, that first.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        values = {"tenant": tenant, "space": space}
        return [str(row["model"]) for row in await self._store.of(tenant).fetch(sql.MODELS, values)]


def model_in(connection: Connected, tenant: str) -> str | None:
    """``TenantModels.of`` over a connection."""
    row = connection.execute(sql.MODEL, {"tenant": tenant}).fetchone()
    return str(row[0]) if row and row[0] else None


def choose_model(connection: Connected, tenant: str, name: str | None) -> None:
    """Make ``name`` the tenant's choice inside the caller's transaction; None: it has none."""
    connection.execute(sql.SET_MODEL, {"tenant": tenant, "model": storable(name or "")})
