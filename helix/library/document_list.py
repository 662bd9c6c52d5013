"""The list of documents: narrowed, in an order, page by page; and counts of what there is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from helix.domain.names import company_keys, kind_key
from helix.errors import BadRequest
from helix.library.access import Library, Row, compose
from helix.library.documents import FIELDS
from helix.library.pagination import decode_cursor, encode_cursor, like_pattern

Sort = Literal["updated", "title", "size", "kind", "status"]
Order = Literal["asc", "desc"]
Status = Literal["processing", "ready", "failed"]

# (expression, its type, its type here, its usual order): the key of a page, with the id for a tie
_SORTS: dict[Sort, tuple[str, str, type, Order]] = {
    "updated": ("(extract(epoch FROM updated_at) * 1000000)::bigint", "bigint", int, "desc"),
    "title": ("lower(title)", "text", str, "asc"),
    "size": ("size", "bigint", int, "desc"),
    "kind": ("lower(coalesce(facts ->> 'kind', media))", "text", str, "asc"),
    "status": ("status", "text", str, "asc"),
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
AND (%(formats)s::text[] IS NULL OR media = ANY(%(formats)s))
AND (%(since)s::timestamptz IS NULL OR updated_at >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR updated_at <= %(until)s)
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
_IDS = compose(
    "SELECT id FROM documents WHERE {filter} ORDER BY id LIMIT %(limit)s", filter=_FILTER
)
_SUMMARY = """
SELECT row_to_json(x) FROM (SELECT
    (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s) AS total,
    (SELECT coalesce(json_object_agg(status, n), '{{}}') FROM (
        SELECT status, count(*) AS n FROM documents WHERE tenant_id = %(tenant)s
        GROUP BY status) s) AS statuses,
    {labels} AS labels, {kinds} AS kinds, {formats} AS formats) x
"""
_GROUP = """
(SELECT coalesce(json_agg(json_build_object('name', name, 'count', n) ORDER BY n DESC, name), '[]')
 FROM (SELECT {name} AS name, count(*) AS n FROM {of} WHERE tenant_id = %(tenant)s AND {name} <> ''
       GROUP BY 1 ORDER BY n DESC, 1 LIMIT %(most)s) g)
"""
_MOST_GROUPS = 500


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """The filter of a document list; what is empty or None leaves none out.

    ``tags``: documents that have all of these. ``company`` and ``kind``: those whose facts say so,
    without regard to case or a company's legal form. ``formats``: names of
    helix/domain/file_kinds.py. ``since`` and ``until`` bound, both included, when the stored
    version of a document was stored.
    """

    search: str = ""
    status: Status | None = None
    tags: tuple[str, ...] | None = None
    company: str = ""
    kind: str = ""
    formats: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None

    def values(self) -> Row:
        """The values that ``_FILTER`` binds."""
        return {
            "status": self.status,
            "pattern": like_pattern(self.search) if self.search else None,
            "tags": None if self.tags is None else list(self.tags),
            "company": company_keys(self.company) if self.company else None,
            "kind": kind_key(self.kind) if self.kind else None,
            "formats": None if self.formats is None else list(self.formats),
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """At most ``limit`` documents after the cursor ``after``; ``order`` of None: the usual one."""

    limit: int = 50
    after: str | None = None
    sort: Sort = "updated"
    order: Order | None = None

    @property
    def descending(self) -> bool:
        """True if the largest key comes first."""
        return (self.order or _SORTS[self.sort][3]) == "desc"

    @property
    def name(self) -> str:
        """The name by which a cursor knows its order."""
        return self.sort if self.order in (None, _SORTS[self.sort][3]) else f"{self.sort} reversed"


async def list_documents(library: Library, filters: DocumentFilter, page: Page = Page()) -> Row:
    """``{"documents": […], "next": cursor or None, "total": all that match}``.

    Raises:
        BadRequest: the cursor is none of this order.
    """
    key, key_type, *_ = _SORTS[page.sort]
    values = filters.values() | {"limit": page.limit + 1} | _last(page)
    statement = compose(
        _LIST, fields=FIELDS, filter=_FILTER, key=key, type=key_type,
        beyond="<" if page.descending else ">", order="DESC" if page.descending else "ASC",
    )  # fmt: skip
    rows = await library.rows(statement, values)
    count = await library.data(_COUNT, values)
    keys = [row.pop("sort_key") for row in rows]
    listed, more = rows[: page.limit], len(rows) > page.limit
    cursor = encode_cursor(page.name, keys[len(listed) - 1], listed[-1]["id"]) if more else None
    return {"documents": listed, "next": cursor, "total": count["total"] if count else 0}


def _last(page: Page) -> Row:
    if page.after is None:
        return {"last_key": None, "last_id": None}
    name, last_key, last_id = decode_cursor(page.after, str, _SORTS[page.sort][2], int)
    if name != page.name:
        raise BadRequest("after is a cursor of another order: pass it with the sort it came from")
    return {"last_key": last_key, "last_id": last_id}


async def matching_ids(library: Library, filters: DocumentFilter, most: int) -> list[int]:
    """The ids of the first ``most`` documents that match, in their order."""
    rows = await library.all_data(_IDS, filters.values() | {"limit": most})
    return [row["id"] for row in rows]


async def summarise(library: Library) -> Row:
    """The number of documents, in all and of each status, label, kind and format.

    Labels, kinds (by their facts) and formats are ``[{"name", "count"}]``, the most first.
    """
    groups = {
        "labels": ("tag", "documents, unnest(tags) AS tag"),
        "kinds": ("facts ->> 'kind'", "documents"),
        "formats": ("media", "documents"),
    }
    parts = {part: compose(_GROUP, name=name, of=of) for part, (name, of) in groups.items()}
    summary = await library.row(compose(_SUMMARY, **parts), {"most": _MOST_GROUPS})
    return summary or {}
