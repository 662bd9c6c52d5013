"""The library as it stood at a moment: other statements, read from the versions of then.

A common table expression hides the table of its name from the rest of its statement. So a statement
that reads documents and chunks reads those of the moment, unchanged, behind these.
"""

from __future__ import annotations

from helix.storage.statements.hits import CHUNK

# Of the transaction, for statements that bind nothing for them.
_TENANT = "current_setting('helix.tenant')"
# One value, looked up once.
_AT = "(SELECT current_setting('helix.as_of')::timestamptz)"

# Current documents and earlier versions, each as it is read elsewhere. Spaces, labels and metadata
# are those of now: who may read what, now says.
_DOCUMENTS = f"""
documents AS MATERIALIZED (
    SELECT tenant_id, id, title, source_uri, file_name, content_hash, text, media, language,
        outline, facts, status, tags, metadata, spaces, created_at, updated_at,
        NULL::timestamptz AS valid_to
    FROM documents WHERE tenant_id = {_TENANT} AND updated_at <= {_AT}
    UNION ALL
    SELECT d.tenant_id, d.id, v.title, v.source_uri, v.file_name, v.content_hash, v.text, v.media,
        v.language, v.outline, v.facts, d.status, d.tags, d.metadata, d.spaces, d.created_at,
        v.valid_from, v.valid_to
    FROM document_versions v JOIN documents d ON d.tenant_id = v.tenant_id AND d.id = v.document_id
    WHERE v.tenant_id = {_TENANT} AND v.valid_from <= {_AT} AND v.valid_to > {_AT}
)
"""

# Not a join: the planner could not look up one chunk by its id behind it.
_CURRENT = f"""tenant_id = {_TENANT}
        AND coalesce(document_id IN (SELECT id FROM documents WHERE valid_to IS NULL), false)"""
# The same of chunks of versions.
_FORMER = f"""tenant_id = {_TENANT} AND coalesce((document_id, valid_to) IN (
            SELECT id, valid_to FROM documents WHERE valid_to IS NOT NULL), false)"""

# Not materialized: one is looked up by its id, as elsewhere.
_CHUNKS = f"""
chunks AS NOT MATERIALIZED (
    SELECT tenant_id, document_id, id, node_id, content, embedding, metadata_, ordinal, start_char,
        end_char FROM chunks WHERE {_CURRENT}
    UNION ALL
    SELECT tenant_id, document_id, id, node_id, content, embedding, metadata_, ordinal, start_char,
        end_char FROM chunk_versions WHERE {_FORMER}
),
chunk_terms AS NOT MATERIALIZED (
    SELECT tenant_id, document_id, chunk_id, length, keys, impacts FROM chunk_terms WHERE {_CURRENT}
    UNION ALL
    SELECT tenant_id, document_id, id, length, keys, impacts FROM chunk_versions
    WHERE keys IS NOT NULL AND {_FORMER}
)
"""

# The counts of now, without the chunks that came later and with those that went since.
_STATISTICS = f"""
changed_terms AS MATERIALIZED (
    SELECT counted.key, sum(sign * counted.n)::bigint AS n FROM (
        SELECT keys, length, -1 AS sign FROM chunk_terms_of_now
        UNION ALL SELECT keys, length, 1 FROM chunk_versions WHERE keys IS NOT NULL AND {_FORMER}
    ) changed CROSS JOIN LATERAL (
        SELECT unnest(keys) AS key, 1 AS n UNION ALL VALUES (0, 1), (1, length)
    ) counted GROUP BY counted.key
),
term_statistics AS NOT MATERIALIZED (
    SELECT tenant_id, key, n FROM term_statistics WHERE tenant_id = {_TENANT}
    UNION ALL SELECT {_TENANT}, key, n FROM changed_terms
)
"""

# Chunks whose document is another now than it was then, or was not there.
_OF_NOW = f"""
chunk_terms_of_now AS MATERIALIZED (
    SELECT keys, length FROM chunk_terms WHERE tenant_id = {_TENANT} AND NOT coalesce(
        document_id IN (SELECT id FROM documents WHERE valid_to IS NULL), false)
)
"""

# Of versions no tables are kept.
_NAMES = f"""
document_names AS NOT MATERIALIZED (
    SELECT tenant_id, document_id, kind, name FROM document_names WHERE {_CURRENT}
    UNION ALL
    SELECT v.tenant_id, v.document_id, n.kind, n.name
    FROM document_versions v
    CROSS JOIN LATERAL jsonb_to_recordset(v.names) AS n (kind text, name text)
    WHERE v.tenant_id = {_TENANT} AND v.valid_from <= {_AT} AND v.valid_to > {_AT}
),
document_tables AS NOT MATERIALIZED (SELECT * FROM document_tables WHERE {_CURRENT})
"""

# Each hides a table from those behind it: documents first.
_THEN = ",".join((_DOCUMENTS, _OF_NOW, _STATISTICS, _CHUNKS, _NAMES))

# Documents that were replaced since, and whose version of then is not kept.
LOST = """
SELECT count(*)::int AS lost FROM documents d
WHERE d.tenant_id = %(tenant)s AND d.created_at <= %(at)s AND d.updated_at > %(at)s
    AND NOT EXISTS (SELECT FROM document_versions v WHERE v.tenant_id = d.tenant_id
        AND v.document_id = d.id AND v.valid_from <= %(at)s AND v.valid_to > %(at)s)
"""

# Kept long enough; none where none is kept.
DROP_OLD = "DELETE FROM document_versions WHERE valid_to <= now() - make_interval(days => %s)"

# For the transaction of a write: the trigger of documents reads it.
KEEP = ", set_config('helix.keep_versions', 'on', true)"

# For that of a read.
SET_MOMENT = ", set_config('helix.as_of', %(as_of)s, true)"


# Looked up one by one: as a join all chunks of then would be gone through for each.
_EACH_CHUNK = """CROSS JOIN LATERAL (
    SELECT * FROM chunks WHERE id = h.id AND tenant_id = %(tenant)s OFFSET 0) c"""


def then(statement: str) -> str:
    """``statement``, which only reads, of documents and chunks as they were in helix.as_of."""
    body = statement.replace(CHUNK, _EACH_CHUNK).strip()
    if body.startswith("WITH "):
        return f"WITH {_THEN}, {body.removeprefix('WITH ')}"
    return f"WITH {_THEN} {body}"
