"""Export of a tenant into a folder: all its rows as of one moment, and its original files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from psycopg import IsolationLevel, sql

from helix import __version__
from helix.library.transfer import folder as files
from helix.library.transfer.folder import FORMAT, Manifest, Member, TransferFailed
from helix.library.transfer.tables import FILES, TABLES, Table, columns_of, listed
from helix.storage.connections import Connected
from helix.storage.statements import exports as statements
from helix.storage.stored_bytes import stored_file

OWN = sql.SQL(statements.OWN)
"""The condition on the rows of a tenant; binds ``tenant``."""


def export_tenant(connection: Connected, tenant: str, folder: Path) -> Manifest:
    """Write all of ``tenant`` into ``folder``, which is new or empty; needs the owner's rights.

    Servers and workers may go on meanwhile: the export is of one snapshot.

    Raises:
        TransferFailed: the tenant has nothing, or ``folder`` is not empty or cannot be written.
        StoreUnavailable: the schema is missing or old.
    """
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    whose = {"tenant": tenant}
    with files.new_folder(folder) as part, connection.transaction():
        connection.execute(statements.BEGIN)
        members = {table.name: _write(connection, table, tenant, part) for table in TABLES}
        members[FILES] = _write_files(connection, tenant, part)
        if not any(member.rows for member in members.values()):
            raise TransferFailed(
                f"there is nothing of the tenant {tenant}: is its name misspelt (--tenant)?"
            )
        embedder = connection.execute(statements.EMBEDDER, whose).fetchone()
        version = connection.execute(statements.SCHEMA_VERSION).fetchone()
        manifest = Manifest(
            FORMAT, datetime.now(UTC).isoformat(timespec="seconds"), f"Helix {__version__}",
            version[0] if version else 0, tenant, embedder[0] if embedder else None,
            {table.name: _last(connection, table) for table in TABLES if table.numbered}, members,
        )  # fmt: skip
        files.write_manifest(part, manifest)
    return manifest


def _write(connection: Connected, table: Table, tenant: str, part: Path) -> Member:
    columns = columns_of(connection, table)
    rows = _rows(connection, table, columns, tenant)
    return files.write_rows(part, table.name, list(columns), rows)


def _rows(
    connection: Connected, table: Table, columns: dict[str, str], tenant: str
) -> Iterator[str]:
    """The rows of a tenant as JSON, a batch of them in memory at a time."""
    names = sql.SQL(", ").join(
        sql.SQL(statements.SPACE)
        if name == "tenant_id"
        else sql.Identifier(name) + sql.SQL(cast) + sql.SQL(" AS ") + sql.Identifier(name)
        for name, cast in columns.items()
    )
    statement = sql.SQL(statements.ROWS).format(
        columns=names, table=sql.Identifier(table.name), own=OWN, order=listed(table.order)
    )
    with connection.cursor(f"export_{table.name}") as cursor:
        cursor.itersize = table.rows_at_once
        for (row,) in cursor.execute(statement, {"tenant": tenant}):
            yield row


def _write_files(connection: Connected, tenant: str, part: Path) -> Member:
    """Write the original files of the documents, and their names."""
    original_files = connection.execute(statements.FILES, {"tenant": tenant}).fetchall()

    def rows() -> Iterator[str]:
        for space, content_hash in original_files:
            stored = stored_file(connection, space, content_hash)
            assert stored is not None  # its document refers to it
            (part / files.FILES / content_hash).write_bytes(stored.read())
            row = {"tenant_id": space.removeprefix(tenant), "content_hash": content_hash}
            yield json.dumps(row)

    return files.write_rows(part, FILES, ["tenant_id", "content_hash"], rows())


def _last(connection: Connected, table: Table) -> int:
    row = connection.execute(statements.LAST_ID, (table.name,)).fetchone()
    return int(row[0]) if row else 0
