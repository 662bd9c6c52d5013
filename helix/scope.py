"""What a question may be answered from: a tenant's documents, all of them or some."""

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
    the stored version of a document was stored (``documents.updated_at``).
    """

    tenant: str = DEFAULT_TENANT
    document_ids: tuple[int, ...] | None = None
    source_prefix: str | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def narrowed(self) -> bool:
        """Whether it is less than all documents of the tenant."""
        return any(value is not None for value in self.filters().values())

    def filters(self) -> dict[str, Any]:
        """The bound values of ``ALLOWED`` (helix/search_sql.py) besides the tenant."""
        return {
            "document_ids": None if self.document_ids is None else list(self.document_ids),
            "source_prefix": self.source_prefix,
            "tags": None if self.tags is None else list(self.tags),
            "since": self.since,
            "until": self.until,
        }
