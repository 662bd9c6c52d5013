"""Further sources of a document: the same bytes by their path and by upload are one document."""

from __future__ import annotations

from helix.storage.connections import Connected
from helix.storage.pipelined_connections import Statement
from helix.storage.statements import document_sources as sql

UPLOADED = "upload:"
"""The beginning of an upload's source_uri, where its client did not ask for one."""


def source_of_same_bytes(
    connection: Connected, tenant: str, source_uri: str, content_hash: str
) -> str:
    """The source_uri of the document that a tenant's source is, or is to be.

    It is the source's own, but for bytes that were uploaded before: then the upload's, and the
    source is recorded as a further one of it.
    """
    values = {
        "tenant": tenant, "source_uri": source_uri, "content_hash": content_hash,
        "uploaded": UPLOADED,
    }  # fmt: skip
    if (
        source_uri.startswith(UPLOADED)
        or connection.execute(sql.OWN, values).fetchone() is not None
    ):
        return source_uri
    found = connection.execute(sql.OF_SAME_BYTES, values).fetchone()
    if found is None:
        return source_uri
    document_id, known = found
    add_source(connection, tenant, document_id, source_uri, content_hash)
    return str(known)


def add_source(
    connection: Connected, tenant: str, document_id: int, source_uri: str, content_hash: str
) -> None:
    """Record that the bytes of a tenant's document came from ``source_uri`` too."""
    values = {
        "tenant": tenant, "document_id": document_id, "source_uri": source_uri,
        "content_hash": content_hash,
    }  # fmt: skip
    connection.execute(sql.ADD, values)


def settling(tenant: str, source_uri: str, content_hash: str) -> Statement:
    """The statement after a write of ``source_uri`` with other bytes than some further sources had.

    Those are its sources no more, and ``source_uri`` is nobody's further source.
    """
    return sql.SETTLE, {"tenant": tenant, "source_uri": source_uri, "content_hash": content_hash}
