"""Errors of a source without its secrets: one line each, that may be shown and logged."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar
from urllib.parse import quote, quote_plus

from helix.errors import HelixError
from helix.providers.retries import retry_after_seconds
from pipelines.sources.base import (
    Connector,
    Entry,
    EntryGone,
    Known,
    Recalling,
    SourceBusy,
    SourceError,
)

T = TypeVar("T")

HIDDEN = "***"
_LONGEST = 500
_PASSWORD_OF_URL = re.compile(r"(?<=://)[^/\s@:]*:[^/\s@]+(?=@)")
_CREDENTIALS = re.compile(
    r"(?i)(\b(?:bearer|basic)\s+|(?:token|password|secret|api_?key|signature)[\"']?\s*[=:]\s*)"
    r"[\"']?[^\s\"'&,;)]+"
)
_BUSY = (429, 503)


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """``text`` as one line without a value of ``secrets``, and without what looks like one."""
    for value in sorted(_spellings(secrets), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    text = _PASSWORD_OF_URL.sub(HIDDEN, text)
    text = _CREDENTIALS.sub(rf"\1{HIDDEN}", text)
    return " ".join(text.split())[:_LONGEST]


def _spellings(secrets: Mapping[str, str]) -> set[str]:
    """The values as errors may have them: as they are, in an address, in a header."""
    found: set[str] = set()
    for value in filter(None, secrets.values()):
        found |= {value, quote(value, safe=""), quote(value), quote_plus(value)}
        found |= {b64encode(value.encode()).decode(), repr(value)[1:-1]}
    return found


def told_plainly(error: BaseException, secrets: Mapping[str, str]) -> SourceError:
    """``error``, of whatever library, as a source's own; a busy server's as SourceBusy."""
    text = redacted(str(error) or type(error).__name__, secrets)
    if isinstance(error, SourceBusy):
        return SourceBusy(text, error.seconds)
    if isinstance(error, (EntryGone, SourceError)):
        return type(error)(text)
    if isinstance(error, HelixError):
        return SourceError(text)
    response = getattr(error, "response", error)  # Google's has it itself
    if getattr(response, "status_code", None) in _BUSY:
        header = getattr(response, "headers", {}).get("retry-after")
        return SourceBusy(text, retry_after_seconds(header))
    return SourceError(f"{type(error).__name__}: {text}")


def redacting(connector: Connector, secrets: Mapping[str, str]) -> Connector:
    """``connector``, whose every failure is a SourceError without a secret."""
    kind = _RecallingPlainly if isinstance(connector, Recalling) else _Plainly
    return kind(connector, secrets)


def _is_failure(error: BaseException) -> bool:
    """True of an error, a library's in Rust that panics too: no ``except Exception`` has that."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


class _Plainly:
    """A connector around another."""

    def __init__(self, inner: Connector, secrets: Mapping[str, str]) -> None:
        self._inner = inner
        self._secrets = secrets

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except BaseException as error:
            if not _is_failure(error):
                raise
            raise told_plainly(error, self._secrets) from None

    def entries(self) -> Iterator[Entry]:
        """The other's entries."""
        entries = self._call(lambda: iter(self._inner.entries()))
        while (entry := self._call(lambda: next(entries, None))) is not None:
            yield entry

    def read(self, entry: Entry) -> bytes:
        """The bytes that the other reads."""
        return self._call(lambda: self._inner.read(entry))

    def is_there(self, key: str) -> bool:
        """The other's answer."""
        return self._call(lambda: self._inner.is_there(key))

    def close(self) -> None:
        """Close the other."""
        self._call(self._inner.close)


class _RecallingPlainly(_Plainly):
    """The same around one that is told what is known."""

    def recall(self, known: Mapping[str, Known]) -> None:
        """Hand on what is known."""
        assert isinstance(self._inner, Recalling)
        self._inner.recall(known)
