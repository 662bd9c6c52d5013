"""The list of documents: narrowed, in an order, page by page; and counts of what there is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from helix.domain.names import company_keys, kind_key
from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.library.pagination import decode_cursor, encode_cursor, like_pattern
from helix.storage.statements import document_list as sql

Sort = Literal["updated", "title", "size", "kind", "status"]
Order = Literal["asc", "desc"]
Status = Literal["processing", "ready", "failed"]

_SORTS: dict[Sort, tuple[type, Order]] = {
    "updated": (int, "desc"),
    "title": (str, "asc"),
    "size": (int, "desc"),
    "kind": (str, "asc"),
    "status": (str, "asc"),
}
"""By key: its type in a cursor, and its usual order."""
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
        """The values that a filter binds."""
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
        return (self.order or _SORTS[self.sort][1]) == "desc"

    @property
    def name(self) -> str:
        """The name by which a cursor knows its order."""
        return self.sort if self.order in (None, _SORTS[self.sort][1]) else f"{self.sort} reversed"


async def list_documents(library: Library, filters: DocumentFilter, page: Page = Page()) -> Row:
    """``{"documents": […], "next": cursor or None, "total": all that match}``.

    Raises:
        BadRequest: the cursor is none of this order.
    """
    values = filters.values() | {"limit": page.limit + 1} | _last(page)
    statement = sql.page_sorted_by(page.sort, descending=page.descending)
    rows = await library.rows(statement, values)
    count = await library.data(sql.COUNT, values)
    keys = [row.pop("sort_key") for row in rows]
    listed, more = rows[: page.limit], len(rows) > page.limit
    cursor = encode_cursor(page.name, keys[len(listed) - 1], listed[-1]["id"]) if more else None
    return {"documents": listed, "next": cursor, "total": count["total"] if count else 0}


def _last(page: Page) -> Row:
    if page.after is None:
        return {"last_key": None, "last_id": None}
    name, last_key, last_id = decode_cursor(page.after, str, _SORTS[page.sort][0], int)
    if name != page.name:
        raise BadRequest("after is a cursor of another order: pass it with the sort it came from")
    return {"last_key": last_key, "last_id": last_id}


async def matching_ids(library: Library, filters: DocumentFilter, most: int) -> list[int]:
    """The ids of the first ``most`` documents that match, in their order."""
    rows = await library.all_data(sql.IDS, filters.values() | {"limit": most})
    return [row["id"] for row in rows]


async def summarise(library: Library) -> Row:
    """The number of documents, in all and of each status, label, kind and format.

    Labels, kinds (by their facts) and formats are ``[{"name", "count"}]``, the most first.
    """
    summary = await library.row(sql.SUMMARY, {"most": _MOST_GROUPS})
    return summary or {}
