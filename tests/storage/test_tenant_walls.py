"""The wall between tenants in the database itself: what has it, and that it holds."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from llama_index.core.vector_stores import VectorStoreQuery
from psycopg import sql as composed

from helix.storage.statements.sessions import ROLES, SET_SPACES, become, spaces_as_settings
from tests.support.fake_embedder import opened, record, write
from tests.support.walled_rows import fill_tenants
from tests.support.wire.gemini import word_vector

NOBODYS = {"embedding_space", "embedding_change", "embedding_cache", "contacts", "schema_version",
           "people", "identities", "passkeys", "passkey_challenges", "signing_keys",
           "signing_secret", "backups", "erasures"}  # fmt: skip
"""Tables without a tenant's data: the cache is keyed by a hash of the text; people are of all."""
BY_ITSELF = "readable_documents"
"""A view with the owner's rights that has the wall in it."""
WITHOUT_POLICY = {
    "api_keys", "audit_events", "usage_counts", "members", "groups", "group_members", "sessions",
    "invitations", "space_members", "shares", "share_readers", "share_links", "comments",
    "usage_days", "usage_limits",
}  # fmt: skip
"""Walled off altogether."""
WALLED = (  # in an order that they can be emptied in
    "source_entries", "sources",
    "study_reviews", "study_cards", "study_attempts", "study_sources", "study_items", "study_sets",
    "chunk_versions", "document_versions", "chunk_terms", "chunks", "term_counts", "term_changes",
    "run_files", "runs", "feedback",
    "answers", "document_values", "document_names", "document_sources", "document_pages",
    "document_tables",
    "suggested_questions", "documents", "removals", "files", "loose_objects", "gate_fits",
    "message_events",
    "conversation_images", "messages", "conversations", "prompt_versions", "tenant_settings",
    "progress_sessions",    "progress_days", "progress_counts", "progress_totals", "spaces",
)  # fmt: skip
OF_CONVERSATIONS = {"messages", "message_events", "conversation_images"}
DEFINERS = {
    "tenant_of_key", "opened_by_key", "opened_by_session", "any_chunks", "purge_cache",
    "lexical_chunks", "readable_chunks_near", "answer_may_be_kept",
    "forget_in_answers", "forget_in_messages", "record_removals",
    "keep_version",
    "document_counts", "check_spaces", "leave_space", "readable_spaces", "editable_spaces",
    "item_is_readable", "set_is_readable", "are_readable", "is_tenant_owner", "limits_of",
}  # fmt: skip

_OURS = """
SELECT oid, relname, relkind FROM pg_class c WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'p', 'f', 'v', 'm')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
_UNWALLED = f"""
WITH ours AS ({_OURS})
SELECT relname FROM ours o JOIN pg_class c USING (oid, relname, relkind)
WHERE relname <> ALL(%(nobodys)s) AND CASE WHEN relkind = 'v'
    THEN NOT coalesce('security_invoker=true' = ANY(reloptions), false)
    ELSE NOT relrowsecurity OR relkind NOT IN ('r', 'p')
        OR NOT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = o.oid AND attname = 'tenant_id' AND attnotnull)
        OR (SELECT array_agg(roles::text ORDER BY roles) FROM pg_policies p
            WHERE p.schemaname = 'public' AND p.tablename = relname AND permissive = 'PERMISSIVE')
            IS DISTINCT FROM CASE WHEN relname <> ALL(%(without)s)
                THEN ARRAY['{{helix_app}}', '{{helix_limited}}'] END
        OR EXISTS (SELECT FROM pg_policies p WHERE p.schemaname = 'public'
            AND p.tablename = relname AND (p.cmd <> 'ALL' OR p.with_check IS NOT NULL
                OR permissive = 'PERMISSIVE' AND p.qual !~ '^[(]+tenant_id = [(] SELECT current'))
    END
"""


def _unwalled(connection: psycopg.Connection) -> set[str]:
    values = {"nobodys": [*NOBODYS, BY_ITSELF], "without": list(WITHOUT_POLICY)}
    return {name for (name,) in connection.execute(_UNWALLED, values)}


@pytest.fixture(scope="module")
def seeded(module_database_url: str) -> str:
    """A database with two documents, a file and a run of each of the tenants a and b."""
    fill_tenants(module_database_url)
    return module_database_url


@contextmanager
def _owner(url: str) -> Iterator[psycopg.Connection]:
    """A connection of the tables' owner; what is done on it is undone."""
    with psycopg.connect(url) as connection:
        try:
            yield connection
        finally:
            connection.rollback()


def _counts(connection: psycopg.Connection, tenant: str) -> dict[str, int]:
    def count(table: str) -> int:
        statement = composed.SQL("SELECT count(*) FROM {} WHERE tenant_id = %s")
        row = connection.execute(statement.format(composed.Identifier(table)), (tenant,)).fetchone()
        assert row is not None
        return int(row[0])

    return {table: count(table) for table in WALLED}


def _do(connection: psycopg.Connection, statement: str, table: str) -> psycopg.Cursor:
    return connection.execute(composed.SQL(statement).format(composed.Identifier(table)))


def test_everything_with_a_tenants_data_is_behind_the_wall(module_database_url: str) -> None:
    with _owner(module_database_url) as connection:
        assert _unwalled(connection) == set()
        names = {(name, kind) for _, name, kind in connection.execute(_OURS)}
        tables = {name for name, kind in names if kind != "v"}
        assert tables == NOBODYS | WITHOUT_POLICY | set(WALLED)
        assert {name for name, kind in names if kind == "v"} == {
            "data_chunks", "term_statistics", BY_ITSELF,
        }  # fmt: skip


def test_the_view_of_what_may_be_read_shows_what_the_policy_of_documents_does(seeded: str) -> None:
    rng = random.Random(5)
    with _owner(seeded) as connection:
        connection.execute(
            "INSERT INTO spaces (tenant_id, id, name)"
            " SELECT tenant, n, 'Number ' || n FROM unnest('{a,b}'::text[]) AS tenant,"
            " generate_series(100, 119) n"
        )
        for number in range(200):
            stands_in = rng.sample([0, *range(100, 120)], rng.choice([1, 1, 1, 2, 3]))
            connection.execute(
                "INSERT INTO documents (tenant_id, source_uri, title, content_hash, spaces)"
                " VALUES (%s, %s, 't', '', %s)", ("ab"[number % 2], f"v{number}", stands_in),
            )  # fmt: skip
        connection.execute("SET LOCAL helix.tenant = 'a'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("SET LOCAL ROLE helix_app")
            connection.execute("SELECT FROM readable_documents")
        connection.execute("SET LOCAL ROLE helix_limited")
        assert _readable(connection, None) == (set(), set())  # nothing is said of spaces
        for _ in range(60):
            spaces = rng.sample([0, *range(100, 130)], rng.randint(0, 20))
            by_policy, by_view = _readable(connection, spaces)
            assert by_view == by_policy, spaces
            connection.execute("SELECT set_config('helix.space_runs', '', true)")
            assert _readable(connection, None) == (by_policy, by_policy), "a server of before"


def _readable(
    connection: psycopg.Connection, spaces: list[int] | None
) -> tuple[set[int], set[int]]:
    """The documents that the policy shows, and those of the view."""
    if spaces is not None:
        connection.execute(f"SELECT ''{SET_SPACES}", spaces_as_settings(tuple(spaces)))
    seen = [
        {row[0] for row in connection.execute(f"SELECT id FROM {name}")}
        for name in ("documents", BY_ITSELF)
    ]
    return seen[0], seen[1]


def test_the_test_above_finds_what_is_not(module_database_url: str) -> None:
    with _owner(module_database_url) as connection:
        connection.execute("CREATE TABLE one (tenant_id text NOT NULL)")
        connection.execute("CREATE TABLE two (id int)")
        connection.execute("CREATE TABLE three (tenant_id text NOT NULL)")
        connection.execute("ALTER TABLE three ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE VIEW four AS SELECT * FROM documents")
        connection.execute("CREATE MATERIALIZED VIEW five AS SELECT * FROM documents")
        connection.execute("ALTER TABLE runs DISABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY more ON documents TO helix_app USING (true)")
        connection.execute("ALTER POLICY tenant ON chunks USING (true)")
        connection.execute("ALTER TABLE term_changes ALTER tenant_id DROP NOT NULL")
        connection.execute("CREATE POLICY other ON api_keys TO helix_app USING (true)")
        assert _unwalled(connection) == {
            "one", "two", "three", "four", "five", "runs", "documents", "chunks", "term_changes",
            "api_keys",
        }  # fmt: skip


def test_the_ways_around_the_wall_are_known_and_closed_to_others(module_database_url: str) -> None:
    with _owner(module_database_url) as connection:
        found = connection.execute(
            "SELECT proname, proconfig::text LIKE '%search_path=%', EXISTS (SELECT FROM"
            " aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
            " FROM pg_proc p WHERE prosecdef AND NOT EXISTS"
            " (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
        ).fetchall()
    assert sorted(found) == [(name, True, False) for name in sorted(DEFINERS)]


@pytest.mark.parametrize("role", ROLES)
def test_the_role_is_nobody(module_database_url: str, role: str) -> None:
    with _owner(module_database_url) as connection:
        rights = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,"
            " rolreplication FROM pg_roles WHERE rolname = %s", (role,),
        ).fetchone()  # fmt: skip
        assert rights == (False,) * 6
        owned = connection.execute(
            "SELECT count(*) FROM pg_shdepend WHERE refobjid = %s::regrole AND deptype = 'o'",
            (role,),
        ).fetchone()
        assert owned == (0,)
        groups = connection.execute(
            "SELECT count(*) FROM pg_auth_members WHERE member = %s::regrole", (role,)
        ).fetchone()
        assert groups == (0,)


def test_a_statement_without_any_condition_touches_the_tenants_rows_alone(seeded: str) -> None:
    with _owner(seeded) as connection:
        own, others = _counts(connection, "a"), _counts(connection, "b")
        assert own == others and all(own.values())
        become(connection, "a")
        for table in WALLED:
            assert _do(connection, "SELECT DISTINCT tenant_id FROM {}", table).fetchall() == [
                ("a",)
            ]
        for table in ("data_chunks", "term_statistics"):
            seen = _do(connection, "SELECT count(*) FROM {}", table).fetchone()
            assert seen == (
                own["chunks"] if table == "data_chunks"
                else own["term_counts"] + own["term_changes"],
            )  # fmt: skip
        for table in WALLED:  # term_changes grow by it
            before = _do(connection, "SELECT count(*) FROM {}", table).fetchone()
            done = _do(connection, "UPDATE {} SET tenant_id = tenant_id", table)
            assert (done.rowcount,) == before
        for table in WALLED:
            assert _do(connection, "DELETE FROM {}", table).rowcount > 0
        connection.execute("SELECT set_config('role', 'none', true)")
        assert _counts(connection, "b") == others
        assert not any(_counts(connection, "a").values())


@pytest.mark.parametrize("table", WALLED)
def test_no_row_gets_over_the_wall(seeded: str, table: str) -> None:
    with _owner(seeded) as connection:
        become(connection, "a")
        for statement in (
            "INSERT INTO {} (tenant_id) VALUES ('b')",
            "UPDATE {} SET tenant_id = 'b'",
        ):
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
                connection.transaction(),
            ):
                _do(connection, statement, table)
        # it was the wall that refused: as its own, only the rest of the row is missing, which may
        # be the conversation whose owner is asked for
        missing = "policy .own." if table in OF_CONVERSATIONS else "null value in column"
        with pytest.raises(psycopg.Error, match=missing), connection.transaction():
            _do(connection, "INSERT INTO {} (tenant_id) VALUES ('a')", table)


def test_who_says_no_tenant_sees_nothing(seeded: str) -> None:
    for tenant in (None, "", "nobody"):
        with _owner(seeded) as connection:
            if tenant is None:
                connection.execute("SET LOCAL ROLE helix_app")
            else:
                become(connection, tenant)
            for table in (*WALLED, "data_chunks", "term_statistics"):
                assert _do(connection, "SELECT FROM {}", table).fetchall() == []
                if table in WALLED:
                    assert _do(connection, "DELETE FROM {}", table).rowcount == 0


@pytest.mark.parametrize("statement", ["SELECT FROM {}", "DELETE FROM {}", "TRUNCATE {}"])
def test_keys_people_and_the_audit_log_are_not_to_be_seen(seeded: str, statement: str) -> None:
    of_people = {"people", "identities", "passkeys", "passkey_challenges"}
    for table in sorted(WITHOUT_POLICY | of_people):
        with _owner(seeded) as connection:
            become(connection, "a")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                _do(connection, statement, table)


def test_no_row_can_hang_on_another_tenants(seeded: str) -> None:
    """Not even one that the owner writes, who is over the wall."""
    of_b = "SELECT min(id)::text FROM documents WHERE tenant_id = 'b'"
    refused = (
        "INSERT INTO chunks (tenant_id, node_id, content, embedding, metadata_)"
        " SELECT 'a', 'n', 'c', embedding, jsonb_build_object('ordinal', 99,"
        f" 'document_id', ({of_b})) FROM chunks LIMIT 1",
        f"UPDATE chunks SET metadata_ = metadata_ || jsonb_build_object('document_id', ({of_b}),"
        " 'ordinal', 99) WHERE id = (SELECT min(id) FROM chunks WHERE tenant_id = 'a')",
        "UPDATE chunks SET tenant_id = 'a' WHERE tenant_id = 'b' AND content LIKE 'water%'",
        "UPDATE documents SET file_hash = (SELECT content_hash FROM files WHERE tenant_id = 'b')"
        " WHERE tenant_id = 'a'",
        "UPDATE run_files SET file_hash = (SELECT content_hash FROM files WHERE tenant_id = 'b')"
        " WHERE tenant_id = 'a'",
        "INSERT INTO run_files (tenant_id, run_id, n, source_uri)"
        " SELECT 'a', id, 7, 'x' FROM runs WHERE tenant_id = 'b'",
        "UPDATE runs SET tenant_id = 'a' WHERE tenant_id = 'b'",
        "UPDATE files SET tenant_id = 'a' WHERE tenant_id = 'b'",
        "UPDATE documents SET tenant_id = 'c' WHERE tenant_id = 'b'",
        "UPDATE answers SET tenant_id = 'a' WHERE tenant_id = 'b'",
        "INSERT INTO feedback (tenant_id, answer_id, rating)"
        " SELECT 'a', id, 'up' FROM answers WHERE tenant_id = 'b'",
        "UPDATE messages SET tenant_id = 'a', conversation_id = 'd' WHERE tenant_id = 'b'",
        "INSERT INTO messages (tenant_id, conversation_id, parent_id, branch, depth, question,"
        " answer_id, status) SELECT 'a', 'c', id, 1, 1, 'q', 'a', 'done' FROM messages"
        " WHERE tenant_id = 'b'",
        "UPDATE message_events SET tenant_id = 'a' WHERE tenant_id = 'b'",
    )
    with _owner(seeded) as connection:
        for statement in refused:
            with pytest.raises(psycopg.errors.ForeignKeyViolation), connection.transaction():
                connection.execute(statement)


@pytest.mark.parametrize("connected_first", [True, False])
async def test_llamaindexes_own_calls_stay_with_the_tenant(
    database_url: str, connected_first: bool
) -> None:
    async with opened(database_url) as store:
        if connected_first:  # a tenant's store may share an engine or come before there is one
            store.get_nodes(node_ids=["none"])
        a, b = store.of("a"), store.of("b")
        for own in (a, b):
            await asyncio.to_thread(write, own, record("one.txt", f"water {own.tenant}\n\nriver"))
        query = VectorStoreQuery(query_embedding=word_vector("water river"), similarity_top_k=9)
        for own in (a, b):
            found = own.query(query).nodes or []
            awaited = (await own.aquery(query)).nodes or []
            texts = {node.get_content() for node in found}
            assert texts == {node.get_content() for node in awaited}
            assert texts == {f"water {own.tenant}", "river"}
        theirs = [node.node_id for node in b.query(query).nodes or []]
        own_ids = {node.node_id for node in a.query(query).nodes or []}
        only_theirs = [node_id for node_id in theirs if node_id not in own_ids]
        assert only_theirs and a.get_nodes(node_ids=only_theirs) == []
        assert await a.aget_nodes(node_ids=only_theirs) == []
        a.delete_nodes(node_ids=only_theirs)
        await a.adelete_nodes(node_ids=only_theirs)
        (document_of_b,) = {node.ref_doc_id for node in b.get_nodes(node_ids=theirs)}
        assert document_of_b is not None
        a.delete(document_of_b)
        assert len(b.get_nodes(node_ids=theirs)) == 2
        await a.aclear()
        assert (a.query(query).nodes, len(b.query(query).nodes or [])) == ([], 2)
        for own in (a, b):
            if own is not store:
                await own.close()
