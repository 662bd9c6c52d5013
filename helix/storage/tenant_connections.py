"""One tenant's reads and transactions over shared connections, without a vector store."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Self

from helix.storage.connections import Connected, Connections, Row


class TenantConnections:
    """The part of a store that ``helix.library`` needs; it loads neither vectors nor LlamaIndex.

    Args:
        connections: of one database; whoever made them closes them.
        tenant: the tenant whose rows are read and changed.
    """

    _connections: Connections
    _tenant: str

    def __init__(self, connections: Connections, tenant: str) -> None:
        self._connections = connections
        self._tenant = tenant

    @property
    def connections(self) -> Connections:
        """The connections of all tenants: their URL, their state, code that cannot await."""
        return self._connections

    @property
    def tenant(self) -> str:
        """The tenant whose rows they are."""
        return self._tenant

    def of(self, tenant: str) -> Self:
        """The same connections for another tenant."""
        other = copy(self)
        other._tenant = tenant
        return other

    async def fetch(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """All rows of one read as this tenant, unless the database keeps silent."""
        return await self._connections.fetch(statement, values, self._tenant)

    async def read(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """``fetch`` of documents and chunks, on a replica too: see Connections.read."""
        return await self._connections.read(statement, values, self._tenant)

    def connection(self) -> AbstractContextManager[Connected]:
        """A connection that sees every tenant, in autocommit: for what keeps the database."""
        return self._connections.connection()

    def transaction(self) -> AbstractContextManager[Connected]:
        """A connection in one transaction as this tenant; an error rolls it back."""
        return self._connections.transaction(self._tenant)
