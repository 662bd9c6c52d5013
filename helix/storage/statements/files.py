"""Bytes of files, kept once a tenant and content; their way to a bucket."""

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


# A file that another process is moving is skipped. Two processes may begin at once: then the object
# of the second stays loose.
NEXT = """
SELECT tenant_id, content_hash FROM files f
WHERE data IS NOT NULL
    AND EXISTS (SELECT FROM documents d
        WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)
    AND NOT EXISTS (SELECT FROM run_files r
        WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)
    AND NOT EXISTS (SELECT FROM loose_objects o
        WHERE o.content_hash = f.content_hash AND o.tenant_id = f.tenant_id AND o.due_at > now())
ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""

# Named before it is put: what a killed process leaves in the bucket is known.
RESERVE = """
INSERT INTO loose_objects (place, tenant_id, content_hash, due_at)
VALUES (%(place)s, %(tenant_id)s, %(content_hash)s, now() + %(lease)s::interval)
"""

# Not in the last minutes of its lease: another process could find the object due before the commit.
END_LEASE = """
DELETE FROM loose_objects WHERE place = %(place)s AND due_at > now() + interval '10 minutes'
"""

# Only where the bytes are still in the row.
MOVE = """
UPDATE files SET data = NULL, place = %(place)s
WHERE tenant_id = %(tenant_id)s AND content_hash = %(content_hash)s AND data IS NOT NULL
"""

# Inserted again where it is gone: the object may have been put after its deletion.
RELEASE = """
INSERT INTO loose_objects (place, tenant_id, content_hash)
VALUES (%(place)s, %(tenant_id)s, %(content_hash)s)
ON CONFLICT (place) DO UPDATE SET due_at = now()
"""

# Only below the configured address: a restored copy of the database, with another bucket or none,
# deletes nothing of the original's.
DUE = """
SELECT place FROM loose_objects o
WHERE due_at <= now() AND starts_with(place, %(below)s)
    AND NOT EXISTS (SELECT FROM files f WHERE f.place = o.place)
ORDER BY due_at LIMIT %(most)s FOR UPDATE SKIP LOCKED
"""

# Once the bucket has them no more.
DELETED = "DELETE FROM loose_objects WHERE place = ANY(%s)"

# What an operator is told of the moving.
COUNTS = """
SELECT (SELECT count(*) FROM files WHERE place IS NOT NULL) AS moved,
    (SELECT count(*) FROM files f WHERE data IS NOT NULL AND EXISTS (SELECT FROM documents d
        WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)) AS waiting,
    (SELECT count(*) FROM loose_objects WHERE due_at <= now()) AS loose
"""
