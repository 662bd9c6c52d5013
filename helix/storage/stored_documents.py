"""The stored state of a source: its fingerprint, and the vectors that its chunks have.

Loads neither LlamaIndex nor numpy: a run over unchanged files asks nothing else, and loading them
would take longer than the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.connections import Connected, Connections

_KNOWN = """
SELECT node_id, metadata_ ->> 'embedding_key' AS key
FROM chunks c JOIN documents d ON d.id = document_id
WHERE d.tenant_id = %(tenant)s AND source_uri = %(source_uri)s AND metadata_ ? 'embedding_key'
"""
_FINGERPRINTS = """
SELECT source_uri, content_hash, recipe, CASE WHEN edits ? 'title' THEN '' ELSE title END AS title
FROM (
    SELECT id, source_uri, content_hash, recipe, title, edits FROM documents
    WHERE tenant_id = %(tenant)s AND source_uri = ANY(%(uris)s)
    UNION ALL
    SELECT d.id, s.source_uri, s.content_hash, d.recipe, d.title, d.edits FROM document_sources s
    JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
    WHERE s.tenant_id = %(tenant)s AND s.source_uri = ANY(%(uris)s)
) d WHERE EXISTS (SELECT FROM chunks WHERE document_id = d.id)
"""
_WITHOUT_FILE = """
SELECT source_uri FROM documents
WHERE tenant_id = %s AND source_uri = ANY(%s) AND file_hash IS NULL
"""
_KEEP_FILE = """
UPDATE documents SET file_hash = content_hash
WHERE tenant_id = %s AND source_uri = %s AND content_hash = %s AND file_hash IS NULL
"""


def known_nodes(connections: Connections, tenant: str, source_uri: str) -> dict[str, str]:
    """The embedding key of each chunk stored of a tenant's source, by node id.

    A node of that id and key needs no vector: its row has it. The key stands for embedder and
    embedded text, so a new title, which is embedded with the text, makes a node unknown.
    """
    rows = connections.ask(tenant, _KNOWN, {"tenant": tenant, "source_uri": source_uri})
    return {row["node_id"]: row["key"] for row in rows}


def fingerprints(
    connection: Connected, tenant: str, source_uris: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """(content_hash, recipe, title) of each of a tenant's sources that has chunks.

    A further source of a document is one too. The title is '' where people gave it: none that a
    run gives takes its place.
    """
    values = {"tenant": tenant, "uris": list(source_uris)}
    rows = connection.execute(_FINGERPRINTS, values).fetchall()
    return {uri: (content_hash, recipe, title) for uri, content_hash, recipe, title in rows}


def sources_without_file(
    connection: Connected, tenant: str, source_uris: Sequence[str]
) -> set[str]:
    """A tenant's stored sources whose bytes are not kept."""
    rows = connection.execute(_WITHOUT_FILE, (tenant, list(source_uris))).fetchall()
    return {uri for (uri,) in rows}


def keep_file(connection: Connected, tenant: str, source_uri: str, content_hash: str) -> None:
    """Have a tenant's document keep its bytes, which are in ``files``, if it is still of these."""
    connection.execute(_KEEP_FILE, (tenant, source_uri, content_hash))
