"""What a request came to: an answer, another attempt after a pause, or an error.

A limit that is reached (429) and a server that has no place (503 with ``Retry-After``) have done
nothing with a request, and neither has one that is not reached: those are tried again, whatever the
request. A connection that broke off is tried again only for what may be sent twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import httpx

from helix.client.calls import Call
from helix.client.errors import (
    Conflict,
    Forbidden,
    NeedsKey,
    NoHelix,
    Silent,
    TooMany,
    Unreachable,
)
from helix.errors import BadRequest, HelixError, NotFound, Unavailable

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 30.0
"""What a server asks to wait beyond it, as where a day's limit is reached, is not waited for."""
_NO_ROUTE = "Not Found"
"""What a server says of an address that nothing lies at, as with a mistake in it."""
_REFUSED: dict[int, type[HelixError]] = {
    401: NeedsKey, 403: Forbidden, 404: NotFound, 409: Conflict, 429: TooMany,
}  # fmt: skip

_BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)
"""The connection, before or after the request went out; a silence has been waited for already."""

Outcome = httpx.Response | httpx.TransportError | httpx.InvalidURL


@dataclass(frozen=True)
class Attempts:
    """How often a request to ``address`` is tried again."""

    address: str
    retries: int

    def pause(self, call: Call, outcome: Outcome, tried: int) -> float:
        """Seconds to wait before the next attempt, after ``tried`` that failed, the last so.

        Raises:
            HelixError: what the request came to, where there is to be none.
        """
        seconds = _pause(call, outcome, tried)
        if seconds is None or tried > self.retries:
            raise self.error(outcome) from None
        return seconds

    def error(self, outcome: Outcome) -> HelixError:
        """What an outcome that is no success means."""
        if isinstance(outcome, httpx.TimeoutException):
            return Silent(f"the server at {self.address} keeps silent")
        if not isinstance(outcome, httpx.Response):
            return Unreachable(f"no server answers at {self.address}")
        try:
            reason = str(json.loads(outcome.content)["error"])
        except (ValueError, LookupError, TypeError):
            return self.no_helix()
        status = outcome.status_code
        if status == 404 and reason == _NO_ROUTE:
            return self.no_helix()
        if status >= 500:
            return Unavailable(f"the server at {self.address} cannot answer: {reason}")
        return _REFUSED.get(status, BadRequest)(reason)

    def no_helix(self) -> NoHelix:
        """The error of an answer that Helix does not give."""
        return NoHelix(f"what answers at {self.address} is no Helix server")


def _pause(call: Call, outcome: Outcome, tried: int) -> float | None:
    """Seconds to wait; None where another attempt would do harm or no good."""
    pause = FIRST_PAUSE_SECONDS * 2 ** (tried - 1)
    if isinstance(outcome, httpx.Response):
        asked = outcome.headers.get("Retry-After", "")
        if outcome.status_code not in (429, 503) or not asked.isdigit():
            return None
        pause = max(float(asked), pause)
    elif not isinstance(outcome, _BROKEN if call.repeatable else httpx.ConnectError):
        return None
    return pause if pause <= LONGEST_PAUSE_SECONDS else None
