"""Restoring a backup: all of it in one transaction, or nothing."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from db import migrate
from db.backup.archive import (
    BLOCK_BYTES,
    REPEATABLE,
    SCHEMA,
    Manifest,
    checked,
    member_of,
    open_archive,
)
from db.backup.tables import Names, drop_everything, tables_with_rows
from db.errors import DatabaseError
from db.url import redact

_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
"""
_KNOWN_BACKUPS = "SELECT file, made_at, expires_at, gone_at FROM backups"
_KEEP_KNOWN = """
WITH former AS (DELETE FROM backups WHERE file = %(file)s AND made_at = %(made_at)s)
INSERT INTO backups (file, made_at, expires_at, gone_at)
VALUES (%(file)s, %(made_at)s, %(expires_at)s, %(gone_at)s)
"""
_CLOSING_SECONDS = 2.0
"""The seconds that the server may take to end a connection whose client has closed it."""
_REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
    AND conparentid = 0 AND conrelid = ANY(%s::regclass[])
"""
_BYTES_OF_A_VECTOR = 1536 * 2 + 2048  # at half precision, and its share of the graph
_LEAST_MB, _MOST_MB = 64, 1024


def restore(url: str, file: Path, *, replace: bool = False, place: str = "") -> Manifest:
    """Put the rows of a backup into the database of ``url``, which holds nothing of Helix yet.

    With ``replace`` it may: all that Helix has in it is dropped first, in the same transaction. A
    backup of an earlier schema is loaded into that, and upgraded. Backups that were known there
    stay known: what is deleted later may be in those of after this one too. ``place`` is what
    messages call the database.

    Raises:
        DatabaseError: the file or the database is of a newer Helix; the file is damaged; the
            database cannot be reached, is in use, not empty, or refuses. Nothing has changed then.
    """
    manifest = checked(file)
    _check_version(manifest, file)
    place = place or redact(url)
    with migrate.connect(url) as connection, open_archive(file) as archive:
        try:
            migrate.begin_change(connection)
            _refuse_newer(migrate.schema_version(connection), place)
            known = _known_backups(connection)
            _make_room(connection, place, replace=replace)
            _make_schema(connection, manifest, archive)
            _load(connection, manifest, archive)
            _finish_schema(connection, manifest, archive, place)
            connection.cursor().executemany(_KEEP_KNOWN, known)
            connection.commit()
        except psycopg.errors.InsufficientPrivilege as error:
            raise migrate.forbidden(connection, error) from None
        except psycopg.Error as error:
            raise DatabaseError(
                f"the backup cannot be restored at {place}: {migrate.primary(error)}"
            ) from None
    return manifest


def _check_version(manifest: Manifest, file: Path) -> None:
    if manifest.schema_version > migrate.NEWEST_VERSION:
        raise DatabaseError(
            f"{file} has the schema of version {manifest.schema_version}, and this Helix knows"
            f" {migrate.NEWEST_VERSION} at most: restore it with {manifest.made_by} or newer"
        )


def _refuse_newer(version: int, place: str) -> None:
    """Refuse a database with tables that this Helix cannot name, and so could not drop."""
    if version > migrate.NEWEST_VERSION:
        raise DatabaseError(
            f"the schema at {place} is version {version}, and this Helix knows"
            f" {migrate.NEWEST_VERSION} at most: give DATABASE_URL an empty database"
        )


def _known_backups(connection: psycopg.Connection) -> list[DictRow]:
    """The backups that the database knows of; none where it has no schema, or an earlier one."""
    if connection.execute("SELECT to_regclass('backups')").fetchone() == (None,):
        return []
    return connection.cursor(row_factory=dict_row).execute(_KNOWN_BACKUPS).fetchall()


def _make_room(connection: psycopg.Connection, place: str, *, replace: bool) -> None:
    """Drop what Helix has in a database that nobody else uses: its rows only with ``replace``."""
    names = Names.of_this_helix()
    if others := _other_connections(connection):
        raise DatabaseError(
            f"{others} other connections use the database at {place}: stop the servers and workers"
            " of Helix, then restore"
        )
    if not replace and (filled := tables_with_rows(connection, names)):
        raise DatabaseError(
            f"the database at {place} is not empty (it has {_table_list(connection, filled)}): give"
            " DATABASE_URL an empty one, or restore with --replace, which deletes what is there"
            " (`helix backup FILE` saves it first)"
        )
    drop_everything(connection, names)


def _other_connections(connection: psycopg.Connection) -> int:
    """The number of other connections to the database; waits a little for those being closed."""
    deadline = time.monotonic() + _CLOSING_SECONDS
    while True:
        row = connection.execute(_OTHERS).fetchone()
        others: int = row[0] if row else 0
        if not others or time.monotonic() > deadline:
            return others
        time.sleep(0.1)
        connection.execute("SELECT pg_stat_clear_snapshot()")  # else it stays as first seen


def _table_list(connection: psycopg.Connection, tables: list[str]) -> str:
    """The tables that say most first, with their rows, and not all of them."""
    known = sorted(tables, key=lambda table: table not in ("documents", "answers", "api_keys"))
    more = f" and {len(tables) - 3} more tables" if len(tables) > 3 else ""
    return ", ".join(_rows_of(connection, table) for table in known[:3]) + more


def _rows_of(connection: psycopg.Connection, table: str) -> str:
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    row = connection.execute(query).fetchone()
    return f"{table} {row[0] if row else 0:,}"


def _make_schema(
    connection: psycopg.Connection, manifest: Manifest, archive: zipfile.ZipFile
) -> None:
    """The tables as the backup had them. SQL of the file is run only for an earlier schema."""
    if manifest.schema_version == migrate.NEWEST_VERSION:
        connection.execute(migrate.schema_parts()[0])
    else:
        connection.execute(archive.read(SCHEMA))
    migrate.record_version(connection, manifest.schema_version)


def _load(connection: psycopg.Connection, manifest: Manifest, archive: zipfile.ZipFile) -> None:
    with _without_checks(connection, list(manifest.tables)):
        for table, columns in manifest.columns.items():
            _copy_in(connection, archive, manifest, table, columns)
        for sequence, position in manifest.sequences.items():
            connection.execute(
                sql.SQL("SELECT setval({}, %s, %s)").format(sql.Literal(sequence)), position
            )


@contextmanager
def _without_checks(connection: psycopg.Connection, tables: list[str]) -> Iterator[None]:
    """Without foreign keys, so in any order, and without triggers, which have acted before."""
    references = connection.execute(_REFERENCES, (tables,)).fetchall()
    for table, name, _ in references:  # quoted by Postgres itself
        connection.execute(sql.SQL(f"ALTER TABLE {table} DROP CONSTRAINT {name}"))
    change = sql.SQL("ALTER TABLE {} {} TRIGGER USER")
    for table in tables:
        connection.execute(change.format(sql.Identifier(table), sql.SQL("DISABLE")))
    yield  # no `finally`: what raises here rolls all of it back
    for table in tables:
        connection.execute(change.format(sql.Identifier(table), sql.SQL("ENABLE")))
    for table, name, definition in references:
        connection.execute(sql.SQL(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"))


def _copy_in(
    connection: psycopg.Connection,
    archive: zipfile.ZipFile,
    manifest: Manifest,
    table: str,
    columns: list[str],
) -> None:
    query = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor:
        with cursor.copy(query) as copied, archive.open(member_of(table)) as member:
            while block := member.read(BLOCK_BYTES):
                copied.write(block)
        if cursor.rowcount != manifest.rows(table):
            raise DatabaseError(
                f"{cursor.rowcount} rows of {table} came in, and the backup has"
                f" {manifest.rows(table)}: take another copy of it"
            )


def _finish_schema(
    connection: psycopg.Connection, manifest: Manifest, archive: zipfile.ZipFile, place: str
) -> None:
    """Policies, grants and indexes; then the steps that an earlier schema lacks."""
    needed = manifest.rows("chunks") * _BYTES_OF_A_VECTOR // 2**20
    memory = f"{min(max(needed, _LEAST_MB), _MOST_MB)}MB"
    connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (memory,))
    try:
        with connection.transaction():
            _apply_steps(connection, manifest, archive, place)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        # a parallel build shares its memory through /dev/shm, which containers keep small
        connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        _apply_steps(connection, manifest, archive, place)
    connection.execute("ANALYZE")


def _apply_steps(
    connection: psycopg.Connection, manifest: Manifest, archive: zipfile.ZipFile, place: str
) -> None:
    if manifest.schema_version < migrate.NEWEST_VERSION:
        connection.execute(archive.read(REPEATABLE))
    migrate.apply(connection, manifest.schema_version, place)
