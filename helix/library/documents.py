"""A document as a client sees it: its text and chunks, a chunk, its file, deletion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from helix.domain.contract import OPEN_FILE
from helix.library.access import Library, Row
from helix.library.errors import NotEditable, NotFound
from helix.library.run_files import cancel_document
from helix.storage.connections import Connected
from helix.storage.objects import read_part
from helix.storage.statements import documents as sql

DELETED = "its document was deleted"

PART_BYTES = 2**20
"""Of a file that is downloaded, as much is in memory for each client that reads it slowly."""


def not_editable(document_id: int) -> NotEditable:
    """The error for a document that may be read only."""
    return NotEditable(
        f"document {document_id} stands in a space whose documents you may not change: where it"
        " stands in one of yours too, take it out of that"
    )


async def must_change(library: Library, *document_ids: int) -> None:
    """Return where there are such documents that may be changed.

    Raises:
        NotFound: one is not there, or may not be read.
        NotEditable: one may be read only.
    """
    for number in sorted(await library.unreadable(document_ids)):
        raise no_document(number)
    for number in sorted(await library.unchangeable(document_ids)):
        raise not_editable(number)


async def get_document(library: Library, document_id: int, with_text: bool = True) -> Row:
    """The document with its outline and chunks, and its text unless that is not wanted.

    Raises:
        NotFound: there is none of this id.
    """
    row = await library.row(sql.DOCUMENT, {"id": document_id, "text": with_text})
    if row is None:
        raise no_document(document_id)
    row["chunks"] = row.pop("chunk_list")
    if not with_text:
        del row["text"]
    return row


async def get_chunk(library: Library, chunk_id: int) -> Row:
    """The chunk, where it lies, and its neighbours.

    Raises:
        NotFound: there is none of this id.
    """
    row = await library.row(sql.CHUNK, {"id": chunk_id})
    if row is None:
        raise NotFound(f"there is no chunk {chunk_id}: its document was changed or deleted")
    return row


@dataclass(frozen=True)
class OriginalFile:
    """A document's file as it was uploaded: ``size`` bytes, stored under their SHA-256 in hex.

    ``file_name`` is empty where none is known.
    """

    source_uri: str
    file_name: str
    media: str
    content_hash: str
    size: int


async def get_file(library: Library, document_id: int) -> OriginalFile:
    """The file of a document whose source is kept; ``file_parts`` gives its bytes.

    Raises:
        NotFound: no such document, or its source is not kept.
    """
    row = await library.data(sql.FILE, {"id": document_id})
    if row is None:
        raise NotFound(
            f"no file is kept for document {document_id}: uploads are, and what was ingested with"
            " --keep-files"
        )
    return OriginalFile(**row)


async def file_parts(library: Library, file: OriginalFile) -> AsyncGenerator[bytes, None]:
    """The bytes of ``file``, a part at a time, read when it is asked for.

    They are those of one version, for they lie under their hash.

    Raises:
        NotFound: the document was deleted meanwhile.
    """
    for start in range(0, file.size, PART_BYTES):
        values = {"content_hash": file.content_hash, "start": start, "most": PART_BYTES}
        row = await library.data(sql.FILE_PART, values)
        if row is None:
            raise NotFound(DELETED)
        if row["place"] is None:
            yield bytes(row["part"])
        else:
            yield await asyncio.to_thread(read_part, row["place"], start, PART_BYTES)


def tag_document(connection: Connected, document_id: int, tags: Sequence[str], tenant: str) -> None:
    """Make ``tags`` those of the tenant's document, inside the caller's transaction.

    Raises:
        NotFound: there is none of this id.
    """
    values = (list(tags), tenant, document_id)
    connection.execute(sql.TAG_COMING, (*values, list(OPEN_FILE)))
    if connection.execute(sql.TAG, values).rowcount == 0:
        raise no_document(document_id)


def remove_document(connection: Connected, document_id: int, tenant: str) -> None:
    """Delete the tenant's document and all that only it used, inside the caller's transaction.

    What a run is still to do for it is cancelled.

    Raises:
        NotFound: there is none of this id.
    """
    from helix.storage.document_deletes import delete_one  # it loads numpy, a list need not

    row = connection.execute(sql.SOURCE_OF, (tenant, document_id)).fetchone()
    # by its id alone: delete_document would take a source that is called "42" for it too
    if row is None or not delete_one(connection, tenant, document_id, row[0]):
        raise no_document(document_id)
    cancel_document(connection, document_id, DELETED, tenant)


def no_document(document_id: int) -> NotFound:
    """The error for an id that no document has."""
    return NotFound(f"there is no document {document_id}: GET /v1/documents lists them")
