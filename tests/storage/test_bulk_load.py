"""The vector index around a load: gone while an empty table fills, there at every end."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from db.migrate import migrate
from helix.errors import StoreUnavailable
from helix.storage import indexes as index
from helix.storage.connections import Connected
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, rows, write
from tests.support.wire.gemini import word_vector

TEXT = "Refunds take thirty days.\n\nShipping is free.\n\nCall us."


def indexed(url: str) -> bool:
    """True where the index is there and can be used."""
    found = rows(
        url, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", index.INDEX_NAME
    )
    return found == [(True,)]


async def test_a_first_load_is_indexed_at_its_end(database_url: str) -> None:
    async with opened(database_url) as store:
        assert indexed(database_url)
        async with store.bulk_load():
            assert not indexed(database_url)
            write(store, record("a.txt", TEXT))
            assert len(await store.search(word_vector("refunds"), 5)) == 3
        assert indexed(database_url)
        assert len(await store.search(word_vector("refunds"), 5)) == 3


def test_the_index_of_a_load_is_that_of_the_schema(database_url: str) -> None:
    definition = "SELECT pg_get_indexdef(to_regclass(%s))"
    of_schema = rows(database_url, definition, index.INDEX_NAME)
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert index.drop_if_empty(connection) and index.build_if_missing(connection)
    assert rows(database_url, definition, index.INDEX_NAME) == of_schema
    assert "halfvec_cosine_ops" in of_schema[0][0]


async def test_a_later_load_keeps_the_index(database_url: str) -> None:
    async with opened(database_url) as store:
        write(store, record("a.txt", TEXT))
        async with store.bulk_load():
            assert indexed(database_url)
            write(store, record("b.txt", TEXT))
        assert indexed(database_url)


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError, KeyboardInterrupt])
async def test_a_load_that_fails_is_indexed_too(
    database_url: str, error: type[BaseException]
) -> None:
    async with opened(database_url) as store:
        with pytest.raises(error):
            async with store.bulk_load():
                write(store, record("a.txt", TEXT))
                raise error
        assert indexed(database_url)


@pytest.mark.parametrize("mended_by", ["load", "migration"])
async def test_what_a_crash_left_without_index_is_mended_by_the_next(
    database_url: str, mended_by: str
) -> None:
    async with opened(database_url) as store:
        with psycopg.connect(database_url, autocommit=True) as connection:
            assert index.drop_if_empty(connection)  # as a load begins, and this one never ends
        write(store, record("a.txt", TEXT))
        assert not indexed(database_url)
        if mended_by == "load":
            async with store.bulk_load():
                assert not indexed(database_url), "there is something in it: built at the end"
        else:
            migrate(database_url)
        assert indexed(database_url)
        assert len(await store.search(word_vector("refunds"), 5)) == 3


async def test_loads_migrations_and_searches_at_once(database_url: str) -> None:
    loaded = asyncio.Event()

    async def load(name: str) -> None:
        async with opened(database_url) as store, store.bulk_load():
            for place in range(8):
                await asyncio.to_thread(write, store, record(f"{name}{place}.txt", TEXT))

    async def search(store: ChunkStore) -> None:
        while not loaded.is_set():
            await store.search(word_vector("refunds"), 5)
            await asyncio.sleep(0.005)

    async with opened(database_url) as store:
        searching = asyncio.create_task(search(store))
        await asyncio.gather(
            *(load(name) for name in "abcd"),
            *(asyncio.to_thread(migrate, database_url) for _ in range(4)),
        )
        loaded.set()
        await searching
    assert indexed(database_url)
    assert rows(database_url, "SELECT count(*) FROM documents") == [(32,)]
    assert rows(database_url, "SELECT count(*) FROM chunks") == [(96,)]


def test_the_index_is_built_serially_where_shared_memory_is_short(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The shortage is feigned: the parallel build gives up as it does in a small container."""
    real = index._build

    def short_of_memory(connection: Connected, workers: int | None) -> None:
        if workers is None:
            raise psycopg.errors.DiskFull("could not resize shared memory segment")
        real(connection, workers)

    monkeypatch.setattr(index, "_build", short_of_memory)
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert index.drop_if_empty(connection)
        assert index.build_if_missing(connection)
        assert not index.build_if_missing(connection)
    assert indexed(database_url)
    assert "building serially" in caplog.text


async def test_a_load_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helix.storage.connections.CONNECT_TIMEOUT_SECONDS", 1)
    async with opened("postgresql://user:hunter2@127.0.0.1:1/helix") as store:
        with pytest.raises(StoreUnavailable, match="did not answer"):
            async with store.bulk_load():
                raise AssertionError("began")
