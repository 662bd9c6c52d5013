"""Documents that were deleted, as far as they are known, and the backups that still have them."""

from helix.storage.statements import compose

# Where its spaces may be read: to others it never was.
REMOVAL = """
SELECT document_id, added_at, removed_at, text_sha256, file_sha256, characters, counts
FROM removals r WHERE tenant_id = %(tenant)s AND document_id = %(id)s
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.tenant_id = r.tenant_id AND d.id = r.document_id)
"""

# Whether a process may have in memory what is no more.
ANY_NEW = "SELECT EXISTS (SELECT FROM removals WHERE removed_at > now() - interval '1 minute')"

# For whoever asks that they be in the record.
NAMES = """
SELECT title, file_name, source_uri FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# What still names the document once all is swept: answers that are being written just now, and
# objects that the bucket did not delete yet.
REMAINING = """
SELECT (SELECT count(*) FROM messages
        WHERE tenant_id = %(tenant)s AND document_ids @> ARRAY[%(id)s::bigint]) AS messages,
    (SELECT count(*) FROM answers
        WHERE tenant_id = %(tenant)s AND document_ids @> ARRAY[%(id)s::bigint]) AS answers,
    (SELECT count(*) FROM loose_objects
        WHERE tenant_id = %(tenant)s AND content_hash = %(file_sha256)s) AS objects
"""

# Begun before it went, and neither deleted nor expired since. One may be begun before the document
# came, and read the database after.
BACKUPS = """
SELECT file, made_at, expires_at FROM backups
WHERE made_at BETWEEN %(added_at)s::timestamptz - interval '10 minutes' AND %(removed_at)s
    AND gone_at IS NULL AND coalesce(expires_at > now(), true) ORDER BY made_at, id
"""

# Of this installation, newest first.
ALL_BACKUPS = """
SELECT file, made_at, expires_at FROM backups WHERE gone_at IS NULL
    AND coalesce(expires_at > now(), true) ORDER BY made_at DESC, id DESC
"""

# One of the same name as before took its place.
ADD_BACKUP = """
WITH former AS (UPDATE backups SET gone_at = now() WHERE file = %(file)s AND gone_at IS NULL)
INSERT INTO backups (file, made_at, expires_at)
VALUES (%(file)s, %(made_at)s, now() + make_interval(days => %(days)s::int))
"""

# By whoever deleted the file.
BACKUP_GONE = "UPDATE backups SET gone_at = now() WHERE file = %s AND gone_at IS NULL"

# What has words of documents, or of what was said of them.
_WITH_WORDS = """
documents, chunks, document_names, document_values, document_tables, document_pages,
document_sources, document_versions, chunk_versions, suggested_questions, study_sets, study_items,
study_sources, answers, feedback, messages, message_events, run_files, files, source_entries
"""

# In one order, so that two erasures never wait for each other.
HOLD_SAMPLES = compose("LOCK TABLE {tables} IN SHARE UPDATE EXCLUSIVE MODE", tables=_WITH_WORDS)

# The tables and their indexes, by name.
_SAMPLED = compose(
    """
SELECT c.oid FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE coalesce(i.indrelid, c.oid) = ANY (
    SELECT trim(name)::regclass FROM string_to_table($names${tables}$names$, ',') name)
""",
    tables=_WITH_WORDS,
)

# Of a table that is empty, ANALYZE keeps the samples that it had. From Postgres 18 on its owner may
# clear them.
CLEAR_SAMPLES = compose(
    """
SELECT pg_clear_attribute_stats(s.schemaname, s.tablename, s.attname, s.inherited) FROM pg_stats s
WHERE (quote_ident(s.schemaname) || '.' || quote_ident(s.tablename))::regclass IN ({sampled})
""",
    sampled=_SAMPLED,
)

# Before, only a superuser may delete them.
DELETE_SAMPLES = compose(
    """
DELETE FROM pg_statistic WHERE starelid IN ({sampled})
""",
    sampled=_SAMPLED,
)

# The planner's samples of columns have words too.
SAMPLES_ANEW = compose("ANALYZE {tables}", tables=_WITH_WORDS)
