"""Settings of one tenant."""

# No row: the installation's own.
MODEL = "SELECT model FROM tenant_settings WHERE tenant_id = %(tenant)s"

# Those that answer where a question names none: the space's that is asked, then the tenant's.
MODELS = """
SELECT model FROM (
    SELECT 0 AS n, model FROM spaces WHERE tenant_id = %(tenant)s AND id = %(space)s
    UNION ALL SELECT 1, model FROM tenant_settings WHERE tenant_id = %(tenant)s) x
WHERE model <> '' ORDER BY n
"""

# A tenant has one row.
SET_MODEL = """
INSERT INTO tenant_settings (tenant_id, model) VALUES (%(tenant)s, %(model)s)
ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model
"""
