"""Runs in the database: made by whoever asks, carried out by workers.

Everything here is one or a few statements on the caller's connection: part of the transaction that
is open on it, else a transaction of its own, or of each statement (connections in autocommit).
Every change takes the next number of the sequence ``run_changes`` as the row's ``version``:
followers ask for what is newer than what they have seen.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from helix.domain.contract import GOING_RUN, OPEN_RUN, RunStatus
from helix.domain.scope import DEFAULT_TENANT
from helix.library.run_files import end_files
from helix.storage.connections import Connected
from helix.storage.statements import runs as sql

Kind = Literal["paths", "upload", "url", "crawl", "reembed", "study", "source"]
RunEnd = Literal["done", "failed", "cancelled"]

CHANNEL = "helix_runs"
"""The channel that workers LISTEN to; the payload is the id of a run that is new or is to stop."""

LIVE = 0x4C495645  # "LIVE"
"""The class of the advisory locks that living workers hold, each one by its name."""

CANCELLED = "cancelled"
"""The reason told for a file, and for a document never readable, whose run was cancelled."""

_RUNS_AT_ONCE = 20


def this_host() -> str:
    """The name under which this machine's files are known."""
    return socket.gethostname()


def run_key(kind: Kind, options: dict[str, object], host: str | None) -> str:
    """The same for the same request: an interrupted run is found by it."""
    identity = json.dumps([kind, options, host], sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as it was asked for."""

    id: int
    kind: Kind
    options: dict[str, Any]
    tenant: str


def create_run(
    connection: Connected,
    kind: Kind,
    options: Mapping[str, Any] | None = None,
    key: str = "",
    host: str | None = None,
    tenant: str = DEFAULT_TENANT,
) -> int:
    """A new queued run of a tenant; returns its id. Workers hear of it at the commit.

    ``host`` names the only machine that may take it; None: any.
    """
    values = {
        "tenant": tenant, "kind": kind, "options": Jsonb(dict(options or {})), "key": key,
        "host": host,
    }  # fmt: skip
    row = connection.execute(sql.CREATE, values).fetchone()
    assert row is not None
    notify(connection, int(row[0]))
    return int(row[0])


def notify(connection: Connected, run_id: int) -> None:
    """Wake the workers, at the commit."""
    connection.execute(sql.NOTIFY, (CHANNEL, str(run_id)))


def find_open_run(connection: Connected, key: str, tenant: str = DEFAULT_TENANT) -> int | None:
    """A tenant's newest run of this ``key`` that has not ended, and is not about to."""
    row = connection.execute(sql.FIND_OPEN, (tenant, key)).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def any_open_run(connection: Connected, host: str | None = None) -> bool:
    """True if any tenant has a run that has not ended; with ``host``: that it could carry out."""
    return connection.execute(sql.ANY_OPEN, {"host": host}).fetchone() is not None


def queued_runs(connection: Connected, host: str) -> list[tuple[int, str | None]]:
    """(id, host) of the runs that wait for a worker of this machine, oldest first."""
    return [(run_id, run_host) for run_id, run_host in connection.execute(sql.QUEUED, (host,))]


def stopping_runs(connection: Connected) -> list[tuple[int, str]]:
    """(id, error) of the runs that are to stop; an error says that a fault stops them."""
    rows = connection.execute(sql.STOPPING)
    return [(run_id, error) for run_id, error in rows]


def running_runs(connection: Connected) -> list[int]:
    """Ids of the runs that are being carried out, as far as anybody knows."""
    rows = connection.execute(sql.RUNNING)
    return [run_id for (run_id,) in rows]


def tenant_of_run(connection: Connected, run_id: int) -> str:
    """The tenant of a run; the default one where the run is no more."""
    row = connection.execute(sql.TENANT_OF, (run_id,)).fetchone()
    return str(row[0]) if row else DEFAULT_TENANT


def begin_run(connection: Connected, run_id: int) -> RunRow | None:
    """The run, now ``running``; None when it is to stop or has ended."""
    return connection.cursor(row_factory=class_row(RunRow)).execute(sql.BEGIN, (run_id,)).fetchone()


def requeue_run(connection: Connected, run_id: int) -> None:
    """Let a running run be taken again from its beginning; what is done in it stays done."""
    _set_status(connection, run_id, "queued")


def stop_for_fault(connection: Connected, run_id: int, error: str) -> None:
    """Stop a running run for a fault that would fail every file it has left."""
    _set_status(connection, run_id, "cancelling", error)


def _set_status(
    connection: Connected, run_id: int, status: RunStatus, error: str | None = None
) -> None:
    connection.execute(sql.SET_STATUS, {"run_id": run_id, "status": status, "error": error})


def set_stage(connection: Connected, run_id: int, stage: str, ignored: int | None = None) -> bool:
    """Say what the run is doing, such as ``scan``. False: it is to stop, or gone."""
    values = {"run_id": run_id, "stage": stage, "ignored": ignored}
    row = connection.execute(sql.SET_STAGE, values).fetchone()
    return bool(row and row[0])


def finish_run(connection: Connected, run_id: int, status: RunEnd, error: str = "") -> bool:
    """End the run; files it has not dealt with end as ``cancelled``, or ``failed`` for ``error``.

    Call it in a transaction. False: it had ended already, and nothing was changed.
    """
    values = {"run_id": run_id, "status": status, "error": error, "open": list(OPEN_RUN)}
    if connection.execute(sql.FINISH, values).fetchone() is None:
        return False
    if status == "cancelled":
        end_files(connection, run_id, "cancelled", CANCELLED)
    else:
        end_files(connection, run_id, "failed", error or "the run ended before it")
    return True


def cancel_run(connection: Connected, run_id: int, tenant: str = DEFAULT_TENANT) -> str | None:
    """Ask for a stop; returns the status the run then has, None when the tenant has no such run.

    A queued run is ``cancelled`` at once, as is any open one where no worker is alive to stop it
    (``failed`` where a fault had stopped it); another is ``cancelling`` until its worker has
    stopped. One that has ended stays as it is. Call it in a transaction.
    """
    row = connection.execute(
        sql.HOLD,
        (tenant, run_id),
    ).fetchone()
    if row is None:
        return None
    status, error = str(row[0]), str(row[1])
    if status == "queued" or (status in OPEN_RUN and not _any_worker(connection)):
        end: RunEnd = "failed" if error else "cancelled"  # an error says that a fault stopped it
        finish_run(connection, run_id, end, error)
        return end
    if status == "running":
        _set_status(connection, run_id, "cancelling")
        notify(connection, run_id)
        return "cancelling"
    return status


def _any_worker(connection: Connected) -> bool:
    """True if a living worker holds its lock in this database."""
    row = connection.execute(
        sql.ANY_WORKER,
        (LIVE,),
    ).fetchone()
    return row is not None


def should_stop(connection: Connected, run_id: int) -> bool:
    """True if the run is to stop: it is being cancelled, has ended, or is gone."""
    row = connection.execute(sql.STATUS_OF, (run_id,)).fetchone()
    return row is None or row[0] not in GOING_RUN


def delete_ended_runs(connection: Connected, days: int) -> int:
    """Delete runs that ended more than ``days`` ago, of all tenants; returns how many."""
    deleted = 0
    while True:
        values = {"days": days, "most": _RUNS_AT_ONCE}
        batch = connection.execute(sql.DELETE_ENDED, values).rowcount
        deleted += batch
        if batch < _RUNS_AT_ONCE:
            return deleted
