"""Reads in a pipeline of libpq: a cursor's rows, one transaction, nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from pgvector import Vector
from pgvector.psycopg import register_vector_async
from psycopg.rows import dict_row

from helix.storage.pipelined_connections import ReadingConnection, Statement, WritingConnection

_ALL = """
SELECT %(text)s::text AS text, %(number)s::bigint AS number, %(nothing)s::text AS nothing,
       %(ids)s::bigint[] AS ids, %(words)s::text[] AS words, %(at)s::timestamptz AS at,
       %(weight)s::float8 AS weight, %(vector)b::vector AS vector, %(number)s::bigint + 1 AS again,
       '{"a": [1, null, "é"]}'::jsonb AS facts, 10 %% 4 AS rest, '%%' AS percent
FROM generate_series(1, %(rows)s::int)
"""
_VALUES: dict[str, Any] = {
    "text": "§ 5 \N{SNOWMAN} %s", "number": 2**40, "nothing": None, "ids": [3, -1, 2**33],
    "words": ["a", "", "é"], "at": datetime(2026, 11, 23, 13, 5, tzinfo=UTC), "weight": 0.1,
    "vector": Vector(np.linspace(-1, 1, 8, dtype=np.float32)), "rows": 3, "not in it": object(),
}  # fmt: skip
_PREPARED = "SELECT count(*)::int AS n FROM pg_prepared_statements WHERE name LIKE %(name)s"
_OF_PREPARED = {"name": "helix_%"}


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[ReadingConnection]:
    async with await ReadingConnection.connect(database_url, autocommit=True) as connection:
        await register_vector_async(connection)
        yield connection


@pytest.mark.parametrize("prepares", [True, False])
async def test_rows_are_those_of_a_cursor(connection: ReadingConnection, prepares: bool) -> None:
    cursor = connection.cursor(binary=True, row_factory=dict_row)
    expected = await (await cursor.execute(_ALL, _VALUES)).fetchall()
    connection.prepare_threshold = 5 if prepares else None
    for _ in range(3):
        first, second = await connection.read((_ALL, _VALUES), ("SELECT 1 AS one WHERE false", {}))
        assert first == expected and len(first) == 3
        assert second == []
    ((counted,),) = await connection.read((_PREPARED, _OF_PREPARED))
    assert counted["n"] == (3 if prepares else 0), "the two, and this one"


async def test_statements_of_a_read_are_one_transaction(connection: ReadingConnection) -> None:
    setting = ("SELECT set_config('helix.tenant', %(tenant)s, true)", {"tenant": "acme"})
    asking: Statement = ("SELECT nullif(current_setting('helix.tenant', true), '') AS tenant", {})
    _, during = await connection.read(setting, asking)
    (afterwards,) = await connection.read(asking)
    assert during == [{"tenant": "acme"}]
    assert afterwards == [{"tenant": None}], "a connection kept the tenant of a read"


@pytest.mark.parametrize("prepares", [True, False])
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1 / %(number)s AS n", psycopg.errors.DivisionByZero),
        ("SELECT nothing FROM nowhere", psycopg.errors.UndefinedTable),
    ],
)
async def test_a_failed_statement_leaves_a_connection_that_works(
    connection: ReadingConnection, statement: str, expected: type[psycopg.Error], prepares: bool
) -> None:
    connection.prepare_threshold = 5 if prepares else None
    before: Statement = ("SELECT set_config('helix.tenant', 'acme', true)", {})
    for _ in range(3):
        with pytest.raises(expected):
            await connection.read(before, (statement, {"number": 0}), ("SELECT 2 AS n", {}))
        ((tenant,),) = await connection.read(("SELECT current_setting('helix.tenant', true) t", {}))
        assert tenant["t"] in (None, ""), "a read that failed left its tenant"


async def test_reads_that_fail_prepare_nothing_twice(connection: ReadingConnection) -> None:
    setting: Statement = ("SELECT set_config('helix.tenant', 'acme', true)", {})
    for _ in range(20):
        for statement in ("SELECT 1 / %(number)s AS n", "SELECT nothing FROM nowhere"):
            with pytest.raises(psycopg.Error):
                await connection.read(setting, (statement, {"number": 0}), ("SELECT 3", {}))
    ((counted,),) = await connection.read((_PREPARED, _OF_PREPARED))
    assert counted["n"] == 3, "the setting, the division and this one"


async def test_types_of_values_make_statements_of_their_own(connection: ReadingConnection) -> None:
    kind = "SELECT pg_typeof(%(value)s)::text AS kind, %(value)s AS value"
    for value, expected in (
        (1, "smallint"),
        (2**20, "integer"),
        (2**40, "bigint"),
        (2, "smallint"),
    ):
        assert await connection.read((kind, {"value": value})) == [
            [{"kind": expected, "value": value}]
        ]


async def test_no_more_than_a_hundred_statements_stay_prepared(
    connection: ReadingConnection,
) -> None:
    often: Statement = ("SELECT 'often' AS text", {})
    for number in range(150):
        asked, again = await connection.read((f"SELECT {number} AS n", {}), often)
        assert (asked, again) == ([{"n": number}], [{"text": "often"}])
    ((counted,),) = await connection.read((_PREPARED, _OF_PREPARED))
    ((names,),) = await connection.read(
        ("SELECT array_agg(statement) AS all FROM pg_prepared_statements", {})
    )
    assert counted["n"] <= 101
    assert often[0] in names["all"] and "SELECT 0 AS n" not in names["all"]


def test_what_a_writer_prepared_outlasts_an_error(database_url: str) -> None:
    """psycopg forgets all that is prepared when a transaction fails."""
    often: Statement = ("SELECT 'often' AS text", {})
    with WritingConnection.connect(database_url, autocommit=True) as connection:
        connection.keep_prepared()
        for _ in range(8):  # more than psycopg waits for before it prepares
            connection.execute("SELECT 1")
            with pytest.raises(psycopg.errors.DivisionByZero), connection.beginning(often):
                connection.execute("SELECT 1 / 0")
            with suppress(psycopg.errors.DivisionByZero), connection.transaction():
                connection.execute("SELECT 1 / 0")
            assert connection.read(often) == [[{"text": "often"}]]
        ((counted,),) = connection.read((_PREPARED, _OF_PREPARED))
    assert counted["n"] == 3, "BEGIN, the statement and this one"


def test_a_transaction_that_cannot_begin_leaves_a_connection_that_works(database_url: str) -> None:
    with WritingConnection.connect(database_url, autocommit=True) as connection:
        failing: Statement = ("SELECT 1 / %(number)s AS n", {"number": 0})
        with pytest.raises(psycopg.errors.DivisionByZero), connection.beginning(failing):
            pytest.fail("it began")
        with connection.beginning(("CREATE TEMP TABLE kept AS SELECT 1 AS n", {})):
            pass
        assert connection.read(("SELECT n FROM kept", {})) == [[{"n": 1}]]
