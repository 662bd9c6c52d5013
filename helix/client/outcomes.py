"""The outcome of a request: a response, another attempt after a pause, or an error.

A server whose limit is reached (429), that has no free place (503 with ``Retry-After``) or that is
unreachable has not acted on the request: every request is sent again then. After a connection broke
off only a repeatable request is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import httpx

from helix.client.calls import Call
from helix.client.errors import (
    Conflict,
    Forbidden,
    InvalidResponse,
    RateLimited,
    ServerTimeout,
    Unauthorized,
    Unreachable,
)
from helix.errors import BadRequest, HelixError, NotFound, Unavailable

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 30.0
"""A longer ``Retry-After``, as for the limit of a day, is an error at once."""
_NO_ROUTE = ("there is no route ", "Not Found")
"""Beginnings of the error for an address without a route, such as one with a mistake in it."""
_REFUSED: dict[int, type[HelixError]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 429: RateLimited,
}  # fmt: skip

_BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)
"""A broken connection, before or after the request was sent; not a timeout."""

Outcome = httpx.Response | httpx.RequestError | httpx.InvalidURL


@dataclass(frozen=True)
class Attempts:
    """The attempts at requests to ``address``: pauses, errors, and at most ``retries`` retries."""

    address: str
    retries: int

    def pause(self, call: Call, outcome: Outcome, attempts: int) -> float:
        """Seconds to wait before the next attempt; ``tried`` failed, the last with ``outcome``.

        Raises:
            HelixError: the error of the request, where it is not to be tried again.
        """
        seconds = _pause(call, outcome, attempts)
        if seconds is None or attempts > self.retries:
            raise self.error(outcome) from None
        return seconds

    def error(self, outcome: Outcome) -> HelixError:
        """The error of an outcome that is no success."""
        if isinstance(outcome, httpx.TimeoutException):
            return ServerTimeout(f"the server at {self.address} keeps silent")
        if isinstance(outcome, httpx.DecodingError):
            return self.invalid_response()
        if not isinstance(outcome, httpx.Response):
            return Unreachable(f"no server answers at {self.address}")
        try:
            reason = str(json.loads(outcome.content)["error"])
        except (ValueError, LookupError, TypeError):
            return self.invalid_response()
        status = outcome.status_code
        if status == 404 and reason.startswith(_NO_ROUTE):
            return self.invalid_response()
        if status >= 500:
            return Unavailable(f"the server at {self.address} cannot answer: {reason}")
        return _REFUSED.get(status, BadRequest)(reason)

    def invalid_response(self) -> InvalidResponse:
        """The error for a response that is not Helix's."""
        return InvalidResponse(f"what answers at {self.address} is no Helix server")


def _pause(call: Call, outcome: Outcome, attempts: int) -> float | None:
    """Seconds to wait; None where another attempt could repeat an action, or cannot succeed."""
    pause = FIRST_PAUSE_SECONDS * 2 ** (attempts - 1)
    if isinstance(outcome, httpx.Response):
        retry_after = outcome.headers.get("Retry-After", "")
        if outcome.status_code not in (429, 503) or not retry_after.isdigit():
            return None
        pause = max(float(retry_after), pause)
    elif not isinstance(outcome, _BROKEN if call.repeatable else httpx.ConnectError):
        return None
    return pause if pause <= LONGEST_PAUSE_SECONDS else None
