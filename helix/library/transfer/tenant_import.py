"""Import of an exported folder into a database: all of it in one transaction, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from helix.domain.input_text import LONGEST_EARLIER, LONGEST_QUESTION, LONGEST_TITLE
from helix.errors import EmbedderMismatch
from helix.library.transfer import folder as files
from helix.library.transfer.folder import MOST_ID, Manifest, TransferFailed
from helix.library.transfer.id_offsets import Offsets, renumbered
from helix.library.transfer.tables import FILES, TABLES, Table, columns_of, listed
from helix.library.transfer.tenant_export import OWN
from helix.storage import indexes
from helix.storage.connections import Connected
from helix.storage.document_writes import claim_embedder
from helix.storage.stored_bytes import keep_bytes
from helix.storage.term_rows import fill_missing

if TYPE_CHECKING:
    from helix.library.transfer.new_vectors import NewVectors  # loads LlamaIndex

_SPACE = r"(?:/[0-9a-f]{32})?"
"""The part of a row's tenant_id behind the tenant's name: a space of a conversation's, or nothing.
Anything else would make a row of another tenant, whose name begins like this one's."""
_OWN_SPACE = sql.SQL(
    "CASE WHEN tenant_id ~ {} THEN %(tenant)s || tenant_id END"  # NULL is in no table
).format(sql.Literal(f"^{_SPACE}$"))
_ROWS_AT_ONCE = 200
_BYTES_AT_ONCE = 8_000_000
_TAKEN = "SELECT EXISTS (SELECT FROM {} WHERE id <= %s)"
_RESERVE = """
SELECT setval(pg_get_serial_sequence(%(table)s, 'id')::regclass, greatest(%(last)s, coalesce(
    pg_sequence_last_value(pg_get_serial_sequence(%(table)s, 'id')::regclass), 0)))
"""
_GREATEST_MESSAGE = sql.SQL("SELECT max(id) FROM messages WHERE {own}").format(own=OWN)
_TOO_LONG = sql.SQL("""
SELECT 'the question of message ' || id FROM messages
WHERE {own} AND length(question) > %(question)s
UNION ALL SELECT 'the answer of message ' || id FROM messages
WHERE {own} AND length(response ->> 'answer') > %(answer)s
UNION ALL SELECT 'the title of conversation ' || id FROM conversations
WHERE {own} AND length(title) > %(title)s
LIMIT 1
""").format(own=OWN)
_LONGEST = {"question": LONGEST_QUESTION, "answer": LONGEST_EARLIER, "title": 2 * LONGEST_TITLE}
"""Characters; titles of 400 came in by imports of conversations once."""
# What was under way where the export was made is nowhere under way here.
_SETTLE_DOCUMENTS = sql.SQL("""
UPDATE documents SET status = 'failed', error = 'it was being read at its export: add it again'
WHERE status = 'processing' AND {own}
""").format(own=OWN)
_SETTLE_MESSAGES = sql.SQL("""
UPDATE messages SET status = 'interrupted', owner = '', finished_at = now()
WHERE status = 'answering' AND {own}
""").format(own=OWN)


def import_tenant(
    connection: Connected,
    folder: Path,
    tenant: str,
    manifest: Manifest,
    anew: NewVectors | None = None,
) -> None:
    """Import the export in ``folder`` as ``tenant``, which may have no rows yet.

    ``connection`` is in autocommit, with the owner's rights; ``manifest`` is the one that
    ``checked`` returned. Vectors are imported as they are, and no embedder is called; with
    ``anew`` those of chunks are made by its embedder. Ids are kept where all of them are free;
    else all are raised by one number a table.

    Raises:
        TransferFailed: the export is damaged or of a newer Helix; the tenant has rows; the
            database's vectors are another embedder's; a text is longer than a request may send.
        UpstreamError: the embedder of ``anew`` failed.
    """
    _check_columns(connection, manifest, folder)
    indexes.drop_if_empty(connection)
    try:
        with connection.transaction():
            connection.execute("SELECT set_config('helix.tenant', %s, true)", (tenant,))
            _check_empty(connection, tenant)
            if manifest.embedder is not None:
                embedder = anew.identity if anew else manifest.embedder
                _claim(connection, folder, manifest.embedder, embedder)
            offsets = _offsets(connection, manifest)
            _load_files(connection, folder, tenant)
            for table in TABLES:
                if table.name in manifest.tables:
                    batches = _batches(folder, table, offsets)
                    if anew and table.name == "chunks":
                        batches = map(anew.renewed, batches)
                    _load(connection, manifest, table, tenant, batches)
            _check_ids(connection, folder, tenant, manifest, offsets)
            _check_lengths(connection, folder, tenant)
            _finish(connection, tenant)
    except (psycopg.errors.DataError, psycopg.errors.IntegrityError) as error:
        raise files.damaged(folder, str(error.diag.message_primary)) from None
    finally:
        indexes.build_if_missing(connection)


def _claim(connection: Connected, folder: Path, exported: str, embedder: str) -> None:
    """Make sure that ``embedder`` made the database's vectors, or that there are none."""
    try:
        claim_embedder(connection, embedder)
    except EmbedderMismatch:
        (stored,) = connection.execute("SELECT identity FROM embedding_space").fetchone() or ("?",)
        raise TransferFailed(
            f"the vectors in {folder} are of the embedder {exported}, those of this database of"
            f" {stored}: set HELIX_EMBEDDER to the latter, and import with --reembed"
        ) from None


def _check_columns(connection: Connected, manifest: Manifest, folder: Path) -> None:
    """Return where every column of the export is a column of this database too."""
    importable = {table.name: set(columns_of(connection, table)) for table in TABLES}
    importable[FILES] = {"tenant_id", "content_hash"}
    for table, member in manifest.tables.items():
        if "tenant_id" not in member.columns:
            raise files.damaged(folder, f"{table} does not say whose its rows are")
        if table not in importable or not importable[table] >= set(member.columns):
            raise TransferFailed(
                f"{folder} has more in {table} than this Helix knows: import it with"
                f" {manifest.made_by} or newer"
            )


def _check_empty(connection: Connected, tenant: str) -> None:
    for table in TABLES:
        statement = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE {})")
        query = statement.format(sql.Identifier(table.name), OWN)
        if connection.execute(query, {"tenant": tenant}).fetchone() == (True,):
            raise TransferFailed(
                f"the tenant {tenant} has rows in {table.name} already: import into one that has"
                f" none (--tenant NAME), or `helix tenants erase {tenant}` first"
            )


def _offsets(connection: Connected, manifest: Manifest) -> Offsets:
    """The number to add to the ids of each numbered table; the new ids are reserved by it."""
    offsets = {}
    for table in (table for table in TABLES if table.numbered):
        last = manifest.last.get(table.name, 0)
        statement = sql.SQL(_TAKEN).format(sql.Identifier(table.name))
        (is_taken,) = connection.execute(statement, (last,)).fetchone() or (False,)
        offsets[table.name] = _reserved(connection, table.name, 0) if is_taken else 0
        _reserved(connection, table.name, offsets[table.name] + last)
    return offsets


def _reserved(connection: Connected, table: str, last: int) -> int:
    """Advance the sequence of a table's ids to ``last`` at least; returns its last value."""
    row = connection.execute(_RESERVE, {"table": table, "last": max(last, 1)}).fetchone()
    return int(row[0]) if row else 0


def _load_files(connection: Connected, folder: Path, tenant: str) -> None:
    for line in files.read_rows(folder, FILES):
        try:
            row = json.loads(line)
            space, content_hash = str(row["tenant_id"]), str(row["content_hash"])
        except (ValueError, TypeError, LookupError):
            raise files.damaged(folder, f"{FILES} has a row that is none") from None
        if not re.fullmatch(_SPACE, space):
            raise files.damaged(folder, f"{FILES} has a row of another tenant")
        data = files.read_file(folder, content_hash)
        keep_bytes(connection, tenant + space, content_hash, data)


def _load(
    connection: Connected,
    manifest: Manifest,
    table: Table,
    tenant: str,
    batches: Iterable[list[str]],
) -> None:
    columns = manifest.tables[table.name].columns
    values = sql.SQL(", ").join(
        _OWN_SPACE if name == "tenant_id" else sql.Identifier(name) for name in columns
    )
    statement = sql.SQL(
        "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE"
        " SELECT {values} FROM json_populate_recordset(NULL::{table}, %(rows)s::json)"
    ).format(table=sql.Identifier(table.name), columns=listed(columns), values=values)
    for rows in batches:
        connection.execute(statement, {"tenant": tenant, "rows": f"[{','.join(rows)}]"})


def _batches(folder: Path, table: Table, offsets: Offsets) -> Iterator[list[str]]:
    """The rows of a table with their new ids, in batches that are bounded in rows and bytes."""
    batch: list[str] = []
    size = 0
    for line in files.read_rows(folder, table.name):
        row = line
        if any(offsets.values()):
            row = json.dumps(renumbered(json.loads(line), table, offsets), ensure_ascii=False)
        batch.append(row)
        size += len(row)
        if len(batch) == _ROWS_AT_ONCE or size > _BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _check_ids(
    connection: Connected, folder: Path, tenant: str, manifest: Manifest, offsets: Offsets
) -> None:
    """Return where no id is beyond those that were reserved, which others are given later."""
    for name, offset in offsets.items():
        statement = sql.SQL("SELECT min(id), max(id) FROM {} WHERE {}")
        query = statement.format(sql.Identifier(name), OWN)
        least, greatest = connection.execute(query, {"tenant": tenant}).fetchone() or (None, None)
        last = max(manifest.last.get(name, 0), 0)
        if least is not None and not offset < least <= greatest <= offset + last:
            raise files.damaged(folder, f"{name} has an id beyond its last")
    (message,) = connection.execute(_GREATEST_MESSAGE, {"tenant": tenant}).fetchone() or (None,)
    if message is not None and message > MOST_ID:
        raise files.damaged(folder, f"messages has the id {message}")


def _check_lengths(connection: Connected, folder: Path, tenant: str) -> None:
    found = connection.execute(_TOO_LONG, {"tenant": tenant, **_LONGEST}).fetchone()
    if found is not None:
        raise TransferFailed(f"{found[0]} in {folder} is longer than Helix takes from a client")


def _finish(connection: Connected, tenant: str) -> None:
    """End documents and answers that were under way, and make the BM25 terms of the chunks."""
    whose = {"tenant": tenant}
    for statement in (_SETTLE_DOCUMENTS, _SETTLE_MESSAGES):
        connection.execute(statement, whose)
    (greatest,) = connection.execute(_GREATEST_MESSAGE, whose).fetchone() or (None,)
    _reserved(connection, "messages", greatest or 1)
    last = 0
    while filled := fill_missing(connection, last):
        last = filled[-1]
