"""A scope as conversations keep it in JSON: ``document_ids``, ``filters``, ``space``, ``as_of``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from helix.domain.conditions import conditions_of
from helix.domain.names import company_keys, kind_key
from helix.domain.scope import NARROWING, Scope

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
