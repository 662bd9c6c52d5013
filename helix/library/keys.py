"""Keys to the HTTP API: made, listed, revoked, and whose documents one opens.

Only a key's SHA-256 is stored. It has 256 random bits, so one round is enough.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from psycopg.rows import class_row

from helix.domain.scope import tenant_name
from helix.library.paging import check_text

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected
    from helix.store import ChunkStore

_PREFIX = "hx_"
_BYTES = 32
_HINT = 7  # of its 46 characters; the prefix among them
_LONGEST_NAME = 100
_SECRET = re.compile(r"hx_[A-Za-z0-9_-]{43}")

_CREATE = """
INSERT INTO api_keys (tenant_id, name, hint, key_hash) VALUES (%s, %s, %s, %s) RETURNING id
"""
_REVOKE = "UPDATE api_keys SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL"
_LIST = """
SELECT id, tenant_id AS tenant, name, hint, created_at, revoked_at FROM api_keys
WHERE %(tenant)s::text IS NULL OR tenant_id = %(tenant)s ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key. ``hint`` is its first 7 characters; ``revoked_at`` is None while it
    opens something."""

    id: int
    tenant: str
    name: str
    hint: str
    created_at: datetime
    revoked_at: datetime | None


def create_key(connection: Connected, tenant: str, name: str = "") -> tuple[int, str]:
    """A new key to ``tenant``: (its id, the key). Nobody can find out the key again.

    ``name`` is for people, of 100 characters at most. The connection is an owner's.

    Raises:
        BadRequest: ``tenant`` or ``name`` cannot be one.
    """
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)
    values = (
        tenant_name(tenant), check_text("name", name, _LONGEST_NAME), secret[:_HINT],
        _hashed(secret),
    )  # fmt: skip
    row = connection.execute(_CREATE, values).fetchone()
    assert row is not None
    return int(row[0]), secret


def revoke_key(connection: Connected, key_id: int) -> bool:
    """Let the key open nothing any more; False: there is none of this id, or it opened nothing."""
    return connection.execute(_REVOKE, (key_id,)).rowcount == 1


def list_keys(connection: Connected, tenant: str | None = None) -> list[ApiKey]:
    """The keys to ``tenant``, or all, revoked ones too; oldest first."""
    with connection.cursor(row_factory=class_row(ApiKey)) as cursor:
        return cursor.execute(_LIST, {"tenant": tenant}).fetchall()


async def tenant_of(store: ChunkStore, secret: str) -> str | None:
    """Whose documents the key opens now; None: it is no key, or was revoked.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if not _SECRET.fullmatch(secret):
        return None
    rows = await store.fetch(
        "SELECT tenant_of_key(%(hashed)s) AS tenant", {"hashed": _hashed(secret)}
    )
    return None if rows[0]["tenant"] is None else str(rows[0]["tenant"])


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
