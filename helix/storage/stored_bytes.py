"""The bytes of uploaded and spooled files, and the pages and tables of a document.

The table ``files`` has one row per tenant and content, with the bytes written into it.
``helix.storage.file_moves`` may move them to an object of a bucket later, which the row then names.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from helix.domain.pages import PrintedPage, WordBox, unpack_words
from helix.domain.tables import Table
from helix.storage.connections import Connected
from helix.storage.objects import read_object
from helix.storage.statements import files as sql
from helix.storage.statements import pages as layout


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A row of ``files``: its ``size`` bytes, or the object that has them."""

    data: bytes | None
    place: str | None
    size: int

    def read(self) -> bytes:
        """The bytes, from the bucket where they are there: not while a connection is held.

        Raises:
            SettingsError, StoreUnavailable: as read_object does.
        """
        if self.data is not None:
            return self.data
        assert self.place is not None  # the table's constraint
        return read_object(self.place, self.size)


def keep_bytes(connection: Connected, tenant: str, content_hash: str, data: bytes) -> None:
    """Store a tenant's ``data`` under its SHA-256 in hex, once however often it comes."""
    connection.execute(sql.KEEP, (tenant, content_hash, data, len(data)))


def stored_file(connection: Connected, tenant: str, content_hash: str) -> StoredFile | None:
    """The file stored under ``content_hash``; None when it is gone."""
    with connection.cursor(binary=True, row_factory=class_row(StoredFile)) as cursor:
        return cursor.execute(sql.READ, (tenant, content_hash)).fetchone()


def drop_bytes(connection: Connected, references: Iterable[tuple[str, str | None]]) -> int:
    """Delete those stored bytes that no document and no file of a run refers to any more; how many.

    ``references`` are pairs of tenant and hash that were let go; a hash of None is passed over. The
    object of a row that goes is let go of by the table's trigger.
    """
    if dropped := sorted({(tenant, digest) for tenant, digest in references if digest}):
        columns = [list(column) for column in zip(*dropped, strict=True)]
        connection.execute(sql.LOCK, columns)
        return connection.execute(sql.DROP, columns).rowcount
    return 0


_PAGE_TYPES = (
    "text", "int8", "int4", "text", "float4", "float4", "int4", "int4", "int4", "int4", "jsonb",
    "bytea",
)  # fmt: skip
_TABLE_TYPES = (
    "text", "int8", "int4", "int4", "int4", "int4", "text", "text", "jsonb", "jsonb", "jsonb",
)  # fmt: skip
# Of 10-Q filings level 1 leaves 0.61 of the bytes; level 6 leaves 0.61 in nearly twice the time.
_LEVEL = 1


def replace_layout(
    connection: Connected,
    tenant: str,
    document_id: int,
    pages: Sequence[PrintedPage],
    tables: Sequence[Table],
    *,
    is_new: bool = False,
) -> None:
    """Make these the pages and tables of a document, in the caller's transaction.

    A document that ``is_new`` has none yet.
    """
    document = (tenant, document_id)
    if not is_new:
        connection.execute(layout.DROP_PAGES, document)
        connection.execute(layout.DROP_TABLES, document)
    if pages:
        with connection.cursor().copy(layout.COPY_PAGES) as copy:
            copy.set_types(_PAGE_TYPES)
            for page in pages:
                copy.write_row((*document, *_page_row(page)))
    if tables:
        with connection.cursor().copy(layout.COPY_TABLES) as copy:
            copy.set_types(_TABLE_TYPES)
            for ordinal, table in enumerate(tables):
                copy.write_row((*document, ordinal, *_table_row(table)))


def _page_row(page: PrintedPage) -> tuple[Any, ...]:
    spans = [(word.start, word.end) for word in unpack_words(page.words)]
    return (
        page.number, page.label, page.width, page.height, page.start, page.end,
        min((start for start, _ in spans), default=None),
        max((end for _, end in spans), default=None),
        Jsonb(list(page.furniture)), zlib.compress(page.words, _LEVEL) if page.words else b"",
    )  # fmt: skip


def _table_row(table: Table) -> tuple[Any, ...]:
    return (
        table.start, table.end, table.page, table.caption, table.units, Jsonb(table.rows),
        Jsonb(table.columns),
        Jsonb([(cell.row, cell.column, cell.start, cell.end) for cell in table.cells]),
    )  # fmt: skip


def stored_words(compressed: bytes) -> Iterator[WordBox]:
    """The words of a row of document_pages, in order of their starts."""
    return unpack_words(zlib.decompress(compressed)) if compressed else iter(())
