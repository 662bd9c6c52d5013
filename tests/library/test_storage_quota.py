"""Quotas of documents: two that each have room together have none, and growth alone takes room."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from helix.library.storage_quota import Quota, Room
from helix.settings import load_settings
from tests.support.fake_embedder import opened, record, rows, write

DOCUMENTS = Quota(documents=("HELIX_TENANT_DOCUMENTS", 1))


async def test_of_two_documents_added_at_once_one_finds_room(database_url: str) -> None:
    async with opened(database_url) as store:
        added = "INSERT INTO documents (title, source_uri, content_hash) VALUES ('t', %s, 'h')"

        def add(uri: str) -> None:
            with store.connection() as connection, connection.transaction():
                connection.execute(added, (uri,))
                DOCUMENTS.check_added(connection, "default")

        done = await asyncio.gather(
            *(asyncio.to_thread(add, f"https://example.com/{n}") for n in range(4)),
            return_exceptions=True,
        )
    assert sorted(type(each).__name__ for each in done) == ["NoRoom"] * 3 + ["NoneType"]
    assert "the limit is 1 (HELIX_TENANT_DOCUMENTS)" in str([each for each in done if each])
    assert rows(database_url, "SELECT count(*) FROM documents") == [(1,)]


async def test_a_stored_document_takes_the_room_of_its_growth_alone(database_url: str) -> None:
    settings = load_settings(
        DATABASE_URL=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
        HELIX_TENANT_DOCUMENTS="1", HELIX_TENANT_MB="1",
    )  # fmt: skip
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "Text."))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE documents SET size = 1000")
        room = Room(connection, settings, "default")
        assert not room.take(connection, "b.txt", 1)
        assert (room.refused, "HELIX_TENANT_DOCUMENTS" in room.reason) == (1, True)
        assert room.take(connection, "a.txt", 2**20)
        assert not room.take(connection, "a.txt", 2**21)
        assert "HELIX_TENANT_MB" in room.reason
        assert room.take(connection, "a.txt", 500)


@pytest.mark.parametrize(("documents", "size", "setting"), [(3, 0, "D"), (2, 2**20 + 1, "M")])
def test_which_quota_is_exceeded(documents: int, size: int, setting: str) -> None:
    excess = Quota(("D", 2), ("M", 1)).excess(documents, size)
    assert excess is not None and excess.setting == setting
    assert Quota(("D", 2), ("M", 1)).excess(2, 2**20) is None
    assert Quota().excess(10**9, 10**15) is None
