"""Following a library: one look for all who follow, told of each change, over when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import psycopg
import pytest

from helix.errors import StoreUnavailable
from helix.library.access import Library
from helix.library.change_feed import changes
from tests.support.fake_embedder import opened
from tests.support.service_process import CuttableDatabase

PAUSE = 0.05
ADD = "INSERT INTO documents (title, source_uri, content_hash) VALUES (%(t)s, %(t)s, '')"


class CountedLibrary(Library):
    """A library that counts its reads."""

    reads = 0

    async def row(self, *arguments: Any) -> Any:
        self.reads += 1
        return await super().row(*arguments)


@pytest.fixture
async def library(database_url: str) -> AsyncIterator[CountedLibrary]:
    async with opened(database_url) as store:
        yield CountedLibrary(store)


async def _next(told: AsyncGenerator[dict[str, Any], None]) -> dict[str, Any]:
    return await asyncio.wait_for(anext(told), 60)


async def test_all_who_follow_share_one_look_and_hear_of_each_change(
    library: CountedLibrary, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as sql:
        async with aclosing(changes(library, PAUSE)) as one, aclosing(changes(library)) as two:
            assert (await _next(one)) == (await _next(two))
            assert len(library.watches) == 1
            sql.execute(ADD, {"t": "a"})
            added = await _next(one)
            assert added["documents"] == 1 and await _next(two) == added
            sql.execute("UPDATE documents SET tags = '{seen}'")
            labelled = await _next(one)
            assert labelled["documents"] == 1 and labelled["version"] != added["version"]
            sql.execute("INSERT INTO runs (kind) VALUES ('upload')")
            assert len((await _next(one))["runs"]) == 1
        assert library.watches == {}


async def test_a_tenant_hears_of_its_own_alone(library: CountedLibrary, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as sql:
        async with (
            aclosing(changes(library.of("acme"), PAUSE)) as acme,
            aclosing(changes(library.of("umbra"), PAUSE)) as umbra,
        ):
            await _next(acme)
            await _next(umbra)
            sql.execute("SET helix.tenant = 'acme'")
            sql.execute(ADD, {"t": "a"})
            assert (await _next(acme))["documents"] == 1
            sql.execute("SET helix.tenant = 'umbra'")
            sql.execute(ADD, {"t": "b"})
            sql.execute(ADD, {"t": "c"})
            last = await _next(umbra)
            while last["documents"] < 2:
                last = await _next(umbra)
            assert last["documents"] == 2


async def test_a_database_that_goes_away_ends_it_and_the_next_begins_anew(
    database_url: str,
) -> None:
    door = CuttableDatabase(database_url)
    try:
        async with opened(door.url) as store:
            library = Library(store)
            told = changes(library, PAUSE)
            await _next(told)
            door.shut()
            with pytest.raises(StoreUnavailable):
                await _next(told)
            assert library.watches == {}
            door.reopen()
            async with aclosing(changes(library, PAUSE)) as again:
                assert (await _next(again))["documents"] == 0
    finally:
        door.close()
