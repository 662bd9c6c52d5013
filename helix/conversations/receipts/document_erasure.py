"""Erasing one document: all that has its words, at once, and a signed record of what went.

The record has no word of the document. ``verify_answer.py`` verifies it, as it does signed answers.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from helix import __version__
from helix.conversations.maintenance import forget_removed
from helix.conversations.receipts.verify_answer import ERASURE, canonical
from helix.library.access import Connected, Library, Row, row_of, rows_of
from helix.library.documents import must_change, no_document, remove_document
from helix.library.errors import NotFound
from helix.library.signing_keys import signing_key
from helix.storage.statements import removals as sql
from helix.storage.tenant_connections import TenantConnections

if TYPE_CHECKING:
    from helix.settings import Settings

_CLEARS_SAMPLES = 180_000
"""The version of Postgres from which the owner of a table may clear its samples."""

Json = dict[str, Any]


async def erase_document(
    library: Library, document_id: int, settings: Settings, *, names: bool = False
) -> Json:
    """Delete a document if it is there, and all that others have of it: the signed record.

    ``{"proof": …, "signature": …}``. With ``names`` it has title, file name and address of a
    document that was there until now.

    Raises:
        NotFound: there is none, nor was there one since removals are known.
        NotEditable: it stands in a space too whose documents may not be changed.
        StoreUnavailable, SettingsError: the database or the bucket did not answer; ask again.
    """
    named = await library.data(sql.NAMES, {"id": document_id})
    if named is not None:
        tenant = library.tenant
        await must_change(library, document_id)

        def remove(connection: Connected) -> None:
            try:
                remove_document(connection, document_id, tenant)
            except NotFound:  # by somebody else, meanwhile
                return

        await library.whole.change(remove)
    removal = await library.data(sql.REMOVAL, {"id": document_id})
    if removal is None:
        raise no_document(document_id)

    def swept_and_signed() -> Json:
        _sweep(library.store, settings)
        with library.store.connection() as connection, connection.transaction():
            proof = _record(connection, library.tenant, removal, settings)
            if names:
                proof["names"] = named
            key = signing_key(connection, settings.signing_key)
        return {"proof": proof, "signature": key.signature(canonical(proof))}

    return await library.aside(swept_and_signed)


def _sweep(store: TenantConnections, settings: Settings) -> None:
    with store.connection() as connection:
        forget_removed(connection)
        _take_samples_anew(connection)
    if settings.files:
        from helix.storage.file_moves import delete_loose_objects

        while delete_loose_objects(store, settings.files):
            continue


def _take_samples_anew(connection: Connected) -> None:
    """Have the planner's samples be of what is there now, of an empty table none."""
    is_superuser = connection.info.parameter_status("is_superuser") == "on"
    clearing = clearing_of(connection.info.server_version, is_superuser)
    with connection.transaction():
        connection.execute(sql.HOLD_SAMPLES)
        if clearing:
            connection.execute(clearing)
        connection.execute(sql.SAMPLES_ANEW)


def clearing_of(version: int, is_superuser: bool) -> str | None:
    """The statement that clears samples in Postgres of this version; None: its owner may not."""
    if version >= _CLEARS_SAMPLES:
        return sql.CLEAR_SAMPLES
    return sql.DELETE_SAMPLES if is_superuser else None


def _record(connection: Connected, tenant: str, removal: Row, settings: Settings) -> Json:
    """The content that is signed: texts, whole numbers and null, and nothing else."""
    values = {**removal, "tenant": tenant, "id": removal["document_id"]}
    backups = rows_of(connection, sql.BACKUPS, values)
    remaining = row_of(connection, sql.REMAINING, values) or {}
    record = {
        "format": ERASURE,
        "issuer": settings.url,
        "signed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": {"helix": __version__},
        "tenant": tenant,
        "document_id": removal["document_id"],
        "added_at": removal["added_at"],
        "removed_at": removal["removed_at"],
        "text_sha256": removal["text_sha256"],
        "file_sha256": removal["file_sha256"],
        "characters": removal["characters"],
        "removed": removal["counts"],
        "remaining": {
            **{table: n for table, n in remaining.items() if n},
            "backups": backups,
        },
    }
    return json.loads(json.dumps(record, default=datetime.isoformat))  # type: ignore[no-any-return]
