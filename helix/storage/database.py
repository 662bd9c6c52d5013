"""The database behind ``DATABASE_URL``, running and with its schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
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


@contextmanager
def opened_url(settings: DatabaseSettings) -> Iterator[str]:
    """The URL of the database behind ``DATABASE_URL``, running and with its schema.

    The embedded database gets its schema here: it has nobody else to apply it.

    Raises:
        StoreUnavailable: database down or without schema.
    """
    with ExitStack() as stack:
        try:
            url = stack.enter_context(open_database(settings.database_url))
            prepare = migrate if is_embedded(settings.database_url) else check_schema
            prepare(url)
        except DatabaseError as error:
            raise StoreUnavailable(str(error)) from error
        yield url


@asynccontextmanager
async def open_url(settings: DatabaseSettings) -> AsyncIterator[str]:
    """The same, opened in a thread for an event loop; raises as ``opened_url`` does."""
    async with AsyncExitStack() as stack:
        opened = opened_url(settings)
        url = await asyncio.to_thread(opened.__enter__)
        stack.push(opened)
        yield url
