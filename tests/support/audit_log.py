"""Looking at the audit log of a database."""

from __future__ import annotations

import psycopg


def last_command(url: str) -> str | None:
    """The last command that the audit log tells of."""
    with psycopg.connect(url) as connection:
        last = "SELECT action FROM audit_events WHERE kind = 'command' ORDER BY id DESC LIMIT 1"
        row = connection.execute(last).fetchone()
    return row[0] if row else None
