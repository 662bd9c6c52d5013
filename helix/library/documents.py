"""Documents as a client sees them: the list, one with its text and chunks, a chunk, deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from helix.contract import OPEN_FILE
from helix.domain.names import company_keys, kind_key
from helix.errors import BadRequest
from helix.library.access import Library, Row, compose
from helix.library.errors import NotFound
from helix.library.paging import decode_cursor, encode_cursor
from helix.library.run_files import cancel_document
from helix.storage.connections import Connected
from helix.storage.document_writes import delete_one

Sort = Literal["updated", "title", "size"]
Status = Literal["processing", "ready", "failed"]

DELETED = "its document was deleted"

# (expression, its type, its type here, descending): the key of a page, with the id for a tie
_SORTS: dict[Sort, tuple[str, str, type, bool]] = {
    "updated": ("(extract(epoch FROM updated_at) * 1000000)::bigint", "bigint", int, True),
    "title": ("lower(title)", "text", str, False),
    "size": ("size", "bigint", int, True),
}
_FILTER = """
tenant_id = %(tenant)s AND (%(status)s::text IS NULL OR status = %(status)s)
AND (%(pattern)s::text IS NULL OR title ILIKE %(pattern)s OR source_uri ILIKE %(pattern)s
    OR file_name ILIKE %(pattern)s)
AND (%(tags)s::text[] IS NULL OR tags @> %(tags)s)
AND (%(company)s::text[] IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'company' AND n.name = ANY(%(company)s)))
AND (%(kind)s::text IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'kind' AND n.name = %(kind)s))
"""
_FIELDS = """
d.id, d.title, d.source_uri, d.status, d.error, d.media, d.size,
(SELECT count(*) FROM chunks WHERE tenant_id = %(tenant)s AND document_id = d.id) AS chunks,
(SELECT max((section ->> 'page')::int) FROM jsonb_array_elements(d.outline) section) AS pages,
d.file_name, d.facts, d.warnings, d.tags, d.file_hash IS NOT NULL AS file, d.created_at,
d.updated_at
"""
# the page first: chunks and pages are counted for its rows alone
_LIST = """
SELECT row_to_json(p) FROM (
    SELECT {fields}, d.sort_key FROM (
        SELECT *, {key} AS sort_key FROM documents
        WHERE {filter} AND (%(last_id)s::bigint IS NULL
            OR ({key}, id) {beyond} (%(last_key)s::{type}, %(last_id)s))
        ORDER BY sort_key {order}, id {order} LIMIT %(limit)s
    ) d ORDER BY d.sort_key {order}, d.id {order}) p
"""
_COUNT = compose("SELECT count(*) AS total FROM documents WHERE {filter}", filter=_FILTER)
_MARKS = """
(c.metadata_ ->> 'page')::int AS page,
coalesce(c.metadata_ -> 'heading_path', '[]') AS heading_path,
coalesce(c.metadata_ ->> 'label', '') AS label
"""
# one statement, so one snapshot: text and chunks are of the same version
_DOCUMENT = """
SELECT row_to_json(x) FROM (
    SELECT {fields}, CASE WHEN %(text)s THEN d.text END AS text, d.outline, (
        SELECT coalesce(json_agg(row_to_json(y) ORDER BY y.ordinal), '[]') FROM (
            SELECT c.id, c.ordinal, c.start_char AS start, c.end_char AS end, {marks}
            FROM chunks c WHERE c.tenant_id = %(tenant)s AND c.document_id = d.id) y) AS chunk_list
    FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s) x
"""
_CHUNK = """
SELECT row_to_json(x) FROM (
    SELECT c.id, c.document_id, d.title, d.source_uri, c.ordinal, c.content,
           c.start_char AS start, c.end_char AS end, {marks},
           (SELECT id FROM chunks WHERE tenant_id = %(tenant)s
            AND document_id = c.document_id AND ordinal < c.ordinal
            ORDER BY ordinal DESC LIMIT 1) AS previous,
           (SELECT id FROM chunks WHERE tenant_id = %(tenant)s
            AND document_id = c.document_id AND ordinal > c.ordinal
            ORDER BY ordinal LIMIT 1) AS next
    FROM chunks c JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
    WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s) x
"""
_FILE = """
SELECT d.source_uri, d.media, f.data FROM documents d
JOIN files f ON f.tenant_id = d.tenant_id AND f.content_hash = d.file_hash
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s
"""
# not updated_at, which says when the version was stored
_TAG = "UPDATE documents SET tags = %s WHERE tenant_id = %s AND id = %s"
# or the version that is on its way would bring back those it was sent with
_TAG_COMING = """
UPDATE run_files SET tags = %s WHERE tenant_id = %s AND document_id = %s AND status = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of the list: at most ``limit`` documents after the cursor ``after``.

    ``tags``: documents that have all of these; None: any. ``company`` and ``kind``: those whose
    facts say so, without regard to case or a company's legal form; '': any.
    """

    limit: int = 50
    after: str | None = None
    search: str = ""
    status: Status | None = None
    sort: Sort = "updated"
    tags: tuple[str, ...] | None = None
    company: str = ""
    kind: str = ""


async def list_documents(library: Library, wanted: Wanted) -> Row:
    """``{"documents": […], "next": cursor or None, "total": all that match}``.

    Raises:
        BadRequest: the cursor is none of this order.
    """
    key, key_type, _, descending = _SORTS[wanted.sort]
    values = {
        "status": wanted.status,
        "pattern": _pattern(wanted.search) if wanted.search else None,
        "tags": None if wanted.tags is None else list(wanted.tags),
        "company": company_keys(wanted.company) if wanted.company else None,
        "kind": kind_key(wanted.kind) if wanted.kind else None,
        "limit": wanted.limit + 1,
        **_last(wanted),
    }
    statement = compose(
        _LIST, fields=_FIELDS, filter=_FILTER, key=key, type=key_type,
        beyond="<" if descending else ">", order="DESC" if descending else "ASC",
    )  # fmt: skip
    found = await library.rows(statement, values)
    counted = await library.data(_COUNT, values)
    keys = [row.pop("sort_key") for row in found]
    page, more = found[: wanted.limit], len(found) > wanted.limit
    cursor = encode_cursor(wanted.sort, keys[len(page) - 1], page[-1]["id"]) if more else None
    return {"documents": page, "next": cursor, "total": counted["total"] if counted else 0}


def _last(wanted: Wanted) -> Row:
    if wanted.after is None:
        return {"last_key": None, "last_id": None}
    sort, last_key, last_id = decode_cursor(wanted.after, str, _SORTS[wanted.sort][2], int)
    if sort != wanted.sort:
        raise BadRequest("after is a cursor of another order: pass it with the sort it came from")
    return {"last_key": last_key, "last_id": last_id}


def _pattern(search: str) -> str:
    """``search`` as a part of a LIKE pattern that means itself."""
    escaped = search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


async def get_document(library: Library, document_id: int, with_text: bool = True) -> Row:
    """The document with its outline and chunks, and its text unless that is not wanted.

    Raises:
        NotFound: there is none of this id.
    """
    found = await library.row(
        compose(_DOCUMENT, fields=_FIELDS, marks=_MARKS), {"id": document_id, "text": with_text}
    )
    if found is None:
        raise no_document(document_id)
    found["chunks"] = found.pop("chunk_list")
    if not with_text:
        del found["text"]
    return found


async def get_chunk(library: Library, chunk_id: int) -> Row:
    """The chunk, where it lies, and its neighbours.

    Raises:
        NotFound: there is none of this id.
    """
    found = await library.row(compose(_CHUNK, marks=_MARKS), {"id": chunk_id})
    if found is None:
        raise NotFound(f"there is no chunk {chunk_id}: its document was changed or deleted")
    return found


async def get_file(library: Library, document_id: int) -> tuple[str, str, bytes]:
    """(source_uri, media, bytes) of a document whose source is kept.

    Raises:
        NotFound: no such document, or its source is not kept.
    """
    found = await library.data(_FILE, {"id": document_id})
    if found is None:
        raise NotFound(
            f"no file is kept for document {document_id}: uploads are, and what was ingested with"
            " --keep-files"
        )
    return found["source_uri"], found["media"], bytes(found["data"])


def tag_document(connection: Connected, document_id: int, tags: Sequence[str], tenant: str) -> None:
    """Make ``tags`` those of the tenant's document, inside the caller's transaction.

    Raises:
        NotFound: there is none of this id.
    """
    which = (list(tags), tenant, document_id)
    connection.execute(_TAG_COMING, (*which, list(OPEN_FILE)))
    if connection.execute(_TAG, which).rowcount == 0:
        raise no_document(document_id)


def remove_document(connection: Connected, document_id: int, tenant: str) -> None:
    """Delete the tenant's document and all that only it used, inside the caller's transaction.

    What a run is still to do for it is cancelled.

    Raises:
        NotFound: there is none of this id.
    """
    row = connection.execute(
        "SELECT source_uri FROM documents WHERE tenant_id = %s AND id = %s", (tenant, document_id)
    ).fetchone()
    # by its id alone: delete_document would take a source that is called "42" for it too
    if row is None or not delete_one(connection, tenant, document_id, row[0]):
        raise no_document(document_id)
    cancel_document(connection, document_id, DELETED, tenant)


def no_document(document_id: int) -> NotFound:
    """The error for an id that no document has."""
    return NotFound(f"there is no document {document_id}: GET /v1/documents lists them")
