"""The list of documents: narrowed, in an order, page by page; and counts of what there is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from helix.domain.conditions import Condition
from helix.domain.metadata import checked_key
from helix.domain.names import company_keys, kind_key
from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.library.pagination import decode_cursor, encode_cursor, like_pattern
from helix.storage.statements import document_list as sql

Sort = str
"""One of SORTS, or ``meta.`` and a key of metadata."""
Order = Literal["asc", "desc"]
Status = Literal["processing", "ready", "failed"]

SORTS: Mapping[Sort, tuple[type, Order]] = {
    "updated": (int, "desc"),
    "title": (str, "asc"),
    "size": (int, "desc"),
    "kind": (str, "asc"),
    "status": (str, "asc"),
}
"""By key: its type in a cursor, and its usual order."""
_METADATA = "meta."
_OF_VALUES = (int, float, str)
"""The types that a value of metadata is sorted by: its kind, its number, its text."""
_MOST_GROUPS = 500


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """The filter of a document list; what is empty or None leaves none out.

    ``tags``: documents that have all of these. ``company`` and ``kind``: those whose facts say so,
    without regard to case or a company's legal form; ``kind`` is the format where they name none.
    ``formats``: names of helix/domain/file_kinds.py. ``since`` and ``until`` bound, both included,
    when the stored version of a document was stored. ``where``: documents whose metadata fits all
    of these.
    """

    search: str = ""
    status: Status | None = None
    tags: tuple[str, ...] | None = None
    company: str = ""
    kind: str = ""
    formats: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[Condition, ...] = ()

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions on metadata, for a statement."""
        return tuple(one.name(n) for n, one in enumerate(self.where))

    @property
    def parameters(self) -> Row:
        """The parameters of an address that say the same (helix/serving/document_filters.py)."""
        return {
            "q": self.search, "status": self.status, "tag": self.tags, "company": self.company,
            "kind": self.kind, "format": self.formats,
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "where": [json.dumps(one.to_json()) for one in self.where],
        }  # fmt: skip

    def values(self) -> Row:
        """The values that a filter binds."""
        of_metadata: Row = {}
        for n, condition in enumerate(self.where):
            of_metadata |= condition.bound(n)
        return of_metadata | {
            "status": self.status,
            "pattern": like_pattern(self.search) if self.search else None,
            "tags": None if self.tags is None else list(self.tags),
            "company": company_keys(self.company) if self.company else None,
            "kind": kind_key(self.kind) if self.kind else None,
            "media": self.kind.casefold(),
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
        return (self.order or self._usual) == "desc"

    @property
    def name(self) -> str:
        """The name by which a cursor knows its order."""
        return self.sort if self.order in (None, self._usual) else f"{self.sort} reversed"

    @property
    def types(self) -> tuple[type, ...]:
        """The types of what it is sorted by, in a cursor."""
        return (SORTS[self.sort][0],) if self.sort in SORTS else _OF_VALUES

    @property
    def key(self) -> str:
        """The key of metadata that it is sorted by; empty: by none."""
        return "" if self.sort in SORTS else self.sort.removeprefix(_METADATA)

    @property
    def _usual(self) -> Order:
        return SORTS[self.sort][1] if self.sort in SORTS else "asc"


def checked_sort(text: str) -> Sort:
    """``text`` if documents can be sorted by it.

    Raises:
        BadRequest: they cannot.
    """
    if text in SORTS:
        return text
    if not text.startswith(_METADATA):
        raise BadRequest(f"sort is none of {', '.join(SORTS)} or meta.KEY, a key of metadata")
    return _METADATA + checked_key(text.removeprefix(_METADATA))


async def list_documents(library: Library, filters: DocumentFilter, page: Page = Page()) -> Row:
    """``{"documents": […], "next": cursor or None, "total": all that match}``.

    Raises:
        BadRequest: the cursor is none of this order.
    """
    values = filters.values() | {"limit": page.limit + 1, "sort_key": page.key} | _last(page)
    statement = sql.page_sorted_by(page.sort, filters.conditions, descending=page.descending)
    rows = await library.rows(statement, values)
    count = await library.data(sql.count(filters.conditions), values)
    keys = [row.pop("sort_keys") for row in rows]
    listed, more = rows[: page.limit], len(rows) > page.limit
    cursor = _cursor(page, keys[len(listed) - 1], listed[-1]["id"]) if more else None
    return {"documents": listed, "next": cursor, "total": count["total"] if count else 0}


def _cursor(page: Page, keys: list[Any], last_id: int) -> str:
    typed = [of_type(key) for of_type, key in zip(page.types, keys, strict=True)]
    return encode_cursor(page.name, *typed, last_id)


def _last(page: Page) -> Row:
    if page.after is None:
        keys, last_id = [None for _ in page.types], None
    else:
        name, *keys, last_id = decode_cursor(page.after, str, *page.types, int)
        if name != page.name:
            raise BadRequest(
                "after is a cursor of another order: pass it with the sort it came from"
            )
    return {f"last_{n}": key for n, key in enumerate(keys)} | {"last_id": last_id}


async def matching_ids(library: Library, filters: DocumentFilter, most: int) -> list[int]:
    """The ids of the first ``most`` documents that match, in their order."""
    rows = await library.all_data(sql.ids(filters.conditions), filters.values() | {"limit": most})
    return [row["id"] for row in rows]


async def summarise(library: Library) -> Row:
    """The number of documents, in all and of each status, label, kind, format and metadata's key.

    Labels, kinds (by their facts) and formats are ``[{"name", "count"}]``, the most first; keys of
    ``metadata`` have the ``kinds`` of their values too.
    """
    summary = await library.row(sql.SUMMARY, {"most": _MOST_GROUPS})
    return summary or {}
