"""Making a backup: every row as one snapshot has it, while others read and write."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg import sql

from db import migrate
from db.backup.archive import (
    FORMAT,
    REPEATABLE,
    SCHEMA,
    Contents,
    Manifest,
    Writer,
    member_of,
    new_archive,
)
from db.backup.tables import Names, columns_of_tables, sequences_of
from db.errors import DatabaseError
from db.url import redact

# A staged change of the embedder has one row that says so; without its vectors it is none.
_WHERE = {"embedding_change": sql.SQL(" WHERE settled IS NOT NULL")}
_ELSEWHERE = "SELECT count(*) FROM files WHERE place IS NOT NULL"
_SEQUENCE = "SELECT last_value, is_called FROM {}"


def save(url: str, file: Path, made_by: str) -> Manifest:
    """Write everything of Helix in the database of ``url`` to ``file``.

    ``made_by`` names the Helix that does. Readers and writers go on; a migration waits.

    Raises:
        DatabaseError: the database cannot be reached or read, or is not of this Helix's schema; or
            ``file`` exists or cannot be written. There is no file then.
    """
    with migrate.connect(url) as connection, new_archive(file) as writer:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            return _save(connection, writer, made_by)
        except psycopg.errors.InsufficientPrivilege:
            raise DatabaseError(
                f"the role {connection.info.user} may not read all of Helix's tables: put the role"
                " that ran `helix migrate` into DATABASE_URL"
            ) from None
        except psycopg.Error as error:
            raise DatabaseError(
                f"the database at {redact(url)} cannot be read: {migrate.primary(error)}"
            ) from None


def _save(connection: psycopg.Connection, writer: Writer, made_by: str) -> Manifest:
    names = Names.of_this_helix()
    _lock_out_changes(connection, names.tables)
    _check_version(migrate.schema_version(connection))
    # Where row-level security would hide rows, an error instead.
    connection.execute("SET LOCAL row_security = off")
    columns = columns_of_tables(connection, names)
    tables = {
        table: _copy_out(connection, writer, table, stored) for table, stored in columns.items()
    }
    made, repeatable = migrate.schema_parts()
    # Read after the rows, a sequence is never behind them: it is in no snapshot.
    sequences = {name: _position(connection, name) for name in sequences_of(connection, names)}
    manifest = Manifest(
        format=FORMAT,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        made_by=made_by,
        schema_version=migrate.NEWEST_VERSION,
        postgres=connection.info.server_version,
        tables=tables,
        scripts={
            SCHEMA: writer.add(SCHEMA, [made]),
            REPEATABLE: writer.add(REPEATABLE, [repeatable]),
        },
        columns=columns,
        sequences=sequences,
        files_elsewhere=_files_elsewhere(connection),
    )
    writer.finish(manifest)
    return manifest


def _lock_out_changes(connection: psycopg.Connection, tables: list[str]) -> None:
    """Keep the tables as they are; before the snapshot is taken, which a LOCK does not do."""
    lock = sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE")
    try:
        connection.execute(lock.format(sql.SQL(", ").join(map(sql.Identifier, tables))))
    except psycopg.errors.UndefinedTable:
        connection.rollback()
        _check_version(migrate.schema_version(connection))
        raise


def _check_version(version: int) -> None:
    if version < migrate.NEWEST_VERSION:
        state = f"of version {version}" if version else "missing"
        raise DatabaseError(
            f"the schema is {state}, and this Helix backs up version {migrate.NEWEST_VERSION}: run"
            " `helix migrate`, or take the backup with the Helix that made it"
        )
    if version > migrate.NEWEST_VERSION:
        raise DatabaseError(
            f"the schema is of version {version}, and this Helix knows {migrate.NEWEST_VERSION} at"
            " most: take the backup with the newer Helix that made it"
        )


def _copy_out(
    connection: psycopg.Connection, writer: Writer, table: str, columns: list[str]
) -> Contents:
    query = sql.SQL("COPY (SELECT {} FROM {}{}) TO STDOUT (FORMAT binary)").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.Identifier(table),
        _WHERE.get(table, sql.SQL("")),
    )
    with connection.cursor() as cursor:
        with cursor.copy(query) as copied:
            contents = writer.add(member_of(table), copied)
        return replace(contents, rows=cursor.rowcount)


def _files_elsewhere(connection: psycopg.Connection) -> int:
    row = connection.execute(_ELSEWHERE).fetchone()
    assert row is not None
    return int(row[0])


def _position(connection: psycopg.Connection, sequence: str) -> tuple[int, bool]:
    query = sql.SQL(_SEQUENCE).format(sql.Identifier(sequence))
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0]), bool(row[1])
