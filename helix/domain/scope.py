"""The documents that a question may be answered from: all of a tenant's, or some."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from helix.errors import BadRequest

DEFAULT_TENANT = "default"
_MOST_TAGS = 50
NARROWING = ("document_ids", "source_prefix", "tags", "since", "until", "company", "kind")
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}")


def tenant_name(text: str) -> str:
    """``text`` if it can name a tenant: 1 to 100 ASCII letters, digits, ``_ . @ -``.

    Raises:
        BadRequest: it cannot.
    """
    if not _TENANT.fullmatch(text):
        raise BadRequest(
            "a tenant is named by 1 to 100 letters, digits or _ . @ -, a letter or digit first"
        )
    return text


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """``tags`` in order, each once, without white space around them.

    Raises:
        BadRequest: one is blank, has a control character or over 100 characters; or over 50.
    """
    found = tuple(dict.fromkeys(tag.strip() for tag in tags))
    for tag in found:
        if not tag or len(tag) > 100 or any(unicodedata.category(c)[0] == "C" for c in tag):
            raise BadRequest("a tag has 1 to 100 characters, none of them a control character")
    if len(found) > _MOST_TAGS:
        raise BadRequest(f"there are {len(found)} tags; the limit is {_MOST_TAGS}")
    return found


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents of ``tenant`` that fit every one of the other fields; None fits all.

    ``tags``: documents that have all of these. ``since`` and ``until`` bound, both included, when
    the stored version of a document was stored (``documents.updated_at``). ``company`` (names that
    it goes by) and ``kind`` are of a document's facts, as ``document_names`` has them.
    ``attached`` names where the documents of the question's conversation are, which are searched
    first, whatever the other fields say; None where it has none.
    """

    tenant: str = DEFAULT_TENANT
    document_ids: tuple[int, ...] | None = None
    source_prefix: str | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    company: tuple[str, ...] | None = None
    kind: str | None = None
    attached: str | None = None

    @property
    def narrowed(self) -> bool:
        """True if the scope is less than all documents of the tenant."""
        return bool(self.filters())

    def filters(self) -> dict[str, Any]:
        """The bound values of the fields that narrow a search (helix/storage/search_scope.py)."""
        values = ((field, getattr(self, field)) for field in NARROWING)
        return {
            field: list(value) if isinstance(value, tuple) else value
            for field, value in values
            if value is not None
        }
