"""Settings of one tenant."""

from __future__ import annotations

# No row: the installation's own.
MODEL = "SELECT model FROM tenant_settings WHERE tenant_id = %(tenant)s"

# A tenant has one row.
SET_MODEL = """
INSERT INTO tenant_settings (tenant_id, model) VALUES (%(tenant)s, %(model)s)
ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model
"""
