"""One tenant's reads and transactions over shared connections, without a vector store."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from helix.storage.connections import Connected, Connections, Row


class TenantConnections:
    """The part of a store that ``helix.library`` needs; it loads neither vectors nor LlamaIndex.

    Args:
        connections: of one database; whoever made them closes them.
        tenant: the tenant whose rows are read and changed.
    """

    def __init__(self, connections: Connections, tenant: str) -> None:
        self._connections = connections
        self._tenant = tenant

    @property
    def tenant(self) -> str:
        """The tenant whose rows they are."""
        return self._tenant

    def of(self, tenant: str) -> TenantConnections:
        """The same connections for another tenant."""
        return TenantConnections(self._connections, tenant)

    async def fetch(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """All rows of one read as this tenant, unless the database keeps silent."""
        return await self._connections.fetch(statement, values, self._tenant)

    def connection(self) -> AbstractContextManager[Connected]:
        """A connection in autocommit, with the rights of DATABASE_URL's own role."""
        return self._connections.connection()
