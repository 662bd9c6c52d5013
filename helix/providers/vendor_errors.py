"""The errors of vendors' clients, which share no root: as ours, and whether to try again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx

from helix.errors import HelixError, UpstreamError
from helix.providers.base import SILENT
from helix.providers.retries import TRANSIENT_STATUSES, retry_after_seconds

_CONTEXT_FULL = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""Error codes of OpenAI and llama.cpp for a prompt that is longer than the model's context."""
_CONTEXT_REMEDY = (
    "has too small a context for this prompt: lower RETRIEVAL_TOP_K or HELIX_HISTORY_CHARS, or give"
    " the model a larger one"
)
REFUSED_STATUSES = frozenset({400, 422})
"""Of a request that the server would refuse again."""
_BROKEN = frozenset({500, 501})
"""Of a request that a server failed over, or has no code for."""
_REMEDIES = dict.fromkeys(REFUSED_STATUSES, "it refuses such a request: see its log") | {
    401: "check its key",
    402: "check its account",
    403: "check its key",
    404: "check the model's name and the address",
    429: "it is asked too often: try again later",
    503: "it is busy or loads the model: try again",
}
_LASTING = frozenset({401, 402, 403, 404})
"""Statuses of what every request would be answered."""
_NAME = re.compile("[a-z_]{1,40}")
_STATUS = re.compile("[1-5][0-9]{2}")

_SILENCES = (TimeoutError, httpx.TimeoutException)
_UNREACHED = (ConnectionError, httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError)


def requested_delay(error: Exception) -> float | None:
    """The Judge of a vendor's errors, which share no root, but most have a ``status_code``.

    A silence is not tried again: the first request may still be running, and be paid for.
    """
    if getattr(error, "code", None) == "insufficient_quota":  # OpenAI's 429 for an unpaid bill
        return None
    if isinstance(error.__cause__, HelixError):  # of a transport of ours, which judged it itself
        return None
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status > 0:
        passing = status in TRANSIENT_STATUSES
    else:
        passing = isinstance(error, _UNREACHED) or type(error).__name__ == "APIConnectionError"
    if not passing:
        return None
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if isinstance(headers, Mapping) else None
    return retry_after_seconds(value) or 0.0


@contextmanager
def upstream_errors(name: str, *, of_chat: bool = False) -> Iterator[None]:
    """Turn what a vendor's client raises into UpstreamError: vendors' errors share no root.

    ``of_chat``: that a request was refused as it stands, or broke the server, is told
    (``about_input``, ``broke``).
    """
    try:
        yield
    except HelixError:
        raise
    except Exception as error:  # noqa: BLE001
        # From None: a log that prints causes would print the key or the prompt they may hold.
        if isinstance(error.__cause__, HelixError):  # of a transport of ours, below the client
            raise error.__cause__ from None
        if _CONTEXT_FULL & {getattr(error, "code", None), getattr(error, "type", None)}:
            raise UpstreamError(f"{name} {_CONTEXT_REMEDY}", transient=False) from None
        if any(isinstance(each, _SILENCES) for each in (error, error.__cause__)):
            raise UpstreamError(f"{name} {SILENT}") from None
        status = _status(error)
        remedy = _REMEDIES.get(status, "try again" if status else "check that it runs")
        raise UpstreamError(
            f"{name} failed ({_told(error)}): {remedy}",
            transient=status not in _LASTING,
            about_input=of_chat and status in REFUSED_STATUSES,
            broke=of_chat and status in _BROKEN,
        ) from None


def _status(error: Exception) -> int:
    """The HTTP status of an error, or the one that a stream names in its place; 0: neither.

    LiteLLM names it as a text.
    """
    told = (getattr(error, "status_code", None), getattr(error, "code", None))
    statuses = (int(each) for each in map(str, told) if _STATUS.fullmatch(each))
    return next(statuses, 0)


def _told(error: Exception) -> str:
    """The type of an error, and what OpenAI's API names beside it: all else may hold a key."""
    told = (getattr(error, "code", None), getattr(error, "param", None))
    names = [each for each in told if isinstance(each, str) and _NAME.fullmatch(each)]
    return ", ".join([type(error).__name__, *names])
