"""One embedder a database: another is refused, unless nothing is stored any more."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core.schema import TextNode
from pgvector.psycopg import register_vector

from helix.domain.scope import DEFAULT_TENANT
from helix.errors import EmbedderMismatch
from helix.storage.document_writes import claim_embedder, replace_document
from helix.storage.pipelined_connections import WritingConnection
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, nodes_of, opened, record, rows, write
from tests.support.wire.gemini import word_vector

OLD = record("policy.txt", "Refunds take thirty days.\n\nShipping is free.\n\nCall us.", "Old")
NEW = record("policy.txt", "Refunds take five days.\n\nExchanges, too.", "New")
OTHER = record("other.txt", "Refunds are for others.\n\nElephants never forget.", "Other")
QUESTION = word_vector("How long do refunds take?")


async def test_another_embedder_is_refused_and_stores_nothing(database_url: str) -> None:
    async with opened(database_url) as store, opened(database_url, "other:model:1536") as wrong:
        write(store, OLD)
        for attempt in (
            wrong.check(),
            wrong.search(QUESTION, 5),
            asyncio.to_thread(wrong.connections.run_blocking, wrong.search, QUESTION, 5),
            asyncio.to_thread(write, wrong, OTHER),
            wrong.async_add([TextNode(text="adopted", embedding=QUESTION)]),
        ):
            with pytest.raises(EmbedderMismatch, match=f"filled by the embedder {IDENTITY}, but"):
                await attempt
        await store.check()
        assert len(await store.search(QUESTION, 9)) == 3
    assert rows(database_url, "SELECT source_uri FROM documents") == [("policy.txt",)]


async def test_an_emptied_database_can_be_claimed_anew(database_url: str) -> None:
    async with opened(database_url) as store, opened(database_url, "other:model:1536") as other:
        write(store, OLD)
        store.clear()
        await other.check()
        write(other, NEW)
        assert [h.content for h in await other.search(QUESTION, 1)] == ["Refunds take five days."]
        with pytest.raises(EmbedderMismatch, match=r"filled by the embedder other:model:1536"):
            write(store, OLD)


@pytest.mark.parametrize("emptied", [False, True])
def test_of_two_that_claim_at_once_one_fills_it(database_url: str, emptied: bool) -> None:
    stores = [ChunkStore(database_url, f"claimant:{name}:1536") for name in "abcd"]
    if emptied:
        write(stores[0], OLD)
        stores[0].clear()
    with ThreadPoolExecutor(4) as pool:
        writing = [
            pool.submit(write, store, record(f"{place}.txt", "One.\n\nTwo."))
            for place, store in enumerate(stores[-2:] * 2)
        ]
        errors = [error for each in writing if (error := each.exception())]
    for store in stores:
        store.connections.close_writing()
    assert {type(error) for error in errors} == {EmbedderMismatch}
    assert rows(database_url, "SELECT count(*) FROM documents") == [(4 - len(errors),)]
    assert len(errors) == 2


def test_a_claim_waits_for_a_write_that_has_begun(database_url: str) -> None:
    """Else both would see an empty table, and two embedders' vectors would lie in it."""
    other = ChunkStore(database_url, "other:model:1536")
    with (
        WritingConnection.connect(database_url) as connection,
        ThreadPoolExecutor(1) as pool,
    ):
        register_vector(connection)
        connection.execute("INSERT INTO embedding_space (identity) VALUES (%s)", (IDENTITY,))
        connection.commit()
        claim_embedder(connection, IDENTITY)
        replace_document(connection, DEFAULT_TENANT, NEW, nodes_of(NEW, "1"))
        waiting = pool.submit(write, other, OTHER)
        with pytest.raises(TimeoutError):
            waiting.result(0.3)
        connection.commit()
        with pytest.raises(EmbedderMismatch):
            waiting.result(10)
    other._connections.close_writing()
    assert rows(database_url, "SELECT source_uri FROM documents") == [("policy.txt",)]
