"""Passkeys of people: listed, renamed, removed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from psycopg.rows import class_row

from helix.errors import BadRequest
from helix.library.pagination import check_name
from helix.storage.statements import passkeys as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey as its person sees it; ``used_at`` is None where nobody signed in with it yet."""

    id: int
    name: str
    created_at: datetime
    used_at: datetime | None


def list_passkeys(connection: Connected, person_id: int) -> list[Passkey]:
    """The person's passkeys, in the order that they were added in."""
    with connection.cursor(row_factory=class_row(Passkey)) as cursor:
        return cursor.execute(sql.LIST, (person_id,)).fetchall()


def rename_passkey(connection: Connected, person_id: int, passkey_id: int, name: str) -> bool:
    """Call one of the person's own ``name``; False: there is none of this id.

    Raises:
        BadRequest: ``name`` cannot be one.
    """
    values = {"person": person_id, "passkey": passkey_id, "name": checked_name(name)}
    return connection.execute(sql.RENAME, values).rowcount == 1


def remove_passkey(connection: Connected, person_id: int, passkey_id: int) -> bool:
    """Let one of the person's own open nothing any more; False: there is none of this id."""
    values = {"person": person_id, "passkey": passkey_id}
    return connection.execute(sql.REMOVE, values).rowcount == 1


def remove_passkeys(connection: Connected, person_id: int) -> int:
    """Remove all of the person's, as where somebody else resets the password; how many."""
    return connection.execute(sql.REMOVE_ALL, (person_id,)).rowcount


def checked_name(text: str) -> str:
    """``text`` as the name of a passkey, of 100 characters at most.

    Raises:
        BadRequest: it cannot be one.
    """
    name = check_name("name", text, _LONGEST_NAME)
    if not name:
        raise BadRequest("a passkey has a name, such as the device that holds it")
    return name
