"""The wall between tenants: no connection keeps a tenant's name, no role or policy is missed."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import psycopg
import pytest
from llama_index.core.vector_stores import VectorStoreQuery
from psycopg import sql as composed

from db.errors import DatabaseError
from db.migrate import migrate
from helix.domain.scope import Scope
from helix.errors import StoreUnavailable
from helix.storage.statements.sessions import ROLE
from helix.store import ChunkStore
from tests.support.fake_embedder import nodes_of, opened, record, rows, write
from tests.support.wire.gemini import word_vector

_STATE = """
SELECT current_setting('role'), coalesce(current_setting('helix.tenant', true), ''),
       array(SELECT name || '=' || setting FROM pg_settings WHERE source = 'session' ORDER BY 1)
"""
_READING: tuple[object, ...] = (ROLE, "", ["jit=off", "plan_cache_mode=force_generic_plan"])
_WRITING: tuple[object, ...] = ("none", "", [])


async def _states_of_reading(store: ChunkStore) -> list[tuple[object, ...]]:
    pool = store.connections._reading
    held = [await pool.getconn() for _ in range(2)]
    states = [await (await connection.execute(_STATE)).fetchone() for connection in held]
    for connection in held:
        await pool.putconn(connection)
    return [state for state in states if state is not None]


def _states_of_writing(store: ChunkStore) -> list[tuple[object, ...]]:
    with ExitStack() as stack:
        held = [stack.enter_context(store.connection()) for _ in range(4)]
        states = [connection.execute(_STATE).fetchone() for connection in held]
    return [state for state in states if state is not None]


async def _read_in_every_way(store: ChunkStore) -> None:
    vector, narrowed = word_vector("water"), Scope("a", document_ids=(1,), tags=("x",))
    for scope in (Scope("a"), narrowed):
        await store.search(vector, 3, scope)
        await store.search_hybrid("water", vector, 3, scope)
        await asyncio.to_thread(store.connections.run_blocking, store.search, vector, 3, scope)
        await asyncio.to_thread(
            store.connections.run_blocking, store.search_hybrid, "water", vector, 3, scope
        )
    with pytest.raises(StoreUnavailable):
        await store.of("a").fetch("SELECT 1 / 0", {})
    with pytest.raises(StoreUnavailable):
        await store.of("a").fetch("SELECT FROM no_such_table", {})
    with pytest.raises(StoreUnavailable):
        await store.search([1.0], 3, Scope("a"))  # no vector of this width
    for step in range(4):
        reading = asyncio.ensure_future(store.of("a").fetch("SELECT pg_sleep(5)", {}))
        searching = asyncio.ensure_future(store.search_hybrid("water", vector, 3, Scope("a")))
        await asyncio.sleep(0.01 * step)
        for task in (reading, searching):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def _write_in_every_way(store: ChunkStore) -> None:
    own = store.of("a")
    write(own, record("x.txt", "water"))
    own.fingerprints(["x.txt"])
    own.delete("x.txt")
    document = record("y.txt", "other text")
    nodes = nodes_of(document, "777")
    nodes[0].embedding = [1.0]
    own.stage("777", document)
    with pytest.raises(ValueError):
        own.add(nodes)
    for opened_as in (own.transaction, lambda: store.connections.loading("a")):
        with pytest.raises(StoreUnavailable), opened_as() as connection:
            connection.execute("SELECT 1 / 0")
        with pytest.raises(RuntimeError), opened_as():
            raise RuntimeError


async def test_nothing_is_left_on_a_connection_that_goes_back(database_url: str) -> None:
    async with opened(database_url, pool_size=2) as store:
        await asyncio.to_thread(write, store.of("a"), record("a.txt", "water\n\nriver"))
        await _read_in_every_way(store)
        await asyncio.to_thread(_write_in_every_way, store)
        assert await _states_of_reading(store) == [_READING] * 2
        assert await asyncio.to_thread(_states_of_writing, store) == [_WRITING] * 4

        await asyncio.to_thread(write, store, record("a.txt", "water"))
        store.query(VectorStoreQuery(query_embedding=word_vector("water"), similarity_top_k=2))
        with pytest.raises(StoreUnavailable):
            store.query(VectorStoreQuery(query_embedding=[1.0], similarity_top_k=2))
        assert store._engine is not None
        with store._engine.connect() as connection:
            state = connection.exec_driver_sql(_STATE.replace("%", "%%")).one()
        assert tuple(state) == _WRITING


def test_event_loops_may_follow_each_other_and_run_at_once(database_url: str) -> None:
    store = ChunkStore(database_url, "test")

    async def numbers(count: int) -> list[object]:
        reads = (store.of("a").fetch(f"SELECT {number} AS n", {}) for number in range(count))
        return [row["n"] for rows in await asyncio.gather(*reads) for row in rows]

    for count in (20, 9, 9):  # so many that the first loop ends while its pool grows
        assert asyncio.run(numbers(count)) == list(range(count))
    with ThreadPoolExecutor() as threads:
        assert {*threads.map(lambda count: len(asyncio.run(numbers(count))), [9] * 4)} == {9}
    for _ in range(2):
        asyncio.run(store.close())
    with pytest.raises(StoreUnavailable):
        asyncio.run(numbers(1))


def test_a_role_that_may_not_create_roles_is_told_what_to_run(
    bare_database_url: str, module_database_url: str
) -> None:
    with psycopg.connect(bare_database_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE unable LOGIN")
        connection.execute("CREATE EXTENSION vector")
        connection.execute("GRANT CREATE ON SCHEMA public TO unable")
        connection.execute("ALTER ROLE helix_app RENAME TO helix_away")  # roles are the server's
        try:
            url = bare_database_url.replace("//postgres@", "//unable@")
            with pytest.raises(DatabaseError, match=r"unable may not create roles: .*helix_app"):
                migrate(url)
        finally:
            connection.execute("ALTER ROLE helix_away RENAME TO helix_app")
            connection.execute("DROP OWNED BY unable")
            connection.execute("DROP ROLE unable")


def test_policies_come_back_where_a_dump_lost_them(database_url: str) -> None:
    """Restored on a server without the roles, a dump has row security and no policy."""
    policies = "SELECT polrelid::regclass::text, polname::text FROM pg_policy ORDER BY 1, 2"
    before = rows(database_url, policies)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for table, name in before:
            dropping = composed.SQL("DROP POLICY {} ON {}")
            named = composed.Identifier(name), composed.Identifier(table)
            connection.execute(dropping.format(*named))
    migrate(database_url)
    assert rows(database_url, policies) == before != []
