"""The documents that a question may be answered from: all of a tenant's, or some."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from helix.domain.conditions import Condition, conditions_of
from helix.domain.names import company_keys, kind_key
from helix.errors import BadRequest

DEFAULT_TENANT = "default"
_MOST_TAGS = 50
NARROWING = ("document_ids", "source_prefix", "tags", "since", "until", "company", "kind")
_TIMES = ("since", "until")
READING = "spaces"
"""The field of a scope that says what of it may be read."""
MOMENT = "as_of"
"""The field of a scope that says of which moment it is."""
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}")


LIBRARY_SPACE = 0
"""The id of the space that a tenant's documents stand in unless another is named."""

Spaces = tuple[int, ...] | None
"""The spaces whose documents may be read, by their ids; None: every document of the tenant."""


def within_both(first: Spaces, second: Spaces) -> Spaces:
    """The spaces that are in both."""
    if first is None or second is None:
        return second if first is None else first
    return tuple(space for space in first if space in second)


@dataclass(frozen=True, slots=True)
class Reach:
    """The part of a tenant's data that somebody may read.

    ``owner`` names whose conversations are read: ``person:`` or ``key:`` and an id; empty where
    nobody is known: those of nobody, which owners of the tenant read besides. ``edits``: a document
    may be changed that stands in these spaces alone; None: every document that may be read.
    ``as_of``: documents and chunks as they stood then.
    """

    spaces: Spaces = None
    owner: str = ""
    edits: Spaces = None
    as_of: datetime | None = None


WHOLE = Reach()
"""The reach of whoever may read all documents of a tenant, and the conversations of nobody."""


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
    it goes by) and ``kind`` are of a document's facts, as ``document_names`` has them. ``metadata``
    are conditions that a document's metadata fits, all of them.
    ``attached`` names where the documents of the question's conversation are, which are searched
    first, whatever the other fields say; None where it has none. ``spaces``: documents that stand
    in any of these, which is what whoever asks may read, or a part of it. ``as_of``: the library
    as it stood then.
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
    metadata: tuple[Condition, ...] = ()
    spaces: Spaces = None
    as_of: datetime | None = None

    @property
    def narrowed(self) -> bool:
        """True if the scope is less than all documents that may be read."""
        return any(name not in (READING, MOMENT) for name in self.narrowed_by)

    @property
    def narrowed_by(self) -> tuple[str, ...]:
        """The names of what narrows a search, for its statement."""
        conditions = (one.name(n) for n, one in enumerate(self.metadata))
        moment = () if self.as_of is None else (MOMENT,)
        return (*(name for name, _ in self._fields()), *conditions, *moment)

    @property
    def space(self) -> int | None:
        """The space whose documents it is about, where it is about those of one alone."""
        return self.spaces[0] if self.spaces is not None and len(self.spaces) == 1 else None

    def within(self, spaces: Spaces) -> Scope:
        """This scope, of documents of these spaces alone."""
        return replace(self, spaces=within_both(self.spaces, spaces))

    @property
    def reach(self) -> Reach:
        """The reach of reads for this scope."""
        whole = self.spaces is None and self.as_of is None
        return WHOLE if whole else Reach(self.spaces, as_of=self.as_of)

    def filters(self) -> dict[str, Any]:
        """The bound values of what narrows a search (helix/storage/searches.py)."""
        values = dict(self._fields())
        if self.spaces is not None:
            values[READING] = sorted(self.spaces)  # they are looked up by their order
        for n, condition in enumerate(self.metadata):
            values |= condition.bound(n)
        return values

    def to_json(self) -> dict[str, Any]:
        """Every field that narrows a scope, as receipts have it; times as RFC 3339 has them."""
        fields = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in (dict.fromkeys(NARROWING) | dict(self._fields())).items()
        }
        conditions = [one.to_json() for one in self.metadata]
        moment = {"as_of": self.as_of.isoformat()} if self.as_of else {}
        return fields | ({"metadata": conditions} if conditions else {}) | moment

    @classmethod
    def of_json(cls, told: Mapping[str, Any], tenant: str) -> Scope:
        """The scope of ``to_json``; a field that an older release did not have narrows nothing."""
        fields: dict[str, Any] = {"metadata": conditions_of(told.get("metadata") or ())}
        for name in (*NARROWING, READING):
            value = told.get(name)
            if value is not None and name in _TIMES:
                value = datetime.fromisoformat(value)
            fields[name] = tuple(value) if isinstance(value, list) else value
        moment = told.get(MOMENT)
        return cls(tenant, **fields, as_of=datetime.fromisoformat(moment) if moment else None)

    def _fields(self) -> Iterator[tuple[str, Any]]:
        for name in (*NARROWING, READING):
            value = getattr(self, name)
            if value is not None:
                yield name, list(value) if isinstance(value, tuple) else value


_READ: Mapping[str, Callable[[Any], Any]] = {
    "tags": tuple,
    "since": datetime.fromisoformat,
    "until": datetime.fromisoformat,
    "company": lambda name: tuple(company_keys(name)),
    "kind": kind_key,
    "metadata": conditions_of,
}
"""The filters whose field of a Scope is not their JSON as it is."""
_FILTERS = (*(name for name in NARROWING if name != "document_ids"), "metadata")


def scope_of_stored(stored: Mapping[str, Any], tenant: str) -> Scope:
    """The documents of ``tenant`` that ``stored`` names.

    ``filters`` are those of POST /v1/query, times as RFC 3339 has them; ``space`` is the id of one;
    what is left out narrows nothing. ``as_of``: the library as it stood then.
    """
    ids, filters = stored.get("document_ids"), stored.get("filters") or {}
    fields = {
        name: _READ[name](filters[name]) if name in _READ else filters[name]
        for name in _FILTERS
        if filters.get(name)
    }
    space, moment = stored.get("space"), stored.get("as_of")
    return Scope(
        tenant, None if ids is None else tuple(ids),
        spaces=None if space is None else (space,),
        as_of=datetime.fromisoformat(moment) if moment else None, **fields,
    )  # fmt: skip
