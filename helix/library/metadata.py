"""Metadata of stored documents as people edit it, one document or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from helix.domain.metadata import MOST_KEYS
from helix.domain.scope import Spaces
from helix.errors import BadRequest
from helix.library.access import row_of
from helix.library.document_list import DocumentFilter
from helix.library.documents import no_document
from helix.storage.connections import Connected
from helix.storage.statements import metadata_edits as sql

_ALL = DocumentFilter()


@dataclass(frozen=True, slots=True)
class Edited:
    """The number of documents that an edit was of, and of those that are other than before."""

    matched: int
    changed: int


def edit_metadata(
    connection: Connected,
    patch: Mapping[str, Any],
    tenant: str,
    filters: DocumentFilter = _ALL,
    ids: Sequence[int] | None = None,
    edits: Spaces = None,
) -> Edited:
    """Merge ``patch`` into the metadata of the tenant's documents; None takes a key away.

    Of those that ``filters`` leave, or of those of them with ``ids``; all or none, inside the
    caller's transaction. With ``edits`` of those that stand in no other space. It stays when a
    document is read again.

    Raises:
        NotFound: a document of ``ids`` is not there.
        BadRequest: a document would have too many keys.
    """
    values = filters.values() | {
        "tenant": tenant,
        "ids": None if ids is None else list(ids),
        "edits": None if edits is None else list(edits),
        "set": Jsonb({key: value for key, value in patch.items() if value is not None}),
        "removed": [key for key, value in patch.items() if value is None],
        "patch": Jsonb(dict(patch)),
        "keys": list(patch),
    }
    row = row_of(connection, sql.edit(filters.conditions), values)
    assert row is not None
    if row["missing"]:
        raise no_document(row["missing"][0])
    if row["most"] > MOST_KEYS:
        raise BadRequest(f"a document would have {row['most']} keys; the limit is {MOST_KEYS}")
    return Edited(row["matched"], row["changed"])
