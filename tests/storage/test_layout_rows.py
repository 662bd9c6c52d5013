"""Printed pages and tables: written with their document, replaced with it and gone with it."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import replace

import pytest

from helix.domain.pages import PrintedPage, unpack_words
from helix.domain.records import DocumentRecord
from helix.errors import StoreUnavailable
from helix.storage.stored_bytes import stored_words
from tests.support.fake_embedder import opened, record, rows, write
from tests.support.printed_documents import PAGES, TABLE, TEXT

PRINTED = replace(
    record("folder/report.pdf", TEXT), pages=PAGES, tables=(TABLE,), file_name="report.pdf",
    facts={"company": "Helix Inc."},
)  # fmt: skip
_PAGES = (
    "SELECT number, label, width, height, start_char, end_char, furniture, words"
    " FROM document_pages WHERE tenant_id = %s ORDER BY number"
)


def _stored_pages(url: str, tenant: str) -> tuple[PrintedPage, ...]:
    return tuple(
        PrintedPage(
            number, label, width, height, start, end, tuple(furniture), zlib.decompress(words)
        )
        for number, label, width, height, start, end, furniture, words in rows(url, _PAGES, tenant)
    )


async def _write(url: str, document: DocumentRecord, tenant: str = "default") -> int:
    async with opened(url) as store:
        return await asyncio.to_thread(write, store.of(tenant), document)


async def test_a_document_is_stored_with_its_pages_and_tables(database_url: str) -> None:
    number = await _write(database_url, PRINTED)
    assert _stored_pages(database_url, "default") == PAGES
    ((words, first, last),) = rows(
        database_url, "SELECT words, first_word, last_word FROM document_pages WHERE number = 2"
    )
    assert list(stored_words(words)) == list(unpack_words(PAGES[1].words))
    assert (first, last) == (PAGES[1].start, PAGES[1].end)
    assert list(stored_words(b"")) == []
    assert rows(
        database_url,
        "SELECT document_id, ordinal, start_char, end_char, page, caption, units, row_paths,"
        " column_paths, cells FROM document_tables",
    ) == [
        (
            number, 0, TABLE.start, TABLE.end, 2, "Results", "in millions", [["Revenue"], ["Cost"]],
            [["Three Months Ended", "July 1, 2023"]],
            [[cell.row, cell.column, cell.start, cell.end] for cell in TABLE.cells],
        )
    ]  # fmt: skip
    assert rows(database_url, "SELECT file_name, facts FROM documents") == [
        ("report.pdf", {"company": "Helix Inc."})
    ]


async def test_they_are_replaced_with_it_and_gone_with_it(database_url: str) -> None:
    count = "SELECT (SELECT count(*) FROM document_pages), (SELECT count(*) FROM document_tables)"
    for tenant in ("default", "other"):
        await _write(database_url, PRINTED, tenant)
    assert rows(database_url, count) == [(4, 2)]
    await _write(database_url, replace(PRINTED, pages=PAGES[:1], tables=()))
    assert _stored_pages(database_url, "default") == PAGES[:1]
    assert rows(database_url, count) == [(3, 1)]
    async with opened(database_url) as store:
        await store.adelete("folder/report.pdf")
        assert rows(database_url, count) == [(2, 1)]
        await store.of("other").aclear()
    assert rows(database_url, count) == [(0, 0)]


async def test_a_write_that_fails_leaves_the_pages_that_were(database_url: str) -> None:
    await _write(database_url, PRINTED)
    with pytest.raises(StoreUnavailable):
        await _write(database_url, replace(PRINTED, pages=(replace(PAGES[0], width=-1.0),)))
    assert _stored_pages(database_url, "default") == PAGES
