"""Deletion of what is old: ended runs, feedback and usage, where a setting says so."""

from __future__ import annotations

from helix.conversations.receipts.receipt_store import delete_old_feedback
from helix.library.audit import delete_old_events
from helix.library.people.browser_sessions import delete_old_sessions
from helix.library.runs import delete_ended_runs
from helix.library.usage import delete_old_counts
from helix.library.usage_days import delete_old_usage
from helix.settings import Settings
from helix.storage.statements.moments import DROP_OLD
from helix.storage.tenant_store import TenantStore


def drop_old(store: TenantStore, settings: Settings) -> dict[str, int]:
    """Delete what is older than the settings keep it, of all tenants; how many rows of which.

    Each batch is a transaction of its own, so that nobody waits long for a row.
    """
    dropped: dict[str, int] = {}
    with store.connection() as connection:
        if settings.feedback_days:
            dropped["feedback"] = delete_old_feedback(connection, settings.feedback_days)
        if settings.run_days:
            dropped["runs"] = delete_ended_runs(connection, settings.run_days)
        dropped["audit_events"] = delete_old_events(connection, settings.audit_days)
        if settings.progress == "off":
            from helix.study.progress.storage import forget_everybody

            dropped["progress"] = forget_everybody(connection)
        dropped["versions"] = connection.execute(DROP_OLD, (settings.keep_versions_days,)).rowcount
        dropped["sessions"] = delete_old_sessions(connection)
        dropped["usage_counts"] = delete_old_counts(connection)
        dropped["usage_days"] = delete_old_usage(connection, settings.usage_days)
    return dropped
