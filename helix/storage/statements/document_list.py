"""Pages of the documents that match a filter, and what there is, counted."""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.statements import compose, metadata
from helix.storage.statements.documents import COLUMNS

# Names are compared composed: those of files from macOS have their accents apart.
# One statement for every filter but conditions on metadata: one that is NULL leaves none out. The
# list shows the format of a document whose facts name no kind, so that is found as its kind too.
_FILTER = """
tenant_id = %(tenant)s AND (%(status)s::text IS NULL OR status = %(status)s)
AND (%(pattern)s::text IS NULL OR normalize(title) ILIKE normalize(%(pattern)s)
    OR normalize(source_uri) ILIKE normalize(%(pattern)s)
    OR normalize(file_name) ILIKE normalize(%(pattern)s))
AND (%(tags)s::text[] IS NULL OR tags @> %(tags)s)
AND (%(company)s::text[] IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'company' AND n.name = ANY(%(company)s)))
AND (%(kind)s::text IS NULL OR id IN (
    SELECT document_id FROM document_names n WHERE n.tenant_id = %(tenant)s
    AND n.kind = 'kind' AND n.name = %(kind)s)
    OR (coalesce(facts ->> 'kind', '') = '' AND media = %(media)s))
AND (%(formats)s::text[] IS NULL OR media = ANY(%(formats)s))
AND (%(since)s::timestamptz IS NULL OR updated_at >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR updated_at <= %(until)s)
AND {conditions}
"""

# The page first: chunks and pages are counted for its rows alone.
_LIST = """
SELECT row_to_json(p) FROM (
    SELECT {fields}, json_build_array({names}) AS sort_keys FROM (
        SELECT documents.*, {keys} FROM documents {joined}
        WHERE {filter} AND (%(last_id)s::bigint IS NULL
            OR ({values}, id) {beyond} ({last}, %(last_id)s))
        ORDER BY {order} LIMIT %(limit)s
    ) d ORDER BY {order}) p
"""

# By what a page is sorted: expressions, with their types.
_KEYS = {
    "updated": (("(extract(epoch FROM updated_at) * 1000000)::bigint", "bigint"),),
    "title": (("lower(title)", "text"),),
    "size": (("size", "bigint"),),
    "kind": (("lower(coalesce(facts ->> 'kind', media))", "text"),),
    "status": (("status", "text"),),
}

# A value of metadata, the first of a list: numbers, then dates, then texts. A document without one
# comes last in either order.
_VALUES = """
LEFT JOIN (
    SELECT document_id AS valued, text_value, number_value, date_value FROM document_values
    WHERE tenant_id = %(tenant)s AND key = %(sort_key)s AND n = 1
) v ON valued = id
"""
# The three parts of such an order, with their types.
_VALUE_KEYS = (
    ("CASE WHEN number_value IS NOT NULL THEN 0 WHEN date_value IS NOT NULL THEN 1"
     " WHEN text_value IS NOT NULL THEN 2 ELSE {last} END", "integer"),
    ("coalesce(number_value, extract(epoch FROM date_value)::float8, 0)", "float8"),
    ("""coalesce(lower(text_value COLLATE "default"), '')""", "text"),
)  # fmt: skip

# Beside the page, which has at most %(limit)s of them.
_COUNT = "SELECT count(*) AS total FROM documents WHERE {filter}"
# Of all that match only so many as one batch takes.
_IDS = "SELECT id FROM documents WHERE {filter} ORDER BY id LIMIT %(limit)s"


def page_sorted_by(sort: str, conditions: Sequence[str], *, descending: bool) -> str:
    """The statement of a page; ids break ties. Binds what the filter does, and the page's end."""
    of_metadata = sort not in _KEYS
    found = _VALUE_KEYS if of_metadata else _KEYS[sort]
    keys = [(key.replace("{last}", "-1" if descending else "3"), kind) for key, kind in found]
    order = "DESC" if descending else "ASC"
    names = [f"key_{n}" for n in range(len(keys))]
    return compose(
        _LIST, fields=COLUMNS, filter=filter_by(conditions), joined=_VALUES if of_metadata else "",
        names=", ".join(names), beyond="<" if descending else ">",
        keys=", ".join(f"{key} AS {name}" for (key, _), name in zip(keys, names, strict=True)),
        values=", ".join(key for key, _ in keys),
        last=", ".join(f"%(last_{n})s::{kind}" for n, (_, kind) in enumerate(keys)),
        order=", ".join(f"{name} {order}" for name in (*names, "id")),
    )  # fmt: skip


def count(conditions: Sequence[str]) -> str:
    """The number of documents that match, on whichever page."""
    return compose(_COUNT, filter=filter_by(conditions))


def ids(conditions: Sequence[str]) -> str:
    """The documents that a batch can be asked for."""
    return compose(_IDS, filter=filter_by(conditions))


def filter_by(conditions: Sequence[str]) -> str:
    """The condition on ``documents`` of a filter, with these on their metadata."""
    return compose(_FILTER, conditions=metadata.conditions(conditions))


# The most first; a group without a name is none.
_GROUP = """
(SELECT coalesce(json_agg(json_build_object('name', name, 'count', n) ORDER BY n DESC, name), '[]')
 FROM (SELECT {name} AS name, count(*) AS n FROM {of} WHERE tenant_id = %(tenant)s AND {name} <> ''
       GROUP BY 1 ORDER BY n DESC, 1 LIMIT %(most)s) g)
"""

# Each with the kinds of its values.
_METADATA_KEYS = """
(SELECT coalesce(json_agg(json_build_object('name', key, 'count', n, 'kinds', kinds)
                          ORDER BY n DESC, key), '[]')
 FROM (SELECT key, count(DISTINCT document_id) AS n, array_agg(DISTINCT CASE
              WHEN number_value IS NOT NULL THEN 'number' WHEN date_value IS NOT NULL THEN 'date'
              ELSE 'text' END) AS kinds
       FROM document_values WHERE tenant_id = %(tenant)s
       GROUP BY key ORDER BY n DESC, key LIMIT %(most)s) g)
"""

# In one statement: the counts are of one moment.
SUMMARY = compose(
    """
SELECT row_to_json(x) FROM (SELECT
    (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s) AS total,
    (SELECT coalesce(json_object_agg(status, n), '{{}}') FROM (
        SELECT status, count(*) AS n FROM documents WHERE tenant_id = %(tenant)s
        GROUP BY status) s) AS statuses,
    {labels} AS labels, {kinds} AS kinds, {formats} AS formats, {keys} AS metadata) x
""",
    labels=compose(_GROUP, name="tag", of="documents, unnest(tags) AS tag"),
    kinds=compose(_GROUP, name="facts ->> 'kind'", of="documents"),
    formats=compose(_GROUP, name="media", of="documents"),
    keys=_METADATA_KEYS,
)
