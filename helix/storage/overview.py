"""The contents of a scope: documents by name, and the first chunks of the sections of one."""

from __future__ import annotations

from typing import Any

from helix.domain.scope import Scope
from helix.storage.search_scope import HIT_COLUMNS, JOIN_HITS, scope_condition

Statement = tuple[str, dict[str, Any]]
"""A statement and its bound values."""

_DOCUMENTS = """
SELECT title, count(*) OVER () AS total FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND {condition}
ORDER BY lower(title), id LIMIT %(most)s
"""
# The first chunks of all sections come before any second one; the distance of what no search found
# is unknown.
_LEADS = """
SELECT {columns} FROM (
    SELECT id, 'NaN'::float8 AS distance, ordinal AS at FROM (
        SELECT id, ordinal, row_number() OVER (PARTITION BY
            metadata_ -> 'heading_path' ->> 0, metadata_ -> 'heading_path' ->> 1
            ORDER BY ordinal) AS place
        FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(document_id)s
    ) s ORDER BY place, ordinal LIMIT %(most)s
) h {joined} ORDER BY h.at
"""


def documents_by_name(scope: Scope, most: int) -> Statement:
    """The ``title`` of the first ``most`` documents of ``scope`` by name, ``total`` in each row."""
    statement = _DOCUMENTS.format(condition=scope_condition(tuple(scope.filters())))
    return statement, {"tenant": scope.tenant, "most": most, **scope.filters()}


def section_leads(scope: Scope, document_id: int, most: int) -> Statement:
    """The first chunks of a document's sections, in its order, as ``hit_of`` reads rows."""
    statement = _LEADS.format(columns=HIT_COLUMNS, joined=JOIN_HITS)
    return statement, {"tenant": scope.tenant, "document_id": document_id, "most": most}
