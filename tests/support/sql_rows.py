"""Documents and chunks written by SQL alone, as a test of the schema wants them."""

from __future__ import annotations

import json

import psycopg
from psycopg import sql

VECTOR = "[" + ",".join(["1"] + ["0"] * 1535) + "]"
TEXT = "Refunds are accepted within 30 days."
INSERT_CHUNK = (
    "INSERT INTO data_chunks (text, metadata_, node_id, embedding) VALUES (%s, %s, %s, %s)"
)


def add_document(connection: psycopg.Connection, uri: str = "policy.txt") -> int:
    row = connection.execute(
        "INSERT INTO documents (title, source_uri, content_hash, text)"
        " VALUES ('Policy', %s, 'ab', %s) RETURNING id",
        (uri, TEXT),
    ).fetchone()
    assert row is not None
    return int(row[0])


def add_chunk(
    connection: psycopg.Connection,
    document: int,
    *,
    ordinal: int = 0,
    start: int | None = 0,
    end: int | None = 7,
    content: str = TEXT[:7],
    node: str = "node",
) -> None:
    metadata = {"document_id": str(document), "ordinal": ordinal}
    if start is not None:
        metadata |= {"start_char": start}
    if end is not None:
        metadata |= {"end_char": end}
    connection.execute(INSERT_CHUNK, (content, json.dumps(metadata), node, VECTOR))


def count(connection: psycopg.Connection, table: str) -> int:
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
