"""Erasing a tenant: all that is stored of it, in one transaction."""

from __future__ import annotations

from helix.errors import HelixError
from helix.library.access import Connected
from helix.scope import tenant_name
from helix.writing import delete_everything

_OPEN = """
SELECT id FROM runs WHERE tenant_id = %s AND status IN ('queued', 'running', 'cancelling')
ORDER BY id LIMIT 1
"""
_COUNTED = (
    ("answers", "SELECT count(*) FROM answers WHERE tenant_id = %s"),
    ("documents", "SELECT count(*) FROM documents WHERE tenant_id = %s"),
    ("runs", "SELECT count(*) FROM runs WHERE tenant_id = %s"),
    ("keys", "SELECT count(*) FROM api_keys WHERE tenant_id = %s"),
)
# feedback goes with its answers, run_files with their runs; the answers first, or each would be
# rewritten for the documents that go
_ERASE = (
    "DELETE FROM api_keys WHERE tenant_id = %s",
    "DELETE FROM answers WHERE tenant_id = %s",
    "DELETE FROM runs WHERE tenant_id = %s",
)
_LEFT = (
    "DELETE FROM files WHERE tenant_id = %s",
    "DELETE FROM term_changes WHERE tenant_id = %s",
    "DELETE FROM term_counts WHERE tenant_id = %s",
    "DELETE FROM gate_fits WHERE tenant_id = %s",
)


class StillRunning(HelixError):
    """Something of the tenant's is being brought in, and would come back."""

    status = 409


def erase_tenant(connection: Connected, tenant: str) -> dict[str, int]:
    """Delete all of a tenant inside the caller's transaction, with the owner's rights.

    Documents with their chunks, vectors and files; runs; answers with their feedback; keys. Cached
    vectors that another tenant's chunks have too stay: they are nobody's.

    Returns:
        how many there were, by what they are.

    Raises:
        BadRequest: it cannot be a tenant's name.
        StillRunning: a run of it has not ended.
    """
    whose = (tenant_name(tenant),)
    if (run := connection.execute(_OPEN, whose).fetchone()) is not None:
        raise StillRunning(
            f"run {run[0]} of {tenant} has not ended: wait, or stop it with"
            f" `helix runs --tenant {tenant} cancel {run[0]}`"
        )
    counts = {name: _count(connection, statement, tenant) for name, statement in _COUNTED}
    for statement in _ERASE:
        connection.execute(statement, whose)
    delete_everything(connection, tenant)
    for statement in _LEFT:
        connection.execute(statement, whose)
    return counts


def _count(connection: Connected, statement: str, tenant: str) -> int:
    row = connection.execute(statement, (tenant,)).fetchone()
    assert row is not None
    return int(row[0])
