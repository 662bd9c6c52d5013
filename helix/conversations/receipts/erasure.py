"""Erasing a tenant: all that is stored of it, in one transaction."""

from __future__ import annotations

from helix.domain.scope import tenant_name
from helix.errors import HelixError
from helix.library.access import Connected
from helix.storage.document_deletes import delete_everything
from helix.storage.statements import erasure as sql


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
    connection.execute(sql.HOLD_ANSWERS, whose)
    if (run := connection.execute(sql.OPEN_RUN_OF, whose).fetchone()) is not None:
        (number,) = run
        raise StillRunning(
            f"run {number} of {tenant} has not ended: wait, or stop it with"
            f" `helix runs --tenant {tenant} cancel {number}`"
        )
    for (space,) in connection.execute(sql.SPACES, whose).fetchall():
        erase_space(connection, space)
    counts = {
        name: connection.execute(statement, whose).rowcount
        for name, statement in sql.COUNTED.items()
    }
    ((documents,),) = connection.execute(sql.COUNT_DOCUMENTS, whose).fetchall()
    erase_space(connection, tenant)
    connection.execute(sql.ERASED, whose)
    return {"answers": counts["answers"], "documents": documents, "runs": counts["runs"],
            "keys": counts["keys"]}  # fmt: skip


def erase_space(connection: Connected, tenant: str) -> None:
    """Delete the documents of a tenant, or of a space of one, and what was made of them."""
    delete_everything(connection, tenant)
    for statement in sql.LEFT:
        connection.execute(statement, (tenant,))
