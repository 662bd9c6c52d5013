"""Versions of prompts that a tenant has of its own."""

# Versions are never changed: the newest is the one in use.
CURRENT = """
SELECT DISTINCT ON (name) name, version, text, author, created_at FROM prompt_versions
WHERE tenant_id = %(tenant)s ORDER BY name, version DESC
"""

# All of one prompt, newest first.
VERSIONS = """
SELECT name, version, text, author, created_at FROM prompt_versions
WHERE tenant_id = %(tenant)s AND name = %(name)s ORDER BY version DESC
"""

# Those that a receipt names, for an answer to be replayed.
NAMED = """
SELECT name, version, text FROM prompt_versions
WHERE tenant_id = %(tenant)s AND (name, version) IN (
    SELECT * FROM unnest(%(names)s::text[], %(versions)s::int[]))
"""

# The number that the next version follows.
LAST = """
SELECT coalesce(max(version), 0) AS version FROM prompt_versions
WHERE tenant_id = %(tenant)s AND name = %(name)s
"""

# No row where another got the number first.
INSERT = """
INSERT INTO prompt_versions (tenant_id, name, version, text, author)
VALUES (%(tenant)s, %(name)s, %(version)s, %(text)s, %(author)s)
ON CONFLICT DO NOTHING RETURNING version
"""
