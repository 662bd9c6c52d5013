"""The store's errors where the database is down, restarts, lacks the schema or refuses."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import psycopg
import pytest

import helix.store
from helix.errors import StoreUnavailable
from helix.telemetry.logs import request_id
from tests.support.fake_embedder import opened, record, rows, write
from tests.support.foreign_nodes import foreign_node
from tests.support.wire.gemini import word_vector

POLICY = record("policy.txt", "Refunds take thirty days.\n\nShipping is free.\n\nCall us.", "Old")
QUESTION = word_vector("How long do refunds take?")


async def test_a_database_that_is_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    requests: set[tuple[str, str]] = set()

    def note_request(line: logging.LogRecord) -> bool:
        requests.add((line.name, request_id.get()))
        return True

    monkeypatch.setattr(helix.storage.connections, "CONNECT_TIMEOUT_SECONDS", 1)
    caplog.set_level(logging.DEBUG)
    caplog.handler.addFilter(note_request)
    request_id.set("asked")  # which opens the pools, and which their own lines outlive
    async with opened("postgresql://user:hunter2@127.0.0.1:1/helix") as store:
        assert await store.connections.ping() is False
        for attempt in (
            store.search(QUESTION, 5),
            asyncio.to_thread(store.reserve, "a.txt"),
            asyncio.to_thread(store.get_nodes, ["a"]),
            store.aget_nodes(["a"]),
        ):
            with pytest.raises(StoreUnavailable) as raised:
                await attempt
            assert str(raised.value) == (
                "the database did not answer: check that it is running and DATABASE_URL is right"
            )
    assert "hunter2" not in caplog.text
    assert {request for logger, request in requests if logger == "psycopg.pool"} == {"-"}


async def test_connections_killed_between_two_searches_are_survived(database_url: str) -> None:
    async with opened(database_url) as store:
        write(store, POLICY)

        async def use() -> list[Any]:
            await asyncio.gather(*(store.search(QUESTION, 1) for _ in range(8)))
            return [
                [hit.content for hit in await store.search(QUESTION, 1)],
                [hit.content for hit in store.connections.run_blocking(store.search, QUESTION, 1)],
                [node.get_content() for node in store.get_nodes(["none"])],
                [node.get_content() for node in await store.aget_nodes(["none"])],
                await store.connections.ping(),
            ]

        before = await use()
        for _ in range(2):
            killed = rows(
                database_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            assert len(killed) > 2
            assert await use() == before


async def test_a_missing_schema_says_what_to_run(bare_database_url: str) -> None:
    said = "the database has no Helix schema: run `helix migrate`"
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("CREATE EXTENSION vector")
    async with opened(bare_database_url) as store:
        for attempt in (
            store.check(),
            store.search(QUESTION, 5),
            asyncio.to_thread(store.reserve, "a.txt"),
            store.aget_nodes(["a"]),
        ):
            with pytest.raises(StoreUnavailable) as raised:
                await attempt
            assert str(raised.value) == said
        assert await store.connections.ping() is True


async def test_a_refused_statement_shows_no_text_of_a_document(database_url: str) -> None:
    async with opened(database_url) as store:
        twice = [foreign_node("secret text", 0, QUESTION)] * 2
        with pytest.raises(StoreUnavailable, match=r"refused the statement \(23505\)") as raised:
            store.add(twice)
        with pytest.raises(StoreUnavailable, match="refused the statement") as of_sqlalchemy:
            store.delete_nodes(["secret\x00text"])
    for error in (raised.value, of_sqlalchemy.value):
        assert "secret" not in str(error) and "\n" not in str(error)


async def test_a_closed_store_says_so(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.search(QUESTION, 1)
    with pytest.raises(StoreUnavailable):
        await store.search(QUESTION, 1)
