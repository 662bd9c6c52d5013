"""Documents in ChunkStore, on a real Postgres: each is whole, whoever writes or reads meanwhile."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.errors import StoreUnavailable
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, nodes_of, opened, record, rows, write
from tests.support.foreign_nodes import foreign_node
from tests.support.wire.gemini import word_vector

OLD = record("policy.txt", "Refunds take thirty days.\n\nShipping is free.\n\nCall us.", "Old")
NEW = record("policy.txt", "Refunds take five days.\n\nExchanges, too.", "New")
OTHER = record("other.txt", "Refunds are for others.\n\nElephants never forget.", "Other")
QUESTION = word_vector("How long do refunds take?")


def contents(hits: list[Hit]) -> list[str]:
    return [hit.content for hit in hits]


async def test_a_written_document_is_found_with_its_place(database_url: str) -> None:
    async with opened(database_url) as store:
        document_id = write(store, OLD)
        hits = await store.search(QUESTION, 5)
        assert store.connections.run_blocking(store.search, QUESTION, 5) == hits
        assert len(await store.search(np.asarray(QUESTION), 2)) == 2
    assert hits[0].content == "Refunds take thirty days."
    assert [hit.distance for hit in hits] == sorted(hit.distance for hit in hits)
    assert {(h.document_id, h.title, h.source_uri) for h in hits} == {
        (document_id, "Old", "policy.txt")
    }
    assert sorted(hit.ordinal for hit in hits) == [0, 1, 2]
    for hit in hits:
        assert hit.content == OLD.text[hit.start_char : hit.end_char]
    slices = "SELECT c.content = substr(d.text, start_char + 1, end_char - start_char)"
    assert (
        rows(database_url, slices + " FROM chunks c JOIN documents d ON d.id = document_id")
        == [(True,)] * 3
    )


async def test_replacing_keeps_the_id_and_nothing_else(database_url: str) -> None:
    async with opened(database_url) as store:
        other = write(store, OTHER)
        first = write(store, OLD)
        assert write(store, NEW) == first != other
        hits = await store.search(QUESTION, 10, Scope(document_ids=(first,)))
        assert sorted(contents(hits)) == ["Exchanges, too.", "Refunds take five days."]
        assert {hit.title for hit in hits} == {"New"}
        assert len(await store.search(QUESTION, 10)) == 4
        assert store.fingerprints(["policy.txt", "nowhere"]) == {
            "policy.txt": (NEW.content_hash, NEW.recipe, "New")
        }
    assert rows(database_url, "SELECT text FROM documents WHERE id = %s", first) == [(NEW.text,)]


@pytest.mark.parametrize("wrong", ["slice", "width", "missing vector", "infinite", "NUL"])
async def test_a_write_that_fails_leaves_the_old_version(database_url: str, wrong: str) -> None:
    async with opened(database_url) as store:
        document_id = write(store, OLD)
        store.stage(str(document_id), NEW)
        nodes = nodes_of(NEW, str(document_id))
        if wrong == "slice":
            nodes[1].metadata["start_char"] += 1
        elif wrong == "NUL":
            nodes[1].metadata["note"] = "a\x00b"
        else:
            vectors = {"width": [0.1] * 1535, "infinite": [float("inf")] * 1536}
            nodes[1].embedding = vectors.get(wrong)
        with pytest.raises((ValueError, StoreUnavailable)) as raised:
            store.add(nodes)
        assert "\n" not in str(raised.value) and "Exchanges" not in str(raised.value)
        assert sorted(contents(await store.search(QUESTION, 9))) == sorted(OLD.text.split("\n\n"))
        assert {hit.title for hit in await store.search(QUESTION, 9)} == {"Old"}


@pytest.mark.parametrize("times", [25, pytest.param(500, marks=pytest.mark.soak)])
async def test_a_reader_sees_the_old_version_or_the_new_one(database_url: str, times: int) -> None:
    versions = {tuple(sorted(d.text.split("\n\n"))): d.title for d in (OLD, NEW)}
    seen: list[tuple[tuple[str, ...], set[str]]] = []
    async with opened(database_url) as store, opened(database_url) as writer:
        document_id = write(store, OLD)
        writing = asyncio.create_task(asyncio.to_thread(_replace_often, writer, times))

        async def read() -> None:
            while not writing.done():
                for hits in (
                    await store.search(QUESTION, 10),
                    await store.search(QUESTION, 10, Scope(document_ids=(document_id,))),
                ):
                    found = tuple(sorted(contents(hits)))
                    seen.append((found, {hit.title for hit in hits}))

        await asyncio.gather(read(), read())
        await writing
    for found, titles in seen:
        assert found in versions, "neither the old version nor the new one, or both"
        assert titles == {versions[found]}
    assert {found for found, _ in seen} == set(versions), "the race must see both to tell anything"


def _replace_often(store: ChunkStore, times: int) -> None:
    for _ in range(times):
        write(store, NEW)
        write(store, OLD)


def test_writers_of_one_source_at_once_leave_one_version(database_url: str) -> None:
    stores = [ChunkStore(database_url, IDENTITY) for _ in range(4)]

    def write_often(store: ChunkStore) -> None:
        for _ in range(5):
            write(store, NEW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_often, stores))
    assert rows(database_url, "SELECT count(*) FROM documents") == [(1,)]
    assert rows(database_url, "SELECT content FROM chunks ORDER BY ordinal") == [
        ("Refunds take five days.",),
        ("Exchanges, too.",),
    ]
    for store in stores:
        store.connections.close_writing()


def test_adopters_of_one_document_at_once_all_add_to_it(database_url: str) -> None:
    stores = [ChunkStore(database_url, IDENTITY) for _ in range(4)]
    shared = str(write(stores[0], NEW))

    def add_often(place: int) -> None:
        for number in range(5):
            stores[place].add([foreign_node(shared, place * 5 + number, QUESTION)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_often, range(4)))
    for store in stores:
        store.connections.close_writing()
    assert rows(database_url, "SELECT array_agg(ordinal ORDER BY ordinal) FROM chunks") == [
        (list(range(22)),)
    ]
    assert rows(
        database_url,
        "SELECT bool_and(content = substr(text, start_char + 1, end_char - start_char))"
        " FROM chunks c JOIN documents d ON d.id = document_id",
    ) == [(True,)]
