"""Tokens and bytes used in a day, where they are limited."""

# What all servers together have counted.
STORED = """
SELECT n FROM usage_counts
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND kind = %(kind)s AND day = %(day)s
"""

# Servers add what each has counted; the sum comes back with it.
ADD = """
INSERT INTO usage_counts AS u (tenant_id, subject, kind, day, n)
VALUES (%(tenant)s, %(subject)s, %(kind)s, %(day)s, %(n)s)
ON CONFLICT (tenant_id, subject, kind, day) DO UPDATE SET n = u.n + excluded.n RETURNING n
"""

# Limits are of a day: older counts limit nothing.
DELETE_OLD = "DELETE FROM usage_counts WHERE day < %s"
