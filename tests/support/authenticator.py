"""An authenticator in software: real CBOR, COSE and ES256, and lies where a test wants some."""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40
_AAGUID = bytes(range(16))


def encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One discoverable credential of the page at ``origin``.

    ``party`` takes the place of the rp id that the options name.
    """

    origin: str
    party: str | None = None
    flags: int = PRESENT | VERIFIED
    count: int = 0
    step: int = 1
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    user_handle: bytes = b""

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """A new credential, as ``navigator.credentials.create`` gives it."""
        self.user_handle = decoded(options["user"]["id"])
        about = self._about(options["rp"]["id"], WITH_KEY)
        length = len(self.credential_id).to_bytes(2, "big")
        about += _AAGUID + length + self.credential_id + self._public()
        statement = {"fmt": "none", "attStmt": {}, "authData": about}
        return self._told({
            "clientDataJSON": encoded(self._client("webauthn.create", options["challenge"])),
            "attestationObject": encoded(cbor2.dumps(statement)),
        })  # fmt: skip

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        """The credential with a signature, as ``navigator.credentials.get`` gives it."""
        self.count += self.step
        about = self._about(options["rpId"])
        client = self._client("webauthn.get", options["challenge"])
        signature = self.key.sign(about + sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._told({
            "clientDataJSON": encoded(client), "authenticatorData": encoded(about),
            "signature": encoded(signature), "userHandle": encoded(self.user_handle),
        })  # fmt: skip

    def _about(self, party: str, more: int = 0) -> bytes:
        hashed = sha256((self.party or party).encode()).digest()
        return hashed + bytes([self.flags | more]) + self.count.to_bytes(4, "big")

    def _public(self) -> bytes:
        """The public key by COSE: EC2, ES256, P-256."""
        at = self.key.public_key().public_numbers()
        x, y = at.x.to_bytes(32, "big"), at.y.to_bytes(32, "big")
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def _client(self, kind: str, challenge: str) -> bytes:
        told = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(told).encode()

    def _told(self, response: dict[str, Any]) -> dict[str, Any]:
        name = encoded(self.credential_id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response}
