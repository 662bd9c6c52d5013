"""The database behind ``DATABASE_URL``, running and with its schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from db.errors import DatabaseError
from db.migrate import check_schema, migrate
from db.url import is_embedded, open_database
from helix.errors import StoreUnavailable


class DatabaseSettings(Protocol):
    """Settings that say where the database is, as helix.settings.Settings do."""

    @property
    def database_url(self) -> str:
        """``embedded`` or the URL of a server."""
        ...


@asynccontextmanager
async def open_url(settings: DatabaseSettings) -> AsyncIterator[str]:
    """The URL of the database behind ``DATABASE_URL``, running and with its schema.

    The embedded database gets its schema here: it has nobody else to apply it.

    Raises:
        StoreUnavailable: database down or without schema.
    """
    async with AsyncExitStack() as stack:
        try:
            database = open_database(settings.database_url)
            url = await asyncio.to_thread(database.__enter__)
            stack.push(database.__exit__)
            prepare = migrate if is_embedded(settings.database_url) else check_schema
            await asyncio.to_thread(prepare, url)
        except DatabaseError as error:
            raise StoreUnavailable(str(error)) from error
        yield url
