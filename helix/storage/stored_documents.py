"""The stored state of a source: fingerprint, chunks' vectors, document, names, given metadata.

The same bytes by their path and by upload are one document, which has further sources then.
Loads neither LlamaIndex nor numpy: a run over unchanged files asks nothing else, and loading them
would take longer than the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from helix.domain.names import document_names
from helix.storage.connections import Connected, Connections
from helix.storage.pipelined_connections import Statement
from helix.storage.statements import document_names as names
from helix.storage.statements import document_sources
from helix.storage.statements import stored_documents as sql
from helix.storage.statements.metadata_edits import GIVE


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
        or connection.execute(document_sources.OWN, values).fetchone() is not None
    ):
        return source_uri
    found = connection.execute(document_sources.OF_SAME_BYTES, values).fetchone()
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
    connection.execute(document_sources.ADD, values)


def settling(tenant: str, source_uri: str, content_hash: str) -> Statement:
    """The statement after a write of ``source_uri`` with other bytes than some further sources had.

    Those are its sources no more, and ``source_uri`` is nobody's further source.
    """
    return document_sources.SETTLE, {
        "tenant": tenant,
        "source_uri": source_uri,
        "content_hash": content_hash,
    }


MOST_OF_NAME = 500
"""Documents of one name that are looked at: a name of more says little of which is meant."""


def write_names(connection: Connected, tenant: str, document_id: int) -> None:
    """Make the names of a tenant's stored document those of its title, file and facts."""
    which = {"tenant": tenant, "id": document_id}
    row = connection.cursor(row_factory=dict_row).execute(names.DOCUMENT, which).fetchone()
    if row is None:
        return
    for statement, values in naming(tenant, **row):
        connection.execute(statement, values)


def naming(
    tenant: str, source_uri: str, title: str, file_name: str, facts: Mapping[str, Any]
) -> tuple[Statement, Statement]:
    """The statements that make these names those of the document from ``source_uri``."""
    found = sorted(document_names(title, file_name, facts))
    values = {
        "tenant": tenant, "source_uri": source_uri,
        "kinds": [kind for kind, _ in found], "names": [name for _, name in found],
    }  # fmt: skip
    return (names.FORGET, values), (names.REMEMBER, values)


def give_metadata(
    connection: Connected, tenant: str, source_uri: str, given: Mapping[str, Any] | None
) -> None:
    """Add to the stored document of a source what came with it; people's edits stay above it."""
    if given:
        values = {
            "tenant": tenant, "source_uri": source_uri, "given": Jsonb(dict(given)),
            "keys": list(given),
        }  # fmt: skip
        connection.execute(GIVE, values)
