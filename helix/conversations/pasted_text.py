"""A text that was pasted into a question: read and searched as a document put to a conversation.

It is stored as a tenant whose name no request can contain, as attachments are, by its own hash: the
same text is read once. It is kept for a day, so that its receipts can be verified meanwhile.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from helix.conversations.attachments import attach, space_of
from helix.conversations.conversation_rows import create
from helix.errors import BadRequest, Unavailable
from helix.library.access import Library
from helix.library.uploads import Upload, UploadResult, store_uploads
from helix.storage.connections import Connected
from helix.storage.statements import attachments as sql

NAME = "pasted-text.txt"
READ_SECONDS = 60.0
"""Longest that a question waits for its text to be read."""
_LOOK_SECONDS = 0.1
_PREFIX = "/pasted-"


class NotRead(Unavailable):
    """The text was not read in time."""


@dataclass(frozen=True, slots=True)
class PastedText:
    """A stored text: the ``space`` that it is searched in, its document, and its run if one reads
    it."""

    space: str
    document_id: int
    run_id: int | None


async def store_pasted(library: Library, text: str) -> PastedText:
    """Store the text of a turn of the tenant; where it is there already it is used again."""
    upload = _upload(text)
    space = f"{library.tenant}{_PREFIX}{upload.content_hash[:32]}"

    def store(connection: Connected) -> UploadResult:
        stored = store_uploads(connection, [upload], space)
        connection.execute(sql.USED, (space,))
        return stored

    stored = await library.of(space).change(store)
    return PastedText(space, stored.documents[0]["id"], stored.run_id)


async def put_pasted(library: Library, conversation_id: str, text: str) -> PastedText:
    """Put the text to a conversation, which is created where there is none.

    Raises:
        BadRequest: the conversation has as many documents as it may.
    """
    space = space_of(library.tenant, conversation_id)
    new = partial(
        create, tenant=library.tenant, conversation_id=conversation_id, title="", scope={}
    )
    await library.change(new)
    stored = await attach(library, conversation_id, [_upload(text)])
    return PastedText(space, stored.documents[0]["id"], stored.run_id)


def _upload(text: str) -> Upload:
    data = text.encode("utf-8", "replace")
    return Upload(NAME, "text", len(data), sha256(data).hexdigest(), lambda: data)


async def until_read(library: Library, pasted: PastedText, seconds: float = READ_SECONDS) -> None:
    """Return when the text can be searched.

    Raises:
        BadRequest: there is nothing to read in it.
        NotRead: it was not read in time; its run goes on.
    """
    space, loop = library.of(pasted.space), asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while loop.time() < deadline:
        state = await space.data(sql.STATE, {"id": pasted.document_id})
        if state and state["status"] == "ready":
            return
        if state is None or state["status"] == "failed":
            reason = (state or {}).get("error") or "it was deleted meanwhile"
            raise BadRequest(f"the pasted text cannot be read: {reason}")
        await asyncio.sleep(_LOOK_SECONDS)
    raise NotRead("the pasted text is still being read; ask again")


def old_spaces(connection: Connected) -> list[str]:
    """The spaces of texts that no question had within a day; needs the owner's rights."""
    return [space for (space,) in connection.execute(sql.OLD, {"prefix": _PREFIX}).fetchall()]
