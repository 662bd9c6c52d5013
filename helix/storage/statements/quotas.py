"""Documents and bytes that a tenant has, where they are bounded."""

# Two that each have room together may have none.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(7416203, hashtext(%(tenant)s))"

# Originals count as large as they came, wherever their bytes are.
HELD = """
SELECT count(*) AS documents, coalesce(sum(size), 0) AS bytes FROM documents
WHERE tenant_id = %(tenant)s
"""

# A document that grows takes the room of its growth alone.
SIZE_OF = """
SELECT size FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s
"""
