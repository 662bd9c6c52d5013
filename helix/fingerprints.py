"""What is stored of a source, as short as it takes to see that it is unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import Connection
from psycopg.rows import TupleRow

_FINGERPRINTS = """
SELECT source_uri, content_hash, recipe, title FROM documents d
WHERE tenant_id = %s AND source_uri = ANY(%s)
    AND EXISTS (SELECT FROM chunks WHERE document_id = d.id)
"""


def fingerprints(
    connection: Connection[TupleRow], tenant: str, source_uris: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """(content_hash, recipe, title) of each of a tenant's sources that has chunks."""
    rows = connection.execute(_FINGERPRINTS, (tenant, list(source_uris))).fetchall()
    return {uri: (content_hash, recipe, title) for uri, content_hash, recipe, title in rows}
