"""Documents of a scope, and the passages and tables of one: by page, heading or characters."""

from __future__ import annotations

from typing import Any

from helix.domain.scope import Scope
from helix.storage.search_scope import HIT_COLUMNS, JOIN_HITS, scope_condition

Statement = tuple[str, dict[str, Any]]
"""A statement and its bound values."""

_DOCUMENTS = """
SELECT id, title, media, facts, updated_at, count(*) OVER () AS total,
       (SELECT max((section ->> 'page')::int) FROM jsonb_array_elements(outline) section) AS pages
FROM documents WHERE tenant_id = %(tenant)s AND status = 'ready' AND {condition}
    AND (%(wanted)s::text[] IS NULL OR lower(title || ' ' || facts::text) LIKE ALL(%(wanted)s))
ORDER BY lower(title), id LIMIT %(most)s
"""
_DOCUMENT = """
SELECT id, title, text, outline, facts, media FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND id = %(document_id)s AND {condition}
"""
# The distance of what no search found is unknown.
_PASSAGES = """
SELECT {columns} FROM (
    SELECT id, 'NaN'::float8 AS distance, ordinal AS at FROM chunks
    WHERE tenant_id = %(tenant)s AND document_id = %(document_id)s
        AND document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {condition})
        AND (%(page)s::int IS NULL OR metadata_ -> 'page' = to_jsonb(%(page)s::int))
        AND (%(heading)s::text IS NULL OR EXISTS (
            SELECT FROM jsonb_array_elements_text(
                CASE WHEN jsonb_typeof(metadata_ -> 'heading_path') = 'array'
                THEN metadata_ -> 'heading_path' ELSE '[]' END) AS name
            WHERE strpos(lower(name), lower(%(heading)s)) > 0))
        AND (%(start)s::int IS NULL OR end_char > %(start)s)
        AND (%(end)s::int IS NULL OR start_char < %(end)s)
    ORDER BY ordinal LIMIT %(most)s
) h {joined} ORDER BY h.at
"""
_AT = """
SELECT {columns} FROM (
    SELECT DISTINCT ON (place) c.id, 'NaN'::float8 AS distance, place AS at
    FROM unnest(%(documents)s::bigint[], %(starts)s::int[], %(ends)s::int[])
        WITH ORDINALITY AS wanted (document_id, first, last, place)
    JOIN chunks c ON c.tenant_id = %(tenant)s AND c.document_id = wanted.document_id
        AND c.start_char <= wanted.first AND c.end_char >= wanted.last
    WHERE c.document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {condition})
    ORDER BY place, c.ordinal
) h {joined} ORDER BY h.at
"""
_TABLES = """
SELECT t.document_id, d.title, d.facts, t.page, t.caption, t.units, t.row_paths, t.column_paths,
       t.cells, t.start_char, substring(d.text FROM t.start_char + 1
                                        FOR t.end_char - t.start_char) AS text
FROM document_tables t JOIN documents d ON d.tenant_id = t.tenant_id AND d.id = t.document_id
WHERE t.tenant_id = %(tenant)s AND jsonb_array_length(t.cells) <= %(cells)s
    AND (%(documents)s::bigint[] IS NULL OR t.document_id = ANY(%(documents)s))
    AND t.document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s
                          AND status = 'ready' AND {condition})
ORDER BY t.document_id, t.ordinal LIMIT %(most)s
"""


def documents_of(scope: Scope, wanted: str, most: int) -> Statement:
    """The first ``most`` documents of ``scope`` by name whose title or facts have these words."""
    words = [f"%{word}%" for word in wanted.lower().replace("%", " ").replace("_", " ").split()]
    return _bound(_DOCUMENTS, scope, wanted=words or None, most=most)


def document_of(scope: Scope, document_id: int) -> Statement:
    """One document with its text and outline; no row where it is not in ``scope``."""
    return _bound(_DOCUMENT, scope, document_id=document_id)


def passages_of(
    scope: Scope,
    document_id: int,
    most: int,
    *,
    page: int | None = None,
    heading: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Statement:
    """The first ``most`` chunks of a part of a document, in its order, as ``hit_of`` reads rows.

    The part is a page, what stands under headings that have these words, a range of characters.
    """
    return _bound(
        _PASSAGES, scope, document_id=document_id, most=most, page=page, heading=heading,
        start=start, end=end,
    )  # fmt: skip


def passages_at(scope: Scope, places: list[tuple[int, int, int]]) -> Statement:
    """The chunk that holds each of ``places`` (document, start, end), as ``hit_of`` reads rows."""
    documents, starts, ends = (list(each) for each in zip(*places, strict=True))
    return _bound(_AT, scope, documents=documents, starts=starts, ends=ends)


def tables_of(scope: Scope, documents: list[int] | None, most: int, cells: int) -> Statement:
    """The first ``most`` tables of ``documents``, or of all in ``scope``, of ``cells`` at most.

    ``text`` is the table's text, which begins at ``start_char`` of its document.
    """
    return _bound(_TABLES, scope, documents=documents, most=most, cells=cells)


def _bound(statement: str, scope: Scope, **values: Any) -> Statement:
    filters = scope.filters()
    told = statement.format(
        columns=HIT_COLUMNS, joined=JOIN_HITS, condition=scope_condition(tuple(filters))
    )
    return told, {"tenant": scope.tenant, **filters, **values}
