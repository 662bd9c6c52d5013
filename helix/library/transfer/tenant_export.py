"""Export of a tenant into a folder: all its rows as of one moment, and its original files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from psycopg import IsolationLevel, sql

from helix import __version__
from helix.library.transfer import folder as files
from helix.library.transfer.folder import FORMAT, Manifest, Member
from helix.library.transfer.tables import FILES, TABLES, Table, columns_of, listed
from helix.storage.connections import Connected
from helix.storage.stored_bytes import stored_file

# The documents of a tenant's conversations are in spaces of their own, `tenant/…`; a row says
# which by what its tenant_id has behind the tenant's name.
OWN = sql.SQL("(tenant_id = %(tenant)s OR starts_with(tenant_id, %(tenant)s || '/'))")
_FILES = sql.SQL("""
SELECT tenant_id, file_hash FROM documents WHERE file_hash IS NOT NULL AND {own}
GROUP BY tenant_id, file_hash ORDER BY tenant_id, file_hash
""").format(own=OWN)
_EMBEDDER = sql.SQL(
    "SELECT identity FROM embedding_space WHERE EXISTS (SELECT FROM chunks WHERE {own})"
).format(own=OWN)
_LAST = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, 'id')::regclass), 0)"


def export_tenant(connection: Connected, tenant: str, folder: Path) -> Manifest:
    """Write all of ``tenant`` into ``folder``, which is new or empty; needs the owner's rights.

    Servers and workers may go on meanwhile: the export is of one snapshot.

    Raises:
        TransferFailed: ``folder`` is not empty, or cannot be written.
        StoreUnavailable: the schema is missing or old.
    """
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    whose = {"tenant": tenant}
    with files.new_folder(folder) as part, connection.transaction():
        connection.execute("SET TRANSACTION READ ONLY; SET LOCAL timezone = 'UTC'")
        members = {table.name: _write(connection, table, tenant, part) for table in TABLES}
        members[FILES] = _write_files(connection, tenant, part)
        embedder = connection.execute(_EMBEDDER, whose).fetchone()
        version = connection.execute("SELECT version FROM schema_version").fetchone()
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
        sql.SQL("substr(tenant_id, char_length(%(tenant)s) + 1) AS tenant_id")
        if name == "tenant_id"
        else sql.Identifier(name) + sql.SQL(cast) + sql.SQL(" AS ") + sql.Identifier(name)
        for name, cast in columns.items()
    )
    statement = sql.SQL(
        "SELECT row_to_json(r)::text FROM (SELECT {named} FROM {table} t WHERE {own}"
        " ORDER BY {order}) r"
    ).format(named=names, table=sql.Identifier(table.name), own=OWN, order=listed(table.order))
    with connection.cursor(f"export_{table.name}") as cursor:
        cursor.itersize = table.rows_at_once
        for (row,) in cursor.execute(statement, {"tenant": tenant}):
            yield row


def _write_files(connection: Connected, tenant: str, part: Path) -> Member:
    """Write the original files of the documents, and their names."""
    original_files = connection.execute(_FILES, {"tenant": tenant}).fetchall()

    def rows() -> Iterator[str]:
        for space, content_hash in original_files:
            stored = stored_file(connection, space, content_hash)
            assert stored is not None  # its document refers to it
            (part / files.FILES / content_hash).write_bytes(stored.read())
            row = {"tenant_id": space.removeprefix(tenant), "content_hash": content_hash}
            yield json.dumps(row)

    return files.write_rows(part, FILES, ["tenant_id", "content_hash"], rows())


def _last(connection: Connected, table: Table) -> int:
    row = connection.execute(_LAST, (table.name,)).fetchone()
    return int(row[0]) if row else 0
