"""Hosts that were contacted, and how much is stored."""

# Of all hosts at once: processes add up what they counted every few seconds.
ADD_CONTACTS = """
INSERT INTO contacts AS c (process, kind, host, port, n)
SELECT %(process)s, * FROM unnest(%(kinds)s::text[], %(hosts)s::text[], %(ports)s::int[],
                                  %(counts)s::bigint[])
ON CONFLICT (process, kind, host, port) DO UPDATE
    SET n = c.n + excluded.n, last_at = now()
"""

# A crawl may contact any number of hosts: the latest are kept.
TRIM_CONTACTS = """
DELETE FROM contacts WHERE (SELECT count(*) FROM contacts) > %(most)s AND ctid NOT IN
    (SELECT ctid FROM contacts ORDER BY last_at DESC LIMIT %(most)s)
"""

# The latest first: the report shows some hundred.
CONTACTS = """
SELECT process, kind, host, nullif(port, 0) AS port, n AS count, last_at, first_at
FROM contacts ORDER BY last_at DESC
"""

# In one statement: the counts are of one moment.
STORED = """
SELECT json_build_object(
    'documents', (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s),
    'text_bytes', (SELECT coalesce(sum(octet_length(text)), 0) FROM documents
                   WHERE tenant_id = %(tenant)s),
    'chunks', (SELECT count(*) FROM chunks WHERE tenant_id = %(tenant)s),
    'files', (SELECT count(*) FROM files WHERE tenant_id = %(tenant)s),
    'files_in_bucket', (SELECT count(*) FROM files
                        WHERE tenant_id = %(tenant)s AND place IS NOT NULL),
    'file_bytes', (SELECT coalesce(sum(size), 0) FROM files
                   WHERE tenant_id = %(tenant)s),
    'answers', (SELECT count(*) FROM answers WHERE tenant_id = %(tenant)s))
"""
