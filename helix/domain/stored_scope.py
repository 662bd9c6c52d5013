"""A scope as conversations keep it in JSON: ``document_ids`` and ``filters``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from helix.domain.conditions import conditions_of
from helix.domain.names import company_keys, kind_key
from helix.domain.scope import Scope


def scope_of_stored(stored: Mapping[str, Any], tenant: str) -> Scope:
    """The documents of ``tenant`` that ``stored`` names.

    ``filters`` are those of POST /v1/query, times as RFC 3339 has them; what is left out narrows
    nothing.
    """
    ids, filters = stored.get("document_ids"), stored.get("filters") or {}
    tags, company, kind = (filters.get(name) for name in ("tags", "company", "kind"))
    return Scope(
        tenant,
        None if ids is None else tuple(ids),
        filters.get("source_prefix"),
        None if tags is None else tuple(tags),
        _time(filters.get("since")),
        _time(filters.get("until")),
        tuple(company_keys(company)) if company else None,
        kind_key(kind) if kind else None,
        metadata=conditions_of(filters.get("metadata") or ()),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
