"""The stored state of a source: its fingerprint, and the vectors that its chunks have.

Loads neither LlamaIndex nor numpy: a run over unchanged files asks nothing else, and loading them
would take longer than the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.connections import Connected, Connections
from helix.storage.statements import stored_documents as sql


def known_nodes(connections: Connections, tenant: str, source_uri: str) -> dict[str, str]:
    """The embedding key of each chunk stored of a tenant's source, by node id.

    A node of that id and key needs no vector: its row has it. The key stands for embedder and
    embedded text, so a new title, which is embedded with the text, makes a node unknown.
    """
    rows = connections.ask(tenant, sql.KNOWN, {"tenant": tenant, "source_uri": source_uri})
    return {row["node_id"]: row["key"] for row in rows}


def fingerprints(
    connection: Connected, tenant: str, source_uris: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """(content_hash, recipe, title) of each of a tenant's sources that has chunks.

    A further source of a document is one too. The title is '' where people gave it: none that a
    run gives takes its place.
    """
    values = {"tenant": tenant, "uris": list(source_uris)}
    rows = connection.execute(sql.FINGERPRINTS, values).fetchall()
    return {uri: (content_hash, recipe, title) for uri, content_hash, recipe, title in rows}


def sources_without_file(
    connection: Connected, tenant: str, source_uris: Sequence[str]
) -> set[str]:
    """A tenant's stored sources whose bytes are not kept."""
    rows = connection.execute(sql.WITHOUT_FILE, (tenant, list(source_uris))).fetchall()
    return {uri for (uri,) in rows}


def keep_file(connection: Connected, tenant: str, source_uri: str, content_hash: str) -> None:
    """Have a tenant's document keep its bytes, which are in ``files``, if it is still of these."""
    connection.execute(sql.KEEP_FILE, (tenant, source_uri, content_hash))
