"""The end of a sync: what came in is settled, and then what is gone is removed."""

from __future__ import annotations

from helix.library.runs import should_stop
from helix.library.source_entries import (
    count_removed,
    removable,
    remove_entry,
    settle,
    sync_of_run,
    told_sync,
)
from helix.library.sources import delete_source
from helix.storage.connections import Connected


def end_sync(connection: Connected, run_id: int) -> str | None:
    """Settle what the run brought in, and then remove what it marked; its error, if there is one.

    Killed in between, it goes on where it was: each document goes in a transaction of its own.
    None where the run is no sync.
    """
    found = sync_of_run(connection, run_id)
    if found is None or found[2].get("dry_run"):
        return None
    tenant, source_id, options = found
    settle(connection, tenant, source_id, run_id)
    removed = _remove_marked(connection, tenant, source_id, run_id)
    error, counts = told_sync(connection, tenant, source_id)
    count_removed(connection, tenant, source_id, counts.get("removed", 0) + removed)
    if options.get("remove") and not removable(connection, tenant, source_id, run_id):
        delete_source(connection, tenant, source_id)
        return None
    return error or None


def _remove_marked(connection: Connected, tenant: str, source_id: int, run_id: int) -> int:
    removed = 0
    while entries := removable(connection, tenant, source_id, run_id):
        if should_stop(connection, run_id):
            break
        for key, document_id in entries:
            with connection.transaction():
                removed += remove_entry(connection, tenant, source_id, key, document_id)
    return removed
