"""Keys to the HTTP API: made, listed, changed, revoked, and what one opens.

Only a key's SHA-256 is stored. It has 256 random bits, so one round is enough.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from psycopg.rows import class_row

from helix.domain.scope import Spaces, tenant_name
from helix.errors import BadRequest
from helix.library.pagination import check_name
from helix.library.spaces import ids_of
from helix.storage.statements import keys as sql

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected
    from helix.storage.tenant_store import TenantStore

KeyScope = Literal["ask", "read", "write", "admin"]
"""The rights of a key: to ask questions; read documents; change them; look at the server itself."""
KEY_SCOPES: tuple[KeyScope, ...] = ("ask", "read", "write", "admin")
ROLE_SCOPES: Mapping[str, frozenset[KeyScope]] = {
    "reader": frozenset(("ask", "read")),
    "editor": frozenset(("ask", "read", "write")),
    "owner": frozenset(KEY_SCOPES),
}
"""A role of a person is a set of scopes (helix/library/people/members.py has the roles)."""
USUAL_SCOPES: tuple[KeyScope, ...] = ("ask", "read", "write")
"""The scopes of a new key for which none were named."""

_PREFIX = "hx_"
_BYTES = 32
_HINT = 7  # of its 46 characters; the prefix among them
_LONGEST_NAME = 100
_LONGEST_LIFE = timedelta(days=3650)
_SECRET = re.compile(r"hx_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed. ``hint`` is its first 7 characters.

    It opens something until ``revoked_at`` or ``expires_at``; None: that is not so far.
    """

    id: int
    tenant: str
    name: str
    hint: str
    scopes: list[KeyScope]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyAccess:
    """The access that a key gives: to the documents of ``tenant``, for what its ``scopes`` allow.

    ``id`` is None where it is no key, but a token by which a provider names ``person_id``.

    ``name`` is the key's, which may name a person; empty where it has none. A personal access
    token is that of ``person_id``, and has no scope that their role now has not. ``spaces`` are the
    ids of the only spaces that it opens, ``edits`` those whose documents it changes; None: all that
    it may. ``limits`` are those of usage that hold for it.
    """

    id: int | None
    tenant: str
    scopes: frozenset[str]
    name: str = ""
    person_id: int | None = None
    spaces: Spaces = None
    edits: Spaces = None
    limits: list[dict[str, Any]] | None = None


def create_key(
    connection: Connected,
    tenant: str,
    name: str = "",
    scopes: Iterable[str] = USUAL_SCOPES,
    life: timedelta | None = None,
    person_id: int | None = None,
    spaces: Sequence[str] | None = None,
) -> tuple[int, str]:
    """A new key to ``tenant``: (its id, the key). Nobody can find out the key again.

    ``name`` is for people, of 100 characters at most; the key opens nothing after ``life``, or is
    not limited (None). With ``person_id`` it is that person's, and goes with them; with ``spaces``
    it opens those of these names or ids alone. The connection
    is an owner's.

    Raises:
        BadRequest: ``tenant``, ``name``, ``scopes`` or ``life`` cannot be one.
        NotFound: there is no such space.
    """
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)
    values: dict[str, Any] = {
        "tenant": tenant_name(tenant), "name": check_name("name", name, _LONGEST_NAME),
        "hint": secret[:_HINT], "hash": _hashed(secret), "scopes": checked_scopes(scopes),
        "life": _checked_life(life), "person": person_id,
        "spaces": None if spaces is None else ids_of(connection, tenant, spaces),
    }  # fmt: skip
    row = connection.execute(sql.CREATE, values).fetchone()
    assert row is not None
    return int(row[0]), secret


def checked_scopes(names: Iterable[str]) -> list[KeyScope]:
    """``names`` as scopes in their order, each once.

    Raises:
        BadRequest: there is none, or one is no scope.
    """
    chosen = set(names)
    if not chosen or chosen - set(KEY_SCOPES):
        raise BadRequest(f"the scopes of a key are some of {', '.join(KEY_SCOPES)}")
    return [scope for scope in KEY_SCOPES if scope in chosen]


def _checked_life(life: timedelta | None) -> timedelta | None:
    if life is not None and not timedelta() < life <= _LONGEST_LIFE:
        raise BadRequest("a key expires after 3650 days at most, or never")
    return life


def set_scopes(connection: Connected, key_id: int, scopes: Iterable[str]) -> bool:
    """Give the key these scopes instead; False: there is no such key, or it was revoked."""
    return connection.execute(sql.SET_SCOPES, (checked_scopes(scopes), key_id)).rowcount == 1


def set_end(connection: Connected, key_id: int, life: timedelta | None) -> bool:
    """Let the key end after ``life`` from now, or never (None); False as ``set_scopes``."""
    return connection.execute(sql.SET_END, (_checked_life(life), key_id)).rowcount == 1


def revoke_key(connection: Connected, key_id: int) -> bool:
    """Let the key open nothing any more; False: there is none of this id, or it opened nothing."""
    return connection.execute(sql.REVOKE, (key_id,)).rowcount == 1


def list_keys(connection: Connected, tenant: str | None = None) -> list[ApiKey]:
    """The keys to ``tenant``, or all, revoked ones too; oldest first."""
    with connection.cursor(row_factory=class_row(ApiKey)) as cursor:
        return cursor.execute(sql.LIST, {"tenant": tenant}).fetchall()


def list_tokens(connection: Connected, tenant: str, person_id: int) -> list[ApiKey]:
    """The personal access tokens of a person to ``tenant`` that were not revoked; oldest first."""
    with connection.cursor(row_factory=class_row(ApiKey)) as cursor:
        values = {"tenant": tenant, "person": person_id}
        return cursor.execute(sql.LIST_OF_PERSON, values).fetchall()


def revoke_token(connection: Connected, tenant: str, person_id: int, key_id: int) -> bool:
    """``revoke_key`` of a person's own token to ``tenant``."""
    values = {"tenant": tenant, "person": person_id, "key": key_id}
    return connection.execute(sql.REVOKE_OF_PERSON, values).rowcount == 1


def revoke_tokens(connection: Connected, person_id: int) -> int:
    """``revoke_key`` of all of a person's tokens, as where somebody else resets the password."""
    return connection.execute(sql.REVOKE_ALL_OF_PERSON, (person_id,)).rowcount


def tenant_of_id(connection: Connected, key_id: int) -> str:
    """The tenant whose documents the key of this id opens or opened; there is such a key."""
    row = connection.execute(sql.TENANT, (key_id,)).fetchone()
    assert row is not None
    return str(row[0])


async def access_of_key(store: TenantStore, secret: str) -> KeyAccess | None:
    """The access that the key gives now; None: it is no key, was revoked, or has expired.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if not _SECRET.fullmatch(secret):
        return None
    rows = await store.fetch(sql.OPENED, {"hashed": _hashed(secret)})
    if not rows:
        return None
    row = rows[0]
    scopes = frozenset(row["scopes"])
    if row["person_id"] is not None:  # at each use: their role may have changed
        scopes &= ROLE_SCOPES.get(row["role"], frozenset())
    spaces = None if row["space_ids"] is None else tuple(row["space_ids"])
    edits = None if row["edits"] is None else tuple(row["edits"])
    if "write" not in row["scopes"]:
        edits = ()
    return KeyAccess(
        int(row["id"]), str(row["tenant"]), scopes, str(row["name"]), row["person_id"], spaces,
        edits,
        row["limits"],
    )  # fmt: skip


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
