"""Further sources of a document: the same bytes by their path and by upload are one document."""

from __future__ import annotations

from helix.storage.connections import Connected
from helix.storage.pipelined_connections import Statement

UPLOADED = "upload:"
"""The beginning of an upload's source_uri, where its client did not ask for one."""

LOCK_SOURCE = """
SELECT pg_advisory_xact_lock(hashtextextended(%(source_uri)s, hashtextextended(%(tenant)s, 0)))
"""
"""One writer of a source at a time: two that race a delete would both insert its old id."""

_OWN = "SELECT FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s"
_OF_SAME_BYTES = """
SELECT d.id, d.source_uri FROM documents d
WHERE d.tenant_id = %(tenant)s AND d.content_hash = %(content_hash)s AND d.status = 'ready'
    AND (starts_with(d.source_uri, %(uploaded)s) OR EXISTS (
        SELECT FROM document_sources s WHERE s.tenant_id = d.tenant_id AND s.document_id = d.id
            AND s.source_uri = %(source_uri)s))
ORDER BY d.id LIMIT 1
"""
_ADD = """
INSERT INTO document_sources (tenant_id, source_uri, document_id, content_hash)
VALUES (%(tenant)s, %(source_uri)s, %(document_id)s, %(content_hash)s)
ON CONFLICT (tenant_id, source_uri) DO UPDATE
SET document_id = excluded.document_id, content_hash = excluded.content_hash
"""
_SETTLE = """
DELETE FROM document_sources WHERE tenant_id = %(tenant)s AND (source_uri = %(source_uri)s
    OR (content_hash <> %(content_hash)s AND document_id = (
        SELECT id FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s)))
"""


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
    if source_uri.startswith(UPLOADED) or connection.execute(_OWN, values).fetchone() is not None:
        return source_uri
    found = connection.execute(_OF_SAME_BYTES, values).fetchone()
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
    connection.execute(_ADD, values)


def settling(tenant: str, source_uri: str, content_hash: str) -> Statement:
    """The statement after a write of ``source_uri`` with other bytes than some further sources had.

    Those are its sources no more, and ``source_uri`` is nobody's further source.
    """
    return _SETTLE, {"tenant": tenant, "source_uri": source_uri, "content_hash": content_hash}
