"""Keys that this installation signs answers with: Ed25519, by the package cryptography.

The private one is HELIX_SIGNING_KEY, or is made with the first signature and kept in the database,
where the role of requests cannot read it and no backup has it. Every public key that has signed
stays listed, so that what it signed is verified after another has taken its place.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from helix.library.access import Connected, Library, Row, rows_of
from helix.storage.statements import signing_keys as sql

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from pydantic import SecretStr

ALGORITHM = "Ed25519"
_BYTES = 32


@dataclass(frozen=True)
class SigningKey:
    """A private key, of 64 hex characters; ``public`` is the other half."""

    private: str = field(repr=False)

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self.private))

    @property
    def public(self) -> bytes:
        """The public key's 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    @property
    def key_id(self) -> str:
        """The beginning of the public key's SHA-256, for people to tell keys apart."""
        return sha256(self.public).hexdigest()[:16]

    def signature(self, message: bytes) -> Row:
        """The signature of ``message`` with all that it is verified by; bytes are hex."""
        return {
            "algorithm": ALGORITHM,
            "key_id": self.key_id,
            "public_key": self.public.hex(),
            "value": self._key.sign(message).hex(),
        }


def signing_key(connection: Connected, configured: SecretStr | None) -> SigningKey:
    """The key to sign with now, which is listed: ``configured``, or the database's own.

    The connection is an owner's, in a transaction.
    """
    private = configured.get_secret_value() if configured else _own_key(connection)
    key = SigningKey(private)
    connection.execute(sql.LIST_KEY, {"id": key.key_id, "public_key": key.public.hex()})
    return key


def _own_key(connection: Connected) -> str:
    row = connection.execute(sql.OWN_KEY).fetchone()
    if row is None:
        connection.execute(sql.KEEP_OWN_KEY, (secrets.token_hex(_BYTES),))
        row = connection.execute(sql.OWN_KEY).fetchone()  # another server's, if that was first
    assert row is not None
    return str(row[0])


def renew_own_key(connection: Connected) -> bool:
    """Have the next signature make a key; False: there is none to replace."""
    return connection.execute(sql.DROP_OWN_KEY).rowcount == 1


def withdraw_key(connection: Connected, key_id: str) -> bool:
    """Take a public key off the list, and out of use if it is the database's own.

    False: none of this id is listed.
    """
    row = connection.execute(sql.OWN_KEY).fetchone()
    if row is not None and SigningKey(str(row[0])).key_id == key_id:
        connection.execute(sql.DROP_OWN_KEY)
    return connection.execute(sql.WITHDRAW, (key_id,)).rowcount == 1


async def public_keys(library: Library) -> list[Row]:
    """The keys that have signed, newest first, as strangers are told them.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    return [_told(row) for row in await library.all_data(sql.KEYS, {})]


def listed_keys(connection: Connected) -> list[Row]:
    """The same over a connection of the owner's."""

    return [_told(row) for row in rows_of(connection, sql.KEYS)]


def _told(row: Row) -> Row:
    return {
        "key_id": row["id"],
        "algorithm": ALGORITHM,
        "public_key": row["public_key"],
        "first_used_at": row["first_used_at"].isoformat(),
    }
