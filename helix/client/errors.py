"""What a request to a server can come to, besides an answer."""

from __future__ import annotations

from helix.errors import HelixError, Unavailable


class NeedsKey(HelixError):
    """The server asks for a key, and was shown none or one that it does not know."""

    status = 401


class Forbidden(HelixError):
    """The key does not open this: another tenant's, or it lacks the scope."""

    status = 403


class Conflict(HelixError):
    """The document, run or conversation is not in a state that allows it."""

    status = 409


class TooMany(Unavailable):
    """A limit of the server is reached, and stayed so through all attempts."""

    status = 429


class Unreachable(Unavailable):
    """Nothing answers at the address."""


class Silent(Unavailable):
    """The server took longer than the client waits."""


class CutShort(Unavailable):
    """A stream ended before its last event: what came of it is no whole answer."""


class NoHelix(HelixError):
    """Something answers at the address, and it is no Helix server."""
