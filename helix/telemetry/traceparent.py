"""The W3C ``traceparent`` header, pure: https://www.w3.org/TR/trace-context/#traceparent-header."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

# a version later than 00 may go on after another dash
_HEADER = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 1


@dataclass(frozen=True, slots=True)
class Parent:
    """The caller's span: 32 and 16 lower-case hex characters, neither all zeros."""

    trace_id: str
    span_id: str
    sampled: bool


def parent_of(headers: Sequence[tuple[bytes, bytes]]) -> Parent | None:
    """The caller's span by ASGI ``headers``; None without one, with two, and with a malformed one.

    A header that is not understood is to be ignored, never repaired (section 4.3).
    """
    sent = [value for name, value in headers if name == b"traceparent"]
    found = _HEADER.fullmatch(sent[0].decode("latin-1").strip()) if len(sent) == 1 else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    known = version != "00" or more is None
    if not (known and trace_id.strip("0") and span_id.strip("0")):
        return None
    return Parent(trace_id, span_id, bool(int(flags, 16) & _SAMPLED))


def new_trace_id() -> str:
    """A random trace id: 32 hex characters, not all zeros but once in 2**128."""
    return secrets.token_hex(16)
