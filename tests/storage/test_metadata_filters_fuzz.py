"""Filters under fuzz: no SQL error, no row but those that fit, nothing left on a connection.

What fits is worked out anew in Python, of the request's own JSON and of what was stored. The same
seed gives the same examples; `make soak` runs 20,000.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    VectorStoreQuery,
)
from sqlalchemy import text

from helix.errors import BadRequest
from helix.serving.query_request import query_request
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, opened, record, write
from tests.support.fuzzed_filters import METADATA, all_fit, some_filters
from tests.support.fuzzed_requests import (
    NOON,
    TAGS,
    TENANTS,
    URIS,
    Stored,
    encoded,
    fitting,
    request_body,
)
from tests.support.wire.gemini import word_vector

COUNTS = pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.soak)])
VECTOR = word_vector("stone river")


@dataclass(frozen=True)
class Fuzzed:
    """A database with documents in three tenants, and what they are."""

    url: str
    documents: list[Stored]


@contextmanager
def _writing(url: str) -> Iterator[ChunkStore]:
    store = ChunkStore(url, IDENTITY)
    yield store
    store.connections._writing.close()


@pytest.fixture(scope="module")
def fuzzed(module_database_url: str) -> Fuzzed:
    found: list[Stored] = []
    with _writing(module_database_url) as store:
        for tenant in TENANTS:
            for n, (uri, tags) in enumerate(zip(URIS, TAGS, strict=True)):
                document = replace(record(uri, f"stone {n}\n\nriver {n}"), tags=tags)
                number = write(store.of(tenant), document)
                found.append(Stored(number, tenant, uri, tags, NOON + timedelta(days=n)))
    with psycopg.connect(module_database_url, autocommit=True) as owner:
        for one in found:
            owner.execute("UPDATE documents SET updated_at = %s WHERE id = %s", (one.at, one.id))
    return Fuzzed(module_database_url, found)


async def _settings(store: ChunkStore) -> list[Any]:
    """The session settings of every pooled connection, its user and its tenant."""
    statement = (
        "SELECT array_agg(name || '=' || setting ORDER BY name)::text, current_user::text,"
        " coalesce(current_setting('helix.tenant', true), '') FROM pg_settings"
        " WHERE source = 'session'"
    )
    found: list[Any] = []
    async with store.connections._reading.connection() as connection:
        found.append(await (await connection.execute(statement)).fetchone())
    with store.connections.connection() as writing:
        found.append(writing.execute(statement.encode()).fetchone())
    with store.client.connect() as alchemy:
        found.append(tuple(alchemy.execute(text(statement)).one()))
    return found


@asynccontextmanager
async def _nothing_left(store: ChunkStore) -> AsyncIterator[None]:
    """Nothing in the block leaves a setting on a pooled connection."""
    store._initialize()
    assert await store.fetch("SELECT 1", {})  # connected; nothing was searched yet
    before = await _settings(store)
    assert before[0][1] == "helix_app" and {tenant for *_, tenant in before} == {""}
    yield
    assert await _settings(store) == before


@COUNTS
async def test_requests(fuzzed: Fuzzed, count: int) -> None:
    draw, ids = random.Random(4), [one.id for one in fuzzed.documents]
    accepted = found_some = 0
    async with opened(fuzzed.url, pool_size=1) as store, _nothing_left(store):
        for n in range(count):
            made = request_body(draw, ids)
            try:
                asked = query_request(encoded(made), 4000)
            except BadRequest as refused:
                assert "\n" not in str(refused) and len(str(refused)) < 400
                continue
            scope = asked.scope(asked.tenant_id or "default")
            if n % 2:
                hits = await store.search(VECTOR, 50, scope)
            else:
                hits = (await store.search_hybrid(asked.question, VECTOR, 50, scope)).hits
            expected = fitting(made, fuzzed.documents)
            assert {hit.document_id for hit in hits} == expected, made
            assert len(hits) == 2 * len(expected), made
            accepted += 1
            found_some += bool(expected)
    assert count / 4 < accepted < count and accepted / 3 < found_some < accepted


@pytest.fixture(scope="module")
def labelled(fuzzed: Fuzzed) -> str:
    """The database with a node a METADATA for each of two tenants."""
    with _writing(fuzzed.url) as store:
        for tenant in ("theirs", "ours"):
            nodes = [
                TextNode(id_=f"{tenant}-{n}", text=f"{n}", embedding=VECTOR, metadata=metadata)
                for n, metadata in enumerate(METADATA)
            ]
            store.of(tenant).add(nodes)
    return fuzzed.url


@COUNTS
async def test_filters_of_llamaindex(labelled: str, count: int) -> None:
    draw = random.Random(7)
    run = found_some = 0
    async with opened(labelled, pool_size=1) as everyone, _nothing_left(everyone):
        ours = everyone.of("ours")
        for _ in range(count):
            try:
                filters = some_filters(draw)
                query = VectorStoreQuery(
                    query_embedding=VECTOR, similarity_top_k=100, filters=filters
                )
                found = ours.query(query).ids or []
            except ValueError:  # before any statement; an error of the database is no ValueError
                continue
            sure = {f"ours-{n}": all_fit(each, filters) for n, each in enumerate(METADATA)}
            assert set(found) <= {name for name, (_, may) in sure.items() if may}, filters
            assert {name for name, (must, _) in sure.items() if must} <= set(found), filters
            assert len(found) == len(set(found))
            run += 1
            found_some += bool(found)
    assert run > count / 2 and run / 10 < found_some < run
