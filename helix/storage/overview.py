"""The contents of a scope: documents by name, and the first chunks of the sections of one."""

from __future__ import annotations

from typing import Any

from helix.domain.scope import Scope
from helix.storage.statements import compose
from helix.storage.statements import document_parts as sql
from helix.storage.statements.scopes import scope_condition

Statement = tuple[str, dict[str, Any]]
"""A statement and its bound values."""


def documents_by_name(scope: Scope, most: int) -> Statement:
    """The ``title`` of the first ``most`` documents of ``scope`` by name, ``total`` in each row."""
    statement = compose(sql.TITLES, condition=scope_condition(scope.narrowed_by))
    return statement, {"tenant": scope.tenant, "most": most, **scope.filters()}


def section_leads(scope: Scope, document_id: int, most: int) -> Statement:
    """The first chunks of a document's sections, in its order, as ``hit_of`` reads rows."""
    return sql.SECTION_LEADS, {"tenant": scope.tenant, "document_id": document_id, "most": most}
