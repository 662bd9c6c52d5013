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
from helix.storage.statements import embedding_space
from helix.storage.statements import exports as statements
from helix.storage.stored_bytes import keep_bytes
from helix.storage.term_rows import fill_missing

if TYPE_CHECKING:
    from helix.library.transfer.vector_tables import NewVectors  # loads LlamaIndex

_SPACE = r"(?:/[0-9a-f]{32})?"
"""The part of a row's tenant_id behind the tenant's name: a space of a conversation's, or nothing.
Anything else would make a row of another tenant, whose name begins like this one's."""
_OWN_SPACE = sql.SQL(statements.OWN_SPACE).format(space=sql.Literal(f"^{_SPACE}$"))
_ROWS_AT_ONCE = 200
_BYTES_AT_ONCE = 8_000_000
_LONGEST = {"question": LONGEST_QUESTION, "answer": LONGEST_EARLIER, "title": 2 * LONGEST_TITLE}
"""Characters; titles of 400 came in by imports of conversations once."""


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
            connection.execute(statements.AS_TENANT, (tenant,))
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
        (stored,) = connection.execute(embedding_space.STORED).fetchone() or ("?",)
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
        name = sql.Identifier(table.name)
        query = sql.SQL(statements.HAS_ROWS).format(table=name, own=OWN)
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
        statement = sql.SQL(statements.TAKEN).format(table=sql.Identifier(table.name))
        (is_taken,) = connection.execute(statement, (last,)).fetchone() or (False,)
        offsets[table.name] = _reserved(connection, table.name, 0) if is_taken else 0
        _reserved(connection, table.name, offsets[table.name] + last)
    return offsets


def _reserved(connection: Connected, table: str, last: int) -> int:
    """Advance the sequence of a table's ids to ``last`` at least; returns its last value."""
    row = connection.execute(statements.RESERVE, {"table": table, "last": max(last, 1)}).fetchone()
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
    statement = sql.SQL(statements.LOAD).format(
        table=sql.Identifier(table.name), columns=listed(columns), values=values
    )
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
        query = sql.SQL(statements.ID_RANGE).format(table=sql.Identifier(name), own=OWN)
        least, greatest = connection.execute(query, {"tenant": tenant}).fetchone() or (None, None)
        last = max(manifest.last.get(name, 0), 0)
        if least is not None and not offset < least <= greatest <= offset + last:
            raise files.damaged(folder, f"{name} has an id beyond its last")
    (message,) = connection.execute(statements.GREATEST_MESSAGE, {"tenant": tenant}).fetchone() or (
        None,
    )
    if message is not None and message > MOST_ID:
        raise files.damaged(folder, f"messages has the id {message}")


def _check_lengths(connection: Connected, folder: Path, tenant: str) -> None:
    found = connection.execute(statements.TOO_LONG, {"tenant": tenant, **_LONGEST}).fetchone()
    if found is not None:
        raise TransferFailed(f"{found[0]} in {folder} is longer than Helix takes from a client")


def _finish(connection: Connected, tenant: str) -> None:
    """End documents and answers that were under way, and make the BM25 terms of the chunks."""
    whose = {"tenant": tenant}
    for statement in (statements.SETTLE_DOCUMENTS, statements.SETTLE_MESSAGES):
        connection.execute(statement, whose)
    (greatest,) = connection.execute(statements.GREATEST_MESSAGE, whose).fetchone() or (None,)
    _reserved(connection, "messages", greatest or 1)
    last = 0
    while filled := fill_missing(connection, last):
        last = filled[-1]
