"""The model that answers a tenant's questions which choose none, as the database has it."""

from __future__ import annotations

from helix.library.access import Connected, LibraryStore
from helix.storage.storable_text import storable

_READ = "SELECT model FROM tenant_settings WHERE tenant_id = %(tenant)s"
_WRITE = """
INSERT INTO tenant_settings (tenant_id, model) VALUES (%(tenant)s, %(model)s)
ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model
"""


class TenantModels:
    """The choices of tenants, read for each question: a change holds at once in every process."""

    def __init__(self, store: LibraryStore) -> None:
        self._store = store

    async def of(self, tenant: str) -> str | None:
        """The name of the model that ``tenant`` has chosen; None where it has chosen none.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        rows = await self._store.of(tenant).fetch(_READ, {"tenant": tenant})
        return str(rows[0]["model"]) if rows and rows[0]["model"] else None


def model_in(connection: Connected, tenant: str) -> str | None:
    """``TenantModels.of`` over a connection."""
    row = connection.execute(_READ, {"tenant": tenant}).fetchone()
    return str(row[0]) if row and row[0] else None


def choose_model(connection: Connected, tenant: str, name: str | None) -> None:
    """Make ``name`` the tenant's choice inside the caller's transaction; None: it has none."""
    connection.execute(_WRITE, {"tenant": tenant, "model": storable(name or "")})
