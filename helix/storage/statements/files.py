"""Bytes of files, kept once a tenant and content."""

# Updated, not left alone, where the row is there: its lock keeps ``drop_bytes`` from deleting it.
KEEP = """
INSERT INTO files (tenant_id, content_hash, data, size) VALUES (%s, %s, %b, %s)
ON CONFLICT (tenant_id, content_hash) DO UPDATE SET content_hash = excluded.content_hash
"""

# In the row, or in the object of a bucket that it names.
READ = "SELECT data, place, size FROM files WHERE tenant_id = %s AND content_hash = %s"

# Locked in a statement of its own: the next statement then sees who has come to need the bytes.
LOCK = """
SELECT 1 FROM files
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
ORDER BY tenant_id, content_hash FOR UPDATE
"""

# Those that no document and no run needs.
DROP = """
DELETE FROM files f
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)
    AND NOT EXISTS (SELECT FROM run_files r
        WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)
"""
