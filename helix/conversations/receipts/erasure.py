"""Erasing a tenant, or a person: all that is stored of it, in one transaction."""

from __future__ import annotations

from helix.conversations.attachments import space_of
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
    if run := _open_run(connection, tenant):
        raise StillRunning(
            f"run {run} of {tenant} has not ended: wait, or stop it with"
            f" `helix runs --tenant {tenant} cancel {run}`"
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


def erase_person(connection: Connected, person_id: int) -> dict[str, int]:
    """Delete a person's account and what is theirs alone, inside the caller's transaction.

    Conversations with the documents put to them, answers with their feedback, study sets and
    progress, in all tenants. Documents of the library stay: they are the tenant's. With the
    owner's rights.

    Returns:
        how many ``conversations``, ``answers``, ``study sets`` and ``days of progress`` there were.

    Raises:
        StillRunning: a document that was put to one of the conversations is being read.
    """
    owner, learner = f"person:{person_id}", f"person {person_id}"
    held_back = (owner, f"learner {learner}")
    for one in held_back:
        connection.execute(sql.HOLD_ANSWERS, (one,))
    held = connection.execute(sql.CONVERSATIONS_OF, (owner,)).fetchall()
    tenant_of = {space_of(tenant, conversation): tenant for tenant, conversation in held}
    for (space,) in connection.execute(sql.USED_SPACES, {"spaces": list(tenant_of)}).fetchall():
        if run := _open_run(connection, space):
            raise StillRunning(
                f"run {run} reads what was put to a conversation in {tenant_of[space]}, and has not"
                " ended: wait, with a server running"
            )
        erase_space(connection, space)
    whose = {"owner": owner, "person": person_id, "learner": learner}
    counts = {
        name: connection.execute(statement, whose).rowcount
        for name, statement in sql.OF_PERSON.items()
    }
    for statement in sql.REST_OF_PERSON:
        connection.execute(statement, whose)
    for one in held_back:
        connection.execute(sql.ERASED, (one,))
    return counts


def _open_run(connection: Connected, space: str) -> int | None:
    """The first run of a tenant, or of a space of one, that has not ended."""
    row = connection.execute(sql.OPEN_RUN_OF, (space,)).fetchone()
    return None if row is None else int(row[0])


def erase_space(connection: Connected, tenant: str) -> None:
    """Delete the documents of a tenant, or of a space of one, and what was made of them."""
    delete_everything(connection, tenant)
    for statement in sql.LEFT:
        connection.execute(statement, (tenant,))
