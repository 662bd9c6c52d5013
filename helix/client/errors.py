"""The errors of a request to a server, besides those of helix.errors."""

from helix.errors import HelixError, Unavailable

CLOSED = "the client is closed: make another"


class Unauthorized(HelixError):
    """The server asks for an API key, and the request had none or an unknown one."""

    status = 401


class Forbidden(HelixError):
    """The key is another tenant's, or lacks the scope for the request."""

    status = 403


class Conflict(HelixError):
    """The document, run or conversation is not in a state that allows it."""

    status = 409


class RateLimited(Unavailable):
    """A limit of the server is reached, at every attempt."""

    status = 429


class Unreachable(Unavailable):
    """No server answers at the address."""


class ServerTimeout(Unavailable):
    """The server took longer than the client waits."""


class IncompleteStream(Unavailable):
    """A stream ended before its last event: the answer is not whole."""


class InvalidResponse(HelixError):
    """The response is not one of a Helix server."""
