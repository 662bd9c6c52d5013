"""One tenant's reads and transactions over shared connections, without a vector store."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Self

from helix.domain.scope import WHOLE, Reach
from helix.storage.connections import Connected, Connections, Row


class TenantConnections:
    """The part of a store that ``helix.library`` needs; it loads neither vectors nor LlamaIndex.

    Args:
        connections: of one database; whoever made them closes them.
        tenant: the tenant whose rows are read and changed.
        reach: the part of them that is seen.
    """

    _connections: Connections
    _tenant: str
    _reach: Reach = WHOLE

    def __init__(self, connections: Connections, tenant: str, reach: Reach = WHOLE) -> None:
        self._connections = connections
        self._tenant = tenant
        self._reach = reach

    @property
    def connections(self) -> Connections:
        """The connections of all tenants: their URL, their state, code that cannot await."""
        return self._connections

    @property
    def tenant(self) -> str:
        """The tenant whose rows they are."""
        return self._tenant

    @property
    def reach(self) -> Reach:
        """The part of the tenant's rows that is seen."""
        return self._reach

    def of(self, tenant: str, reach: Reach = WHOLE) -> Self:
        """The same connections for another tenant, or another part of its rows."""
        other = copy(self)
        other._tenant, other._reach = tenant, reach
        return other

    async def fetch(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """All rows of one read as this tenant, unless the database keeps silent."""
        return await self._connections.fetch(statement, values, self._tenant, reach=self._reach)

    async def read(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """``fetch`` of documents and chunks, on a replica too: see Connections.read."""
        return await self._connections.read(statement, values, self._tenant, reach=self._reach)

    def connection(self) -> AbstractContextManager[Connected]:
        """A connection that sees every tenant, in autocommit: for what keeps the database."""
        return self._connections.connection()

    def transaction(self) -> AbstractContextManager[Connected]:
        """A connection in one transaction as this tenant; an error rolls it back."""
        return self._connections.transaction(self._tenant, reach=self._reach)
