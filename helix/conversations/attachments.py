"""Documents attached to one conversation: stored as a tenant whose name no request can contain.

So both walls between tenants protect a conversation's documents too: no route, search or list of
the tenant sees them. The turns of their conversation search them first, the library where they do
not answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import sha256

from psycopg.types.json import Jsonb

from helix.conversations.conversation_rows import delete, hold
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row
from helix.library.document_list import DocumentFilter, Page, list_documents
from helix.library.documents import file_parts, get_file, remove_document
from helix.library.uploads import Upload, UploadResult, clean_name, store_uploads
from helix.storage.statements import attachments as sql
from helix.storage.statements.sessions import become

MOST = 5
"""The most documents of one conversation."""


def space_of(tenant: str, conversation_id: str) -> str:
    """The tenant that a conversation's documents are stored as; ``tenant_name`` refuses it."""
    return f"{tenant}/{sha256(conversation_id.encode()).hexdigest()[:32]}"


async def attached_space(library: Library, conversation_id: str) -> str | None:
    """``space_of`` the conversation where there are documents in it; else None."""
    space = space_of(library.tenant, conversation_id)
    row = await library.of(space).data(sql.ANY, {})
    return space if row and row["found"] else None


async def list_attached(library: Library, conversation_id: str) -> list[Row]:
    """The conversation's documents, as GET /v1/documents has them."""
    space = library.of(space_of(library.tenant, conversation_id))
    listed = await list_documents(space, DocumentFilter(), Page(MOST))
    return list(listed["documents"])


async def attach(library: Library, conversation_id: str, uploads: Sequence[Upload]) -> UploadResult:
    """Store ``uploads`` for the conversation, and start the run that reads them.

    Raises:
        NotFound: there is no such conversation, or not any more.
        BadRequest: it would have more than MOST documents.
    """
    space = space_of(library.tenant, conversation_id)

    def store(connection: Connected) -> UploadResult:
        become(connection, space)
        known = {row[0] for row in connection.execute(sql.HASHES, (space,)).fetchall()}
        if len(known | {upload.content_hash for upload in uploads}) > MOST:
            raise BadRequest(f"a conversation takes {MOST} documents: remove one, or add to the"
                             " library what is to stay")  # fmt: skip
        stored = store_uploads(connection, uploads, space)
        become(connection, library.tenant, library.reach)
        hold(connection, library.tenant, conversation_id)  # last: whoever asks in it waits for that
        return stored

    return await library.change(store)


async def detach(library: Library, conversation_id: str, document_id: int) -> None:
    """Delete a document of the conversation, and its words in the conversation's answers.

    Raises:
        NotFound: the conversation has no such document.
    """
    await library.change(partial(_detach, library, conversation_id, document_id))


async def delete_with_documents(library: Library, conversation_id: str) -> None:
    """Delete a conversation with its messages and documents: all of it, or nothing.

    Raises:
        NotFound: there is none.
    """
    space = space_of(library.tenant, conversation_id)

    def remove(connection: Connected) -> None:
        hold(connection, library.tenant, conversation_id)  # what is being attached is in, or fails
        become(connection, space)
        documents = connection.execute(sql.HOLD_IDS, {"tenant": space}).fetchall()
        become(connection, library.tenant, library.reach)
        for row in documents:  # first: its messages tell whose receipts have words
            _detach(library, conversation_id, row[0], connection)
        delete(connection, library.tenant, conversation_id)

    await library.change(remove)


def _detach(
    library: Library, conversation_id: str, document_id: int, connection: Connected
) -> None:
    """``detach`` inside the caller's transaction."""
    space = space_of(library.tenant, conversation_id)
    become(connection, space)
    remove_document(connection, document_id, space)
    become(connection, library.tenant, library.reach)
    values = {
        "tenant": library.tenant, "id": conversation_id, "document": document_id,
        "cited": Jsonb([{"document_id": document_id}]),
    }  # fmt: skip
    connection.execute(sql.FORGET, values)


async def add_to_library(
    library: Library, conversation_id: str, document_id: int,
    store: Callable[[list[Upload]], Awaitable[UploadResult]],
) -> UploadResult:  # fmt: skip
    """Move a document of the conversation into the library, as ``store`` stores any upload.

    Answers that cite it stay as they are.

    Raises:
        NotFound: the conversation has no such document.
    """
    space = library.of(space_of(library.tenant, conversation_id))
    file = await get_file(space, document_id)
    data = b"".join([part async for part in file_parts(space, file)])
    upload = Upload(
        clean_name(file.source_uri), file.media, len(data), sha256(data).hexdigest(), lambda: data
    )
    stored = await store([upload])
    await space.change(partial(remove_document, document_id=document_id, tenant=space.tenant))
    return stored
