"""Images of a conversation: each is stored once, named by messages, and deleted with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from helix.answering.images import UploadedImage
from helix.conversations.conversation_rows import hold
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row
from helix.library.errors import NotFound
from helix.storage.statements import conversation_images as sql

_MEGABYTE = 2**20
MOST_BYTES = 64 * _MEGABYTE
"""The most bytes that the images of one conversation have."""
MOST_AT_ONCE = 5
"""The most images of one question."""


def add_image(
    connection: Connected, tenant: str, conversation_id: str, image: UploadedImage, name: str
) -> Row:
    """Store an image inside the caller's transaction; returns ``{id, name, media, bytes}``.

    ``id`` is SHA-256 of the bytes in hex. An image that is there already keeps its name.

    Raises:
        NotFound: there is no such conversation.
        BadRequest: it would have more than MOST_BYTES of images.
    """
    hold(connection, tenant, conversation_id)
    at = {"tenant": tenant, "id": conversation_id, "image": sha256(image.data).hexdigest()}
    held = connection.execute(sql.HELD, at).fetchone()
    if held and held[0] + len(image.data) > MOST_BYTES:
        limit = MOST_BYTES // _MEGABYTE
        raise BadRequest(f"a conversation takes {limit} MB of images: begin another conversation")
    values = at | {"name": name, "media": image.type, "data": image.data}
    connection.execute(sql.KEEP, values)
    return describe_images(connection, tenant, conversation_id, [at["image"]])[0]


def describe_images(
    connection: Connected, tenant: str, conversation_id: str, ids: Sequence[str]
) -> list[Row]:
    """``{id, name, media, bytes}`` of the conversation's images ``ids``, in this order.

    Raises:
        NotFound: the conversation has no such image.
    """
    values = {"tenant": tenant, "id": conversation_id, "images": list(ids)}
    rows = connection.execute(sql.SOME, values).fetchall()
    found = {row[0]: dict(zip(("id", "name", "media", "bytes"), row, strict=True)) for row in rows}
    if missing := [one for one in ids if one not in found]:
        raise _no_image(missing[0])
    return [found[one] for one in dict.fromkeys(ids)]


async def read_image(library: Library, conversation_id: str, image_id: str) -> UploadedImage:
    """An image of the conversation.

    Raises:
        NotFound: the conversation has no such image.
    """
    row = await library.data(sql.READ, {"id": conversation_id, "image": image_id})
    if row is None:
        raise _no_image(image_id)
    return UploadedImage(bytes(row["data"]), row["media"])


async def images_of(
    library: Library, conversation_id: str, attachments: Sequence[Mapping[str, Any]]
) -> tuple[UploadedImage, ...]:
    """The images that a message's ``attachments`` name; raises NotFound as ``read_image``."""
    return tuple([await read_image(library, conversation_id, one["id"]) for one in attachments])


async def all_images(library: Library, conversation_id: str) -> list[Row]:
    """``{id, name, media, data}`` of every image of the conversation."""
    return await library.all_data(sql.ALL, {"id": conversation_id})


def _no_image(image_id: str) -> NotFound:
    return NotFound(f"there is no image {image_id[:64]} in this conversation")
