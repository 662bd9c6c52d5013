"""Moving original files to a bucket when no run needs them, and deleting unused objects there.

An object's name is written to ``loose_objects`` before the object is put. The transaction that
writes the name into ``files`` removes it there. So each object stands in one of the two tables at
every moment, whichever process is killed; an object that stays loose is deleted after LEASE.
"""

from __future__ import annotations

from hashlib import sha256
from secrets import token_hex

import psycopg
from psycopg.rows import dict_row

from helix.storage.connections import Connected, Row
from helix.storage.objects import delete_objects, put_object
from helix.storage.statements import files as sql
from helix.storage.stored_bytes import stored_file
from helix.storage.tenant_connections import TenantConnections

LEASE = "1 hour"
"""The time that a process may take from naming an object until its name is in ``files``."""
_AT_ONCE = 500
"""Objects of one deletion; S3 takes 1,000."""


def move_next_file(store: TenantConnections, address: str) -> bool:
    """Move the bytes of one kept file to an object below ``address``, ``s3://bucket/prefix``.

    Returns:
        False where there was none to move.

    Raises:
        SettingsError, StoreUnavailable: as put_object does, or the database did not answer; the
            file is as it was.
    """
    with store.connection() as connection:
        if (reserved := _reserve_object(connection, address)) is None:
            return False
        stored = stored_file(connection, reserved["tenant_id"], reserved["content_hash"])
    moved = False
    try:
        if stored is not None and stored.data is not None:
            put_object(reserved["place"], stored.data)  # no connection is held meanwhile
            moved = _record_move(store, reserved)
    finally:
        if not moved:
            with store.connection() as connection:
                connection.execute(sql.RELEASE, reserved)
    return True


def _reserve_object(connection: Connected, address: str) -> Row | None:
    """A file to move, with the name of its object, which then stands in ``loose_objects``."""
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(sql.NEXT).fetchone()
        if found is None:
            return None
        # The name is never used again, so what deletes an object cannot hit the next of the same
        # bytes. It does not show a tenant's name to whoever may list the bucket.
        whose = sha256(found["tenant_id"].encode()).hexdigest()[:32]
        place = f"{address}/{whose}/{found['content_hash']}-{token_hex(8)}"
        cursor.execute(sql.RESERVE, {**found, "place": place, "lease": LEASE})
        return {**found, "place": place}


def _record_move(store: TenantConnections, reserved: Row) -> bool:
    """True if the file is in its object now; False where it was deleted, or the lease was over."""
    with store.connection() as connection, connection.transaction() as transaction:
        taken = connection.execute(sql.END_LEASE, reserved).rowcount
        if taken and connection.execute(sql.MOVE, reserved).rowcount:
            return True
        raise psycopg.Rollback(transaction)
    return False


def delete_loose_objects(store: TenantConnections, address: str) -> int:
    """Delete a batch of due objects below ``address``; returns their number.

    Raises:
        SettingsError, StoreUnavailable: as delete_objects does, or the database did not answer;
            they are still due.
    """
    values = {"below": f"{address}/", "most": _AT_ONCE}
    with store.connection() as connection:
        places = [place for (place,) in connection.execute(sql.DUE, values).fetchall()]
    if places:  # no process can use an object that is due: no lock is needed, and no connection
        delete_objects(places)
        with store.connection() as connection:
            connection.execute(sql.DELETED, (places,))
    return len(places)


def counts(connection: Connected) -> dict[str, int]:
    """Counts of files ``moved`` to a bucket or ``waiting`` to be, and of ``loose`` objects due."""
    found = connection.cursor(row_factory=dict_row).execute(sql.COUNTS).fetchone()
    assert found is not None
    return dict(found)
