"""Usage of the day in Postgres, for all servers and over restarts.

A process adds to the counts by the second and looks at them again after some: so several servers
together may let a little too much pass.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from psycopg.rows import dict_row

from helix.overload.usage import Account, today
from helix.storage.statements import usage as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected
    from helix.storage.tenant_connections import TenantConnections

_DAYS_KEPT = 7


def stored_count(store: TenantConnections, account: Account) -> int:
    """The count that the database has for ``account``."""
    with store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(sql.STORED, account.values).fetchone()
    return int(row["n"]) if row else 0


def store_counts(connection: Connected, counts: Counter[Account]) -> dict[Account, int]:
    """Add ``counts`` to those in the database; their totals there."""
    totals = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        # always in one order, or two processes could wait for each other
        for account in sorted(counts, key=repr):
            row = cursor.execute(sql.ADD, account.values | {"n": counts[account]}).fetchone()
            assert row is not None
            totals[account] = int(row["n"])
    return totals


def delete_old_counts(connection: Connected) -> int:
    """Delete the counts of days that no limit looks at any more; how many."""
    return connection.execute(sql.DELETE_OLD, (today() - timedelta(days=_DAYS_KEPT),)).rowcount
