"""The printed pages of a document and its tables: listed, and between its text and its paper."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helix.domain.file_kinds import media_of
from helix.domain.pages import Box, boxes_of, spans_in
from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.library.documents import no_document
from helix.library.errors import NotFound
from helix.storage.statements import pages as sql
from helix.storage.stored_bytes import StoredFile, stored_words

MOST_CHARACTERS = 50_000
"""Of a range whose boxes are asked for."""


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page, in points from the top left corner of the page as it is shown."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


async def list_pages(library: Library, document_id: int) -> list[Row]:
    """The printed pages of a document in order; none where its format has none.

    Raises:
        NotFound: there is no such document.
    """
    return await _of_document(library, sql.PAGES, document_id)


async def list_tables(library: Library, document_id: int) -> list[Row]:
    """The tables of a document in the order of its text; raises as list_pages does."""
    return await _of_document(library, sql.TABLES, document_id)


async def _of_document(library: Library, statement: str, document_id: int) -> list[Row]:
    rows = await library.rows(statement, {"id": document_id})
    if not rows:
        await _check_document(library, document_id)
    return rows


async def _check_document(library: Library, document_id: int) -> None:
    if await library.data(sql.EXISTS, {"id": document_id}) is None:
        raise no_document(document_id)


async def boxes_of_range(library: Library, document_id: int, start: int, end: int) -> list[PageBox]:
    """The boxes of the characters ``start`` to ``end`` of a document's text, on its pages.

    Raises:
        BadRequest: the range is none, or longer than MOST_CHARACTERS.
        NotFound: there is no such document.
    """
    if not 0 <= start < end:
        raise BadRequest("start and end must be a range of characters: 0 <= start < end")
    if end - start > MOST_CHARACTERS:
        raise BadRequest(f"the range is longer than {MOST_CHARACTERS} characters: ask in parts")
    values = {"id": document_id, "start": start, "end": end}
    rows = await library.all_data(sql.WORDS_OF_RANGE, values)
    if not rows:
        await _check_document(library, document_id)
    return await asyncio.to_thread(_boxes, rows, start, end)


def _boxes(pages: Sequence[Row], start: int, end: int) -> list[PageBox]:
    return [
        PageBox(page["number"], *box)
        for page in pages
        for box in boxes_of(stored_words(page["words"]), start, end)
    ]


async def text_in_box(library: Library, document_id: int, number: int, box: Box) -> dict[str, Any]:
    """``{"start", "end", "spans"}``: what of the document's text is in ``box`` of a page.

    ``start`` and ``end`` are those of the first span and the last; None where there is no word.

    Raises:
        NotFound: there is no such document or page.
    """
    row = await library.data(sql.WORDS_OF_PAGE, {"id": document_id, "number": number})
    if row is None:
        await _check_document(library, document_id)
        raise _no_page(document_id, number)
    spans = await asyncio.to_thread(spans_in, stored_words(row["words"]), box)
    start, end = (spans[0][0], spans[-1][1]) if spans else (None, None)
    return {"start": start, "end": end, "spans": spans}


async def file_of_page(library: Library, document_id: int, number: int) -> str:
    """The hash of the kept file that a page is a page of.

    Raises:
        NotFound: there is no such document or page, or the file's bytes are not kept.
    """
    row = await library.data(sql.FILE_OF_PAGE, {"id": document_id, "number": number})
    if row is None:
        raise no_document(document_id)
    if row["media"] != "pdf":
        media = media_of(row["media"])
        kind = media.name if media else "no"
        raise NotFound(f"document {document_id} has no printed pages: it is a {kind} file")
    if row["file_hash"] is None:
        raise file_not_kept(document_id, row["source_uri"])
    if row["number"] is None:
        raise _no_page(document_id, number)
    return str(row["file_hash"])


async def bytes_of_file(library: Library, file_hash: str) -> bytes:
    """The bytes of a kept file; NotFound where it was deleted meanwhile."""
    row = await library.data(sql.FILE_BYTES, {"file_hash": file_hash})
    if row is None:
        raise NotFound("the file was deleted meanwhile")
    return await library.aside(StoredFile(**row).read)


def file_not_kept(document_id: int, source_uri: str) -> NotFound:
    """The error for a document whose source's bytes are not stored."""
    return NotFound(
        f"the file of document {document_id} is not kept, so its pages cannot be shown: run"
        f" `helix ingest --keep-files {source_uri}`, or upload it"
    )


def _no_page(document_id: int, number: int) -> NotFound:
    return NotFound(f"document {document_id} has no page {number}")
