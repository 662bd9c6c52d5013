"""Searches of somebody who may read some spaces, whichever way they take through the indexes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import psycopg
import pytest
from pgvector import Vector
from pgvector.psycopg import register_vector

from helix.domain.scope import Scope
from helix.storage.statements.sessions import SET_SPACES, spaces_as_settings
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write
from tests.support.search_statements import indexed_searches
from tests.support.texts import paragraphs
from tests.support.wire.gemini import word_vector

DOCUMENTS, SPACES = 60, 12
TOP_K = 5


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> str:
    """Documents that stand in one space or more each."""
    texts = paragraphs(DOCUMENTS)
    rng = random.Random(4)

    async def fill() -> None:
        async with opened(module_database_url) as store:
            for number, text in enumerate(texts):
                await asyncio.to_thread(write, store, record(f"{number}.txt", text))

    asyncio.run(fill())
    with psycopg.connect(module_database_url) as connection:
        connection.execute(
            "INSERT INTO spaces (tenant_id, id, name)"
            " SELECT 'default', n, 'Number ' || n FROM generate_series(1, %s) n", (SPACES,),
        )  # fmt: skip
        for (number,) in connection.execute("SELECT id FROM documents").fetchall():
            stands_in = rng.sample(range(SPACES + 1), rng.choice([1, 1, 2, 3]))
            connection.execute(
                "UPDATE documents SET spaces = %s WHERE id = %s", (stands_in, number)
            )
    return module_database_url


def _permissions() -> Iterator[tuple[int, ...]]:
    rng = random.Random(5)
    for size in [0, 1, 1, 2, 3, 5, 8, SPACES, SPACES + 1]:
        yield tuple(rng.sample(range(SPACES + 1), size))


async def _found(store: ChunkStore) -> list[list[tuple[int, float]]]:
    """The documents that each permission's searches bring, with their distances."""
    found = []
    for number, spaces in enumerate(_permissions()):
        question = f"Which river is the longest of number {number}?"
        vector, scope = word_vector(question), Scope(spaces=spaces)
        hits = await store.search(vector, TOP_K, scope)
        both = await store.search_hybrid(question, vector, TOP_K, scope)
        hits += [one.hit for one in both.candidates]
        found.append([(hit.document_id, round(hit.distance, 6)) for hit in hits])
    return found


@pytest.mark.parametrize("is_listed", [False, True])
async def test_the_indexes_bring_what_comparing_all_that_may_be_read_does(
    filled: str, monkeypatch: pytest.MonkeyPatch, is_listed: bool
) -> None:
    """Documents are listed where their number is known, up to half of them."""
    async with opened(filled) as store:
        compared = await _found(store)
        if is_listed:
            with psycopg.connect(filled, autocommit=True) as connection:
                connection.execute("ANALYZE documents, spaces")
        with indexed_searches(monkeypatch):
            assert await _found(store) == compared
    assert any(compared) and compared[0] == []


@pytest.mark.parametrize("padding", [0, 3000])
def test_what_is_read_with_the_owners_rights_is_what_may_be_read(filled: str, padding: int) -> None:
    with psycopg.connect(filled) as connection:
        register_vector(connection)
        connection.execute("SELECT set_config('helix.tenant', 'default', true)")
        # Once the tables are analyzed the index of vectors may be taken, which brings its first 40
        connection.execute("SET LOCAL enable_indexscan = off")
        keys, weights = _question(connection)
        everything = [one for (one,) in connection.execute("SELECT id FROM documents")]
        lists = (None, [*everything, *range(10**9, 10**9 + padding)])
        for spaces in _permissions():
            connection.execute(f"SELECT ''{SET_SPACES}", spaces_as_settings(tuple(spaces)))
            readable = {one for (one,) in connection.execute("SELECT id FROM chunks")}
            terms = connection.execute("SELECT chunk_id, impacts::text, length FROM chunk_terms")
            terms_of = {one: terms for one, *terms in terms}
            for documents in lists:
                near = connection.execute(
                    "SELECT id FROM readable_chunks_near(%s, 200, %s)",
                    (Vector(word_vector("river")), documents),
                )
                assert {one for (one,) in near} == readable
                by_words = connection.execute(
                    "SELECT id, impacts::text, length FROM lexical_chunks(%s, %s, 7, %s)",
                    (keys, weights, documents),
                ).fetchall()
                assert len(by_words) == min(7, len(terms_of))
                assert all(terms_of[one] == terms for one, *terms in by_words)


def _question(connection: psycopg.Connection) -> tuple[list[int], str]:
    """Keys that all chunks of the tenant have one of, and weights of terms."""
    row = connection.execute(
        "SELECT array_agg(DISTINCT key), (SELECT impacts::text FROM chunk_terms LIMIT 1)"
        " FROM chunk_terms, unnest(keys) key"
    ).fetchone()
    assert row is not None
    return row
