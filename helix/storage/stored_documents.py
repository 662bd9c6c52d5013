"""What is stored of a source: its fingerprint, and the vectors that its chunks have.

Loads neither LlamaIndex nor numpy: a run over unchanged files asks nothing else, and loading them
would take longer than the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.connections import Connected

_KNOWN = """
SELECT node_id, metadata_ ->> 'embedding_key' FROM chunks c JOIN documents d ON d.id = document_id
WHERE d.tenant_id = %s AND source_uri = %s AND metadata_ ? 'embedding_key'
"""
_FINGERPRINTS = """
SELECT source_uri, content_hash, recipe, CASE WHEN edits ? 'title' THEN '' ELSE title END AS title
FROM documents d
WHERE tenant_id = %s AND source_uri = ANY(%s)
    AND EXISTS (SELECT FROM chunks WHERE document_id = d.id)
"""


def known_nodes(connection: Connected, tenant: str, source_uri: str) -> dict[str, str]:
    """The embedding key of each chunk stored of a tenant's source, by node id.

    A node of that id and key needs no vector: its row has it. The key stands for embedder and
    embedded text, so a new title, which is embedded with the text, makes a node unknown.
    """
    return dict(connection.execute(_KNOWN, (tenant, source_uri)).fetchall())


def fingerprints(
    connection: Connected, tenant: str, source_uris: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """(content_hash, recipe, title) of each of a tenant's sources that has chunks.

    The title is '' where people gave it: none that a run gives takes its place.
    """
    rows = connection.execute(_FINGERPRINTS, (tenant, list(source_uris))).fetchall()
    return {uri: (content_hash, recipe, title) for uri, content_hash, recipe, title in rows}
