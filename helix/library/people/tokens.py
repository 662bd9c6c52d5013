"""Secrets of cookies and links: 256 random bits, of which SHA-256 alone is stored."""

from __future__ import annotations

import re
import secrets
from hashlib import sha256

_BYTES = 32
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    """A secret of 43 characters that an address may hold as they are."""
    return secrets.token_urlsafe(_BYTES)


def hash_of(secret: str) -> str | None:
    """The hash that is stored of ``secret``; None: it cannot be one."""
    return sha256(secret.encode()).hexdigest() if _SECRET.fullmatch(secret) else None
