"""Passwords: argon2id hashes with RFC 9106's second recommendation (64 MiB, 3 passes, 4 lanes)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from helix.errors import BadRequest
from helix.library.people.persons import as_stored
from helix.storage.statements import people as sql

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from helix.storage.connections import Connected

SHORTEST, LONGEST = 10, 1000
"""Characters of a password: NIST SP 800-63B asks for length and for no kinds of characters."""


def hashed(password: str) -> str:
    """The hash that is stored of ``password``; it takes 50 ms and 64 MiB.

    Raises:
        BadRequest: the password is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise BadRequest(f"a password has {SHORTEST} to {LONGEST} characters")
    return _hasher().hash(password)


def person_of_password(connection: Connected, email: str, password: str) -> int | None:
    """The id of the account whose address and password these are; None where there is none.

    It takes as long where there is no such account, or one without a password: time tells nothing.
    """
    from argon2.exceptions import Argon2Error

    row = connection.execute(sql.HASH_OF, (as_stored(email),)).fetchone()
    person_id, stored = row or (None, None)
    try:
        _hasher().verify(stored or _nobodys(_hasher()), password[: LONGEST + 1])
    except Argon2Error:
        return None
    if person_id is None or stored is None:
        return None
    if _hasher().check_needs_rehash(stored):
        connection.execute(sql.SET_HASH, (_hasher().hash(password), person_id))
    return int(person_id)


def set_password(connection: Connected, person_id: int, password: str) -> None:
    """Let ``password`` open the account, and no other.

    Raises:
        BadRequest: as ``hashed`` does.
    """
    connection.execute(sql.SET_HASH, (hashed(password), person_id))


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # here, for a server without accounts loads none of it
    from argon2.profiles import RFC_9106_LOW_MEMORY

    return PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


@cache
def _nobodys(hasher: PasswordHasher) -> str:
    """A hash that is compared with where there is none."""
    return hasher.hash("nobody's password")
