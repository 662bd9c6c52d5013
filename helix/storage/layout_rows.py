"""The printed pages and the tables of one document, written with it and read as values again."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from helix.domain.pages import PrintedPage, WordBox, unpack_words
from helix.domain.tables import Table
from helix.storage.connections import Connected
from helix.storage.statements import pages as sql

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
        connection.execute(sql.DROP_PAGES, document)
        connection.execute(sql.DROP_TABLES, document)
    if pages:
        with connection.cursor().copy(sql.COPY_PAGES) as copy:
            copy.set_types(_PAGE_TYPES)
            for page in pages:
                copy.write_row((*document, *_page_row(page)))
    if tables:
        with connection.cursor().copy(sql.COPY_TABLES) as copy:
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
