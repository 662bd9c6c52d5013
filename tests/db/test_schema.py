"""The invariants that the schema holds by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.support.sql_rows import INSERT_CHUNK, TEXT, VECTOR, add_chunk, add_document, count


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """A connection to the test's own migrated database."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


def test_a_chunk_goes_in_through_the_view(connection: psycopg.Connection) -> None:
    document = add_document(connection)
    add_chunk(connection, document)
    add_chunk(connection, document, ordinal=1, start=None, end=None, node="other")
    rows = connection.execute(
        "SELECT document_id, ordinal, content, start_char, end_char FROM chunks ORDER BY ordinal"
    ).fetchall()
    assert rows == [(document, 0, "Refunds", 0, 7), (document, 1, "Refunds", None, None)]


def test_deleting_a_document_deletes_its_chunks_only(connection: psycopg.Connection) -> None:
    first, second = add_document(connection, "a.txt"), add_document(connection, "b.txt")
    add_chunk(connection, first, node="a")
    add_chunk(connection, second, node="b")
    connection.execute("DELETE FROM documents WHERE id = %s", (first,))
    assert connection.execute("SELECT node_id FROM chunks").fetchall() == [("b",)]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"end": 8}, psycopg.errors.CheckViolation),
        ({"end": None}, psycopg.errors.CheckViolation),
        ({"start": None}, psycopg.errors.CheckViolation),
        ({"start": -1, "end": 6}, psycopg.errors.CheckViolation),
        ({"ordinal": -1}, psycopg.errors.CheckViolation),
        ({"content": "", "end": 0}, psycopg.errors.CheckViolation),
        ({"ordinal": 7}, psycopg.errors.UniqueViolation),
        ({"node": "taken"}, psycopg.errors.UniqueViolation),
        ({"document": 4711}, psycopg.errors.ForeignKeyViolation),
    ],
)
def test_a_chunk_that_breaks_an_invariant_is_rejected(
    connection: psycopg.Connection, changes: dict[str, Any], error: type[psycopg.Error]
) -> None:
    document = add_document(connection)
    add_chunk(connection, document, ordinal=7, node="taken")
    with pytest.raises(error):
        add_chunk(connection, **({"document": document} | changes))
    assert count(connection, "chunks") == 1


def test_metadata_without_a_document_or_an_ordinal_is_rejected(
    connection: psycopg.Connection,
) -> None:
    document = add_document(connection)
    for metadata in ({"ordinal": 0}, {"document_id": str(document)}):
        with pytest.raises(psycopg.errors.NotNullViolation):
            connection.execute(INSERT_CHUNK, (TEXT, json.dumps(metadata), "node", VECTOR))
    assert count(connection, "chunks") == 0


def test_a_source_is_there_once(connection: psycopg.Connection) -> None:
    add_document(connection)
    with pytest.raises(psycopg.errors.UniqueViolation):
        add_document(connection)


def test_a_vector_of_another_width_is_rejected(connection: psycopg.Connection) -> None:
    metadata = json.dumps({"document_id": str(add_document(connection)), "ordinal": 0})
    with pytest.raises(psycopg.errors.DataException, match="expected 1536 dimensions"):
        connection.execute(INSERT_CHUNK, (TEXT, metadata, "node", "[1,0]"))


def test_a_person_is_in_groups_and_sessions_of_tenants_that_they_are_members_of(
    connection: psycopg.Connection,
) -> None:
    def into(table: str, columns: str, values: str) -> None:
        connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})")

    into("people", "email", "'ada@example.com'")
    into("members", "tenant_id, person_id, role", "'a', 1, 'reader'")
    into("groups", "tenant_id, name", "'a', 'all'")
    into("groups", "tenant_id, name", "'b', 'all'")
    session = "token_hash, tenant_id, person_id, csrf, method, expires_at"
    into("group_members", "tenant_id, group_id, person_id", "'a', 1, 1")
    into("sessions", session, "'1', 'a', 1, 'c', 'password', now()")
    for table, columns, values in (
        ("group_members", "tenant_id, group_id, person_id", "'a', 2, 1"),
        ("group_members", "tenant_id, group_id, person_id", "'b', 2, 1"),
        ("sessions", session, "'2', 'b', 1, 'c', 'password', now()"),
    ):
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            into(table, columns, values)
    with pytest.raises(psycopg.errors.UniqueViolation):
        into("people", "email", "'ada@example.com'")
    for email in ("Ada@example.com", ""):
        with pytest.raises(psycopg.errors.CheckViolation):
            into("people", "email", f"'{email}'")
    with pytest.raises(psycopg.errors.CheckViolation):
        into("members", "tenant_id, person_id, role", "'b', 1, 'admin'")
    connection.execute("DELETE FROM members")
    assert count(connection, "group_members") == count(connection, "sessions") == 0
