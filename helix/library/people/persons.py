"""Accounts: made, found, listed, disabled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from psycopg.rows import class_row

from helix.errors import BadRequest, HelixError
from helix.library.pagination import check_name, check_text
from helix.storage.statements import people as sql

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected

_EMAIL = re.compile(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,255}")
_LONGEST_EMAIL = 254  # RFC 5321's path, without its brackets
_LONGEST_NAME = 100


class AccountExists(HelixError):
    """The address has an account already."""

    status = 409


@dataclass(frozen=True, slots=True)
class Person:
    """An account. It opens nothing from ``disabled_at`` on; None: that is not so."""

    id: int
    email: str
    name: str
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedPerson(Person):
    """An account as a member of ``tenant``, with the ``role`` there; empty: of none."""

    tenant: str
    role: str


def checked_email(text: str) -> str:
    """``text`` as an address that an account may have, in lower case.

    Raises:
        BadRequest: it cannot be one.
    """
    email = check_text("the address", text, _LONGEST_EMAIL).lower()
    if not _EMAIL.fullmatch(email):
        raise BadRequest("an account has an e-mail address, such as ada@example.com")
    return email


def add_person(
    connection: Connected, email: str, name: str = "", password_hash: str | None = None
) -> int:
    """A new account's id.

    Raises:
        BadRequest: ``email`` or ``name`` cannot be one.
        AccountExists: the address has an account.
    """
    values = {
        "email": checked_email(email), "name": checked_name(name), "hash": password_hash,
    }  # fmt: skip
    row = connection.execute(sql.ADD, values).fetchone()
    if row is None:
        raise AccountExists("this address has an account already: use its password")
    return int(row[0])


def checked_name(text: str) -> str:
    """``text`` as a person's name, of 100 characters at most.

    Raises:
        BadRequest: it cannot be one.
    """
    return check_name("name", text, _LONGEST_NAME)


def as_stored(email: str) -> str:
    """An address that somebody typed, as accounts have theirs.

    A NUL, which Postgres takes in no text, becomes a blank, which no account's address has.
    """
    return email.strip().lower().replace("\x00", " ")


def find_person(connection: Connected, email: str) -> Person | None:
    """The account of this address, if there is one."""
    with connection.cursor(row_factory=class_row(Person)) as cursor:
        return cursor.execute(sql.OF_EMAIL, (as_stored(email),)).fetchone()


def any_person(connection: Connected) -> bool:
    """True if the server has an account."""
    row = connection.execute(sql.ANY).fetchone()
    assert row is not None
    return bool(row[0])


def list_people(connection: Connected, tenant: str | None = None) -> list[ListedPerson]:
    """The members of ``tenant``, or everybody, once for each tenant that they are a member of."""
    with connection.cursor(row_factory=class_row(ListedPerson)) as cursor:
        return cursor.execute(sql.LIST, {"tenant": tenant}).fetchall()


def set_name(connection: Connected, person_id: int, name: str) -> None:
    """Call the person ``name``."""
    connection.execute(sql.SET_NAME, (checked_name(name), person_id))


def set_enabled(connection: Connected, person_id: int, enabled: bool) -> None:
    """Let the account open nothing any more, sessions and tokens included, or all that it did."""
    connection.execute(sql.ENABLE if enabled else sql.DISABLE, (person_id,))
