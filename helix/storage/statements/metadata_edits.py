"""Edits of documents' metadata: by people, and by what came with a file."""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.statements import compose
from helix.storage.statements.document_list import filter_by

# One that has any of the changed keys in what is embedded is read again when it is next ingested.
_RECIPE = """
CASE WHEN string_to_array(substring(recipe FROM ' metadata-(.*)$'), ',') && %(keys)s::text[]
     THEN '' ELSE recipe END
"""

# Held in one order, or two edits of the same documents would deadlock. `most` is of the keys that
# one has afterwards, `missing` those of the ids that no document has.
_EDIT = """
WITH found AS MATERIALIZED (
    SELECT id, metadata AS before, (metadata || %(set)s) - %(removed)s::text[] AS after
    FROM documents
    WHERE {filter} AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s::bigint[]))
        AND (%(edits)s::bigint[] IS NULL OR spaces <@ %(edits)s::bigint[])
    ORDER BY id FOR UPDATE
),
written AS (
    UPDATE documents SET metadata = found.after, recipe = {recipe},
        edits = edits || jsonb_build_object(
            'metadata', coalesce(edits -> 'metadata', '{{}}') || %(patch)s)
    FROM found
    WHERE tenant_id = %(tenant)s AND documents.id = found.id AND found.before <> found.after
    RETURNING documents.id
)
SELECT (SELECT count(*) FROM found) AS matched, (SELECT count(*) FROM written) AS changed,
       (SELECT coalesce(max(cardinality(ARRAY(SELECT jsonb_object_keys(after)))), 0) FROM found)
           AS most,
       ARRAY(SELECT unnest(%(ids)s::bigint[]) EXCEPT SELECT id FROM found ORDER BY 1) AS missing
"""


def edit(conditions: Sequence[str]) -> str:
    """The edit of all documents that a filter leaves, or of those of its that have some ids."""
    return compose(_EDIT, filter=filter_by(conditions), recipe=_RECIPE)


# What people changed stays as it is. A source that another document has the bytes of stands in
# document_sources.
GIVE = compose(
    """
UPDATE documents SET
    metadata = metadata || (%(given)s - ARRAY(
        SELECT jsonb_object_keys(coalesce(edits -> 'metadata', '{{}}')))),
    edits = edits || jsonb_build_object('given', coalesce(edits -> 'given', '{{}}') || %(given)s),
    recipe = {recipe}
WHERE tenant_id = %(tenant)s AND NOT coalesce(edits -> 'given', '{{}}') @> %(given)s
    AND (source_uri = %(source_uri)s OR id IN (
        SELECT document_id FROM document_sources
        WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s))
""",
    recipe=_RECIPE,
)
