"""Erasing a tenant: all that is stored of it, in one transaction."""

from __future__ import annotations

from helix.contract import OPEN_RUN
from helix.domain.scope import tenant_name
from helix.errors import HelixError
from helix.library.access import compose
from helix.storage.connections import Connected
from helix.storage.document_deletes import delete_everything

_OPEN_RUN = compose(
    "SELECT id FROM runs WHERE tenant_id = %s AND status IN {open} ORDER BY id LIMIT 1",
    open=str(OPEN_RUN),
)
_COUNT_DOCUMENTS = "SELECT count(*) FROM documents WHERE tenant_id = %s"
# feedback goes with its answers, messages with their conversations, run_files with their runs; the
# answers and conversations before the documents, or each would be rewritten for those that go
_COUNTED = {
    "conversations": "DELETE FROM conversations WHERE tenant_id = %s",
    "answers": "DELETE FROM answers WHERE tenant_id = %s",
    "runs": "DELETE FROM runs WHERE tenant_id = %s",
    "keys": "DELETE FROM api_keys WHERE tenant_id = %s",
}
# where the documents of a tenant's conversations are (helix/conversations/attachments.py)
_SPACES = """
SELECT tenant_id FROM documents WHERE starts_with(tenant_id, %s || '/')
GROUP BY tenant_id ORDER BY tenant_id
"""
_LEFT = (
    "DELETE FROM study_sets WHERE tenant_id = %s",
    "DELETE FROM runs WHERE tenant_id = %s",
    "DELETE FROM files WHERE tenant_id = %s",
    "DELETE FROM term_changes WHERE tenant_id = %s",
    "DELETE FROM term_counts WHERE tenant_id = %s",
    "DELETE FROM gate_fits WHERE tenant_id = %s",
    "DELETE FROM prompt_versions WHERE tenant_id = %s",
    "DELETE FROM tenant_settings WHERE tenant_id = %s",
    "DELETE FROM progress_sessions WHERE tenant_id = %s",
    "DELETE FROM progress_days WHERE tenant_id = %s",
    "DELETE FROM progress_counts WHERE tenant_id = %s",
    "DELETE FROM progress_totals WHERE tenant_id = %s",
    "DELETE FROM audit_events WHERE tenant_id = %s",
    "DELETE FROM usage_counts WHERE tenant_id = %s",
)


class StillRunning(HelixError):
    """A run of the tenant is not finished, and would bring documents back."""

    status = 409


def erase_tenant(connection: Connected, tenant: str) -> dict[str, int]:
    """Delete all of a tenant inside the caller's transaction, with the owner's rights.

    Documents with their chunks, vectors and files; runs; answers with their feedback;
    conversations; keys. Cached vectors that another tenant's chunks have too stay: they are
    nobody's.

    Returns:
        how many ``answers``, ``documents``, ``runs`` and ``keys`` there were.

    Raises:
        BadRequest: ``tenant`` cannot be a tenant's name.
        StillRunning: a run of the tenant has not ended.
    """
    whose = (tenant_name(tenant),)
    if (run := connection.execute(_OPEN_RUN, whose).fetchone()) is not None:
        (number,) = run
        raise StillRunning(
            f"run {number} of {tenant} has not ended: wait, or stop it with"
            f" `helix runs --tenant {tenant} cancel {number}`"
        )
    for (space,) in connection.execute(_SPACES, whose).fetchall():
        erase_space(connection, space)
    counts = {name: connection.execute(sql, whose).rowcount for name, sql in _COUNTED.items()}
    ((documents,),) = connection.execute(_COUNT_DOCUMENTS, whose).fetchall()
    erase_space(connection, tenant)
    return {"answers": counts["answers"], "documents": documents, "runs": counts["runs"],
            "keys": counts["keys"]}  # fmt: skip


def erase_space(connection: Connected, tenant: str) -> None:
    """Delete the documents of a tenant, or of a space of one, and what was made of them."""
    delete_everything(connection, tenant)
    for statement in _LEFT:
        connection.execute(statement, (tenant,))
