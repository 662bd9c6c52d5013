"""Study sets."""

from helix.storage.statements import compose
from helix.storage.statements.study_items import IS_STALE

# Its run follows in the same transaction.
ADD = """
INSERT INTO study_sets (tenant_id, kind, title, scope, document_ids, difficulty, wanted)
VALUES (%(tenant)s, %(kind)s, %(title)s, %(scope)s, %(document_ids)s, %(difficulty)s, %(wanted)s)
RETURNING id
"""

# The run's options name the set, so the set is first.
HAS_RUN = "UPDATE study_sets SET run_id = %(run_id)s WHERE tenant_id = %(tenant)s AND id = %(id)s"

# With how far its run is, what was made, and what of it is out of date.
_SETS = """
SELECT t.id, t.kind, t.title, t.scope, t.difficulty, t.wanted, t.run_id, t.dropped, t.model,
    to_json(t.created_at) AS created_at, coalesce(r.status, 'done') AS status,
    coalesce(r.stage, '') AS stage, coalesce(r.error, '') AS error,
    (SELECT count(*) FROM study_items i
     WHERE i.tenant_id = t.tenant_id AND i.set_id = t.id
         AND (t.kind <> 'workshop' OR i.kind = 'lesson')) AS made,
    (SELECT count(DISTINCT s.item_id) FROM study_items i
     JOIN study_sources s ON s.tenant_id = i.tenant_id AND s.item_id = i.id
     JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
     WHERE i.tenant_id = t.tenant_id AND i.set_id = t.id AND {stale}) AS stale,
    (SELECT coalesce(jsonb_agg(x.title), '[]') FROM (
        SELECT DISTINCT d.title FROM study_items i
        JOIN study_sources s ON s.tenant_id = i.tenant_id AND s.item_id = i.id
        JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
        WHERE i.tenant_id = t.tenant_id AND i.set_id = t.id ORDER BY d.title LIMIT 4) x) AS titles
FROM study_sets t LEFT JOIN runs r ON r.tenant_id = t.tenant_id AND r.id = t.run_id
WHERE t.tenant_id = %(tenant)s AND {condition}
"""

# Newest first.
LIST = compose(
    _SETS, stale=IS_STALE,
    condition="(%(kind)s::text IS NULL OR t.kind = %(kind)s)"
    " AND (%(space)s::bigint IS NULL"
    " OR t.scope @> jsonb_build_object('space', %(space)s::bigint))"
    " AND (%(last)s::bigint IS NULL OR t.id < %(last)s) ORDER BY t.id DESC LIMIT %(limit)s",
)  # fmt: skip

# The same columns of one.
GET = compose(_SETS, stale=IS_STALE, condition="t.id = %(id)s")

# Only its title: what it was made of stays.
RENAME = "UPDATE study_sets SET title = %(title)s WHERE tenant_id = %(tenant)s AND id = %(id)s"

# Whether whoever asks has made it.
IS_OWN = """
SELECT owner = coalesce(current_setting('helix.owner', true), '') AS own
FROM study_sets WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Its items, attempts and reviews go with it, by foreign keys.
DELETE = "DELETE FROM study_sets WHERE tenant_id = %(tenant)s AND id = %(id)s"
