"""Pages of the documents that match a filter, and what there is, counted."""

from __future__ import annotations

from helix.storage.statements import compose
from helix.storage.statements.documents import COLUMNS

# One statement for every filter: one that is NULL leaves none out.
_FILTER = """
tenant_id = %(tenant)s AND (%(status)s::text IS NULL OR status = %(status)s)
AND (%(pattern)s::text IS NULL OR title ILIKE %(pattern)s OR source_uri ILIKE %(pattern)s
    OR file_name ILIKE %(pattern)s)
AND (%(tags)s::text[] IS NULL OR tags @> %(tags)s)
AND (%(company)s::text[] IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'company' AND n.name = ANY(%(company)s)))
AND (%(kind)s::text IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'kind' AND n.name = %(kind)s))
AND (%(formats)s::text[] IS NULL OR media = ANY(%(formats)s))
AND (%(since)s::timestamptz IS NULL OR updated_at >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR updated_at <= %(until)s)
"""

# The page first: chunks and pages are counted for its rows alone.
_LIST = """
SELECT row_to_json(p) FROM (
    SELECT {fields}, d.sort_key FROM (
        SELECT *, {key} AS sort_key FROM documents
        WHERE {filter} AND (%(last_id)s::bigint IS NULL
            OR ({key}, id) {beyond} (%(last_key)s::{type}, %(last_id)s))
        ORDER BY sort_key {order}, id {order} LIMIT %(limit)s
    ) d ORDER BY d.sort_key {order}, d.id {order}) p
"""

# By what a page is sorted: an expression, which an index has, and its type.
_KEYS = {
    "updated": ("(extract(epoch FROM updated_at) * 1000000)::bigint", "bigint"),
    "title": ("lower(title)", "text"),
    "size": ("size", "bigint"),
    "kind": ("lower(coalesce(facts ->> 'kind', media))", "text"),
    "status": ("status", "text"),
}


def page_sorted_by(sort: str, *, descending: bool) -> str:
    """The statement of a page; ids break ties. Binds what the filter does, and the page's end."""
    key, key_type = _KEYS[sort]
    return compose(
        _LIST, fields=COLUMNS, filter=_FILTER, key=key, type=key_type,
        beyond="<" if descending else ">", order="DESC" if descending else "ASC",
    )  # fmt: skip


# Of all that match, whichever page.
COUNT = compose("SELECT count(*) AS total FROM documents WHERE {filter}", filter=_FILTER)

# What a batch can be asked for.
IDS = compose("SELECT id FROM documents WHERE {filter} ORDER BY id LIMIT %(limit)s", filter=_FILTER)

# The most first; a group without a name is none.
_GROUP = """
(SELECT coalesce(json_agg(json_build_object('name', name, 'count', n) ORDER BY n DESC, name), '[]')
 FROM (SELECT {name} AS name, count(*) AS n FROM {of} WHERE tenant_id = %(tenant)s AND {name} <> ''
       GROUP BY 1 ORDER BY n DESC, 1 LIMIT %(most)s) g)
"""

# In one statement: the counts are of one moment.
SUMMARY = compose(
    """
SELECT row_to_json(x) FROM (SELECT
    (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s) AS total,
    (SELECT coalesce(json_object_agg(status, n), '{{}}') FROM (
        SELECT status, count(*) AS n FROM documents WHERE tenant_id = %(tenant)s
        GROUP BY status) s) AS statuses,
    {labels} AS labels, {kinds} AS kinds, {formats} AS formats) x
""",
    labels=compose(_GROUP, name="tag", of="documents, unnest(tags) AS tag"),
    kinds=compose(_GROUP, name="facts ->> 'kind'", of="documents"),
    formats=compose(_GROUP, name="media", of="documents"),
)
