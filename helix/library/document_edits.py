"""People's edits of a document: its title, its file's name, its facts, its tags, its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from helix.domain.names import FACTS, FILE_NAME, TITLE, with_edits
from helix.library.documents import no_document, tag_document
from helix.library.metadata import edit_metadata
from helix.storage.connections import Connected
from helix.storage.statements import documents as sql
from helix.storage.stored_documents import write_names

TAGS, METADATA = "tags", "metadata"


def edit_document(
    connection: Connected, document_id: int, changes: Mapping[str, Any], tenant: str
) -> None:
    """Change the tenant's document, inside the caller's transaction; later versions keep it so.

    ``changes`` may have ``title`` and ``file_name`` (texts), ``facts`` (texts by name; None takes
    one away), ``tags`` and ``metadata`` (values by key; None takes one away).

    Raises:
        NotFound: there is none of this id.
    """
    if TAGS in changes:
        tag_document(connection, document_id, changes[TAGS], tenant)
    if METADATA in changes:
        edit_metadata(connection, changes[METADATA], tenant, ids=[document_id])
    if not {TITLE, FILE_NAME, FACTS} & changes.keys():
        return
    reading = connection.cursor(row_factory=dict_row)
    stored = reading.execute(sql.HOLD_EDITABLE, (tenant, document_id)).fetchone()
    if stored is None:
        raise no_document(document_id)
    edits = dict(stored["edits"])
    for name in (TITLE, FILE_NAME):
        if name in changes:
            edits[name] = changes[name]
    if FACTS in changes:
        edits[FACTS] = {**edits.get(FACTS, {}), **changes[FACTS]}
    connection.execute(
        sql.EDIT,
        {
            "title": edits.get(TITLE) or stored["title"],
            "file_name": edits.get(FILE_NAME) or stored["file_name"],
            "facts": Jsonb(with_edits(stored["facts"], edits)),
            "edits": Jsonb(edits), "tenant": tenant, "id": document_id,
        },
    )  # fmt: skip
    write_names(connection, tenant, document_id)
