"""The audit log."""

# Many at once, with the time when each happened: they wait in memory first.
INSERT = """
INSERT INTO audit_events (tenant_id, at, kind, key_id, address, action, object, status, n,
    person_id)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""

# The latest, shown in their order.
LIST = """
SELECT * FROM (
    SELECT id, tenant_id AS tenant, at, kind, key_id, person_id, address, action, object, status, n
    FROM audit_events
    WHERE at >= %(since)s AND (%(tenant)s::text IS NULL OR tenant_id = %(tenant)s)
    ORDER BY at DESC, id DESC LIMIT %(most)s) latest
ORDER BY at, id
"""

# Some at a time, and none that another server is at: no lock is held for long.
DELETE_EXPIRED = """
DELETE FROM audit_events WHERE id IN (
    SELECT id FROM audit_events WHERE at <= now() - make_interval(days => %(days)s)
    LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""
