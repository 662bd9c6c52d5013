"""Gemini's errors: what each one means, what mends it, and whether another attempt may.

A failed request is tried again here and nowhere else (the SDK's retries, its automatic
continuation and LlamaIndex's retries are off, so they cannot multiply):

- tried again: no connection; a connection that broke before the response was in hand (a stale
  keep-alive one breaks so); 408, 429, 500, 502, 503, 504, after the delay Google asks for;
- not tried again: silence, for the user has waited the longest time the settings allow and the
  first request may still be running and billed; a 429 that waiting cannot mend (a daily quota,
  ``limit: 0``, what a tier may spend in ten minutes, a project's monthly spend, a delay longer than
  ``RetryPolicy.longest_wait``); all other statuses;
- never once a stream has begun: its tokens may have reached the user.

All of it is pure; helix.providers.gemini.http acts on it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import httpx
from google.genai.errors import APIError

from helix.errors import HelixError, UpstreamError
from helix.providers.retries import INTERACTIVE, TRANSIENT_STATUSES
from helix.settings import HOW

_DAILY = re.compile(r"per_?day", re.IGNORECASE)
_SPEND = re.compile(r"spend", re.IGNORECASE)
_MONTHLY = re.compile(r"month", re.IGNORECASE)
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


@dataclass(eq=False)
class Failure(HelixError):
    """A failed attempt: ``transient`` means later may work, ``retry`` that now may.

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

    def __str__(self) -> str:
        return self.problem

    def error(self, attempts: int = 1) -> UpstreamError:
        """The error a user sees, made only of our words, numbers and Google's enum names."""
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        return UpstreamError(
            f"{self.problem}{tried}: {self.remedy}",
            transient=self.transient,
            about_input=self.about_input,
        )


def status_failure(
    status: int,
    payload: object,
    target: Target,
    *,
    retry_after: float | None = None,
    longest_wait: float = INTERACTIVE.longest_wait,
) -> Failure:
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
        if spent := _spend_limit(label, str(error.get("message")), details, delay):
            return spent
        if no_later := _spent_quota(label, str(error.get("message")), details, target):
            return no_later
        problem = f"Gemini's rate limit for {target.model} is reached ({label})"
        if delay is not None and delay > longest_wait:
            return Failure(problem, f"it asks to wait {delay:.0f} seconds", False)
        return Failure(problem, "try again in a minute", retry=True, delay=delay)
    if status in TRANSIENT_STATUSES:
        return Failure(f"Gemini is unavailable ({label})", "try again later", True, True, delay)
    return _refusal(status, label, reasons, target)


def _refusal(status: int, label: str, reasons: list[str], target: Target) -> Failure:
    """Statuses that another attempt cannot change."""
    if status in (401, 403) or any(reason.startswith("API_KEY_") for reason in reasons):
        problem = f"GEMINI_API_KEY was refused by Gemini ({label})"
        return Failure(problem, HOW["GEMINI_API_KEY"], transient=False)
    if status == 404:
        problem = f"Gemini knows no model {target.model!r} ({label})"
        remedy = f"set {target.variable} to a model that your key may use"
        return Failure(problem, remedy, transient=False)
    problem = f"Gemini refused the request ({label})"
    if "FAILED_PRECONDITION" in label:
        remedy = "see whether your country and your plan may use this model"
        return Failure(problem, remedy, transient=False)
    remedy = f"see whether {target.variable} and GOOGLE_GEMINI_BASE_URL are right"
    return Failure(problem, remedy, transient=False, about_input=status in (400, 413))


def _spend_limit(
    label: str, message: str, details: list[dict[str, Any]], delay: float | None
) -> Failure | None:
    """A 429 for the money that was spent; None for any other.

    Google limits what a tier may spend in any ten minutes, and what a project may in a month. No
    request waits for either; that of ten minutes passes by itself.
    """
    told = f"{message} {json.dumps(details)}"
    if not _SPEND.search(told):
        return None
    if _MONTHLY.search(told):
        problem = f"the month's spending limit of this GEMINI_API_KEY is reached ({label})"
        return Failure(problem, "raise it at https://aistudio.google.com/spend", transient=False)
    problem = f"the spending limit for ten minutes of this GEMINI_API_KEY is reached ({label})"
    wait = math.ceil(delay / 60) if delay and delay > 60 else 10
    return Failure(problem, f"try again in {wait} minutes, or ask Google for a higher tier")


def _spent_quota(
    label: str, message: str, details: list[dict[str, Any]], target: Target
) -> Failure | None:
    """A 429 that waiting cannot mend; None for a rate limit."""
    if _NO_QUOTA.search(message):
        problem = f"this GEMINI_API_KEY has no quota for {target.model} ({label})"
        return Failure(problem, f"set {target.variable} to another model, or enable billing", False)
    if _DAILY.search(json.dumps(details)):
        problem = f"today's quota for {target.model} is used up ({label})"
        return Failure(problem, "wait until it is renewed, or enable billing", False)
    return None


def client_failure(error: Exception, target: Target) -> Failure:
    """Judge what httpx or the SDK raised; of its text nothing is repeated."""
    kind = type(error).__name__
    if isinstance(error, APIError):
        return status_failure(error.code or 500, error.details, target)
    if isinstance(error, _SILENT):
        return Failure("Gemini fell silent", "try again, or raise HELIX_MODEL_TIMEOUT", silent=True)
    if isinstance(error, _UNREACHED):
        remedy = "check the network, the proxy and GOOGLE_GEMINI_BASE_URL"
        return Failure(f"Gemini cannot be reached ({kind})", remedy, retry=True)
    if isinstance(error, _BROKEN):
        return Failure(f"the connection to Gemini broke ({kind})", "try again", retry=True)
    if isinstance(error, httpx.HTTPError):
        remedy = "check the proxy and GOOGLE_GEMINI_BASE_URL"
        return Failure(f"the request to Gemini failed ({kind})", remedy)
    return Failure(f"Gemini's answer could not be read ({kind})", "try again")


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
