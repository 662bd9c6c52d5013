"""Gemini's failures judged: what each one was, what mends it, and whether to try again.

A failed request is tried again here and nowhere else (the SDK's retries, its automatic
continuation and LlamaIndex's retries are off, so they cannot multiply):

- tried again: no connection; a connection that broke before the response was in hand (a stale
  keep-alive one breaks so); 408, 429, 500, 502, 503, 504, after the delay Google asks for;
- not tried again: silence, for the user has waited the longest time the settings allow and the
  first request may still be running and billed; a 429 that waiting cannot mend (a daily quota,
  ``limit: 0``, a delay longer than ``RetryPolicy.longest_wait``); all other statuses;
- never once a stream has begun: its tokens may have reached the user.

All of it is pure; helix.providers.gemini_http acts on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from google.genai.errors import APIError

from helix.errors import UpstreamError
from helix.settings import HOW

TRANSIENT_STATUSES = frozenset({408, 429, 500, 502, 503, 504})

_DAILY = re.compile(r"per_?day", re.IGNORECASE)
_NO_QUOTA = re.compile(r"limit:\s*0(?![\d.])")
_DURATION = re.compile(r"^(\d+(?:\.\d+)?)s$")
_ENUM = re.compile(r"^[A-Z][A-Z0-9_]{0,63}$")
_BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.CloseError)
_SILENT = (httpx.ReadTimeout, httpx.WriteTimeout)
_UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout)


@dataclass(frozen=True)
class Target:
    """The model a client talks to, and the variable that names it in messages."""

    model: str
    variable: str


@dataclass(frozen=True)
class Fault:
    """One failed attempt: ``transient`` means later may work, ``retry`` that now may.

    ``delay`` is the wait in seconds that Google asks for. ``silent``: it did not answer at all,
    which only a patient client tries again. ``about_input``: as UpstreamError has it.
    """

    problem: str
    remedy: str
    transient: bool = True
    retry: bool = False
    delay: float | None = None
    silent: bool = False
    about_input: bool = False

    def error(self, attempts: int = 1) -> UpstreamError:
        """The error a user sees, made only of our words, numbers and Google's enum names."""
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        return UpstreamError(
            f"{self.problem}{tried}: {self.remedy}",
            transient=self.transient,
            about_input=self.about_input,
        )


@dataclass(frozen=True)
class RetryPolicy:
    """How many attempts a request may cost, and how many seconds may go by between them.

    The wait doubles from ``first_wait`` up to ``longest_wait``; a delay that Google asks for is
    the least that is waited. All waits of one request together stay within ``budget``.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    budget: float = 45.0
    through_silence: bool = False

    def wait(self, fault: Fault, attempt: int, waited: float, chance: float) -> float | None:
        """Seconds to wait after the ``attempt``-th attempt (from 1), or None to give up.

        ``waited`` is what earlier waits took; ``chance`` in [0, 1] spreads clients out.
        """
        again = fault.retry or (fault.silent and self.through_silence)
        if not again or attempt >= self.attempts:
            return None
        backoff = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))
        wait = backoff * (1 + chance) / 2
        if fault.delay is not None:
            wait = fault.delay + backoff * chance / 2
        return wait if waited + wait <= self.budget else None


DEFAULT_POLICY = RetryPolicy()


def status_fault(
    status: int,
    payload: object,
    target: Target,
    *,
    retry_after: float | None = None,
    longest_wait: float = DEFAULT_POLICY.longest_wait,
) -> Fault:
    """Judge an error status (or an error inside a stream) by its number and Google's details.

    ``payload`` is the decoded body, of which only enum names are repeated: it may echo a prompt.
    """
    error = _error_object(payload)
    given = error.get("details")
    details = [d for d in given if isinstance(d, dict)] if isinstance(given, list) else []
    reasons = [str(d["reason"]) for d in details if "reason" in d]
    name = next((n for n in [*reasons, str(error.get("status"))] if _ENUM.match(n)), "")
    label = f"{status} {name}".strip()
    delay = _retry_delay(details)
    delay = retry_after if delay is None else delay
    if status == 429:
        return _quota_fault(label, str(error.get("message")), details, target, delay, longest_wait)
    if status in TRANSIENT_STATUSES:
        soon = delay is None or delay <= longest_wait
        return Fault(f"Gemini is unavailable ({label})", "try again later", True, soon, delay)
    return _refusal(status, label, reasons, target)


def _refusal(status: int, label: str, reasons: list[str], target: Target) -> Fault:
    """Statuses that another attempt cannot change."""
    if status in (401, 403) or any(reason.startswith("API_KEY_") for reason in reasons):
        problem, remedy = f"GEMINI_API_KEY was refused by Gemini ({label})", HOW["GEMINI_API_KEY"]
    elif status == 404:
        problem = f"Gemini knows no model {target.model!r} ({label})"
        remedy = f"set {target.variable} to a model that your key may use"
    elif "FAILED_PRECONDITION" in label:
        problem = f"Gemini refused the request ({label})"
        remedy = "see whether your country and your plan may use this model"
    else:
        problem = f"Gemini refused the request ({label})"
        remedy = f"see whether {target.variable} and GOOGLE_GEMINI_BASE_URL are right"
        return Fault(problem, remedy, transient=False, about_input=status in (400, 413))
    return Fault(problem, remedy, transient=False)


def _quota_fault(
    label: str,
    message: str,
    details: list[dict[str, Any]],
    target: Target,
    delay: float | None,
    longest_wait: float,
) -> Fault:
    if _NO_QUOTA.search(message):
        problem = f"this GEMINI_API_KEY has no quota for {target.model} ({label})"
        return Fault(problem, f"set {target.variable} to another model, or enable billing", False)
    if _DAILY.search(json.dumps(details)):
        problem = f"today's quota for {target.model} is used up ({label})"
        return Fault(problem, "wait until it is renewed, or enable billing", False)
    if delay is not None and delay > longest_wait:
        problem = f"Gemini's rate limit for {target.model} is reached ({label})"
        return Fault(problem, f"it asks to wait {delay:.0f} seconds", False)
    problem = f"Gemini's rate limit for {target.model} is reached ({label})"
    return Fault(problem, "try again in a minute", retry=True, delay=delay)


def failure(error: Exception, target: Target) -> Fault:
    """Judge what httpx or the SDK raised; of its text nothing is repeated."""
    kind = type(error).__name__
    if isinstance(error, APIError):
        return status_fault(error.code or 500, error.details, target)
    if isinstance(error, _SILENT):
        return Fault("Gemini fell silent", "try again, or raise HELIX_MODEL_TIMEOUT", silent=True)
    if isinstance(error, _UNREACHED):
        remedy = "check the network, the proxy and GOOGLE_GEMINI_BASE_URL"
        return Fault(f"Gemini cannot be reached ({kind})", remedy, retry=True)
    if isinstance(error, _BROKEN):
        return Fault(f"the connection to Gemini broke ({kind})", "try again", retry=True)
    if isinstance(error, httpx.HTTPError):
        remedy = "check the proxy and GOOGLE_GEMINI_BASE_URL"
        return Fault(f"the request to Gemini failed ({kind})", remedy)
    return Fault(f"Gemini's answer could not be read ({kind})", "try again")


@contextmanager
def in_our_words(target: Target) -> Iterator[None]:
    """Turn what the SDK or httpx raises into UpstreamError, with no cause that a log would print.

    The SDK's errors carry the response body, which may echo the prompt; httpx's the request,
    whose headers hold the key.
    """
    try:
        yield
    except (APIError, httpx.HTTPError, ValueError) as error:
        raise failure(error, target).error() from None


def _error_object(payload: object) -> dict[str, Any]:
    """Google's ``error`` object, wherever the body keeps it; empty if there is none."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    error = payload.get("error") if isinstance(payload, dict) else None
    return error if isinstance(error, dict) else {}


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    for detail in details:
        if str(detail.get("@type")).endswith("google.rpc.RetryInfo"):
            seconds = _DURATION.match(str(detail.get("retryDelay")))
            return float(seconds[1]) if seconds else None
    return None


def retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which is a number of seconds or a date; None if neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
