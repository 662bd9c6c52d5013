"""A source opened as it is stored: within its reach, with its secrets; and the lock of a source."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

import psycopg

from helix.domain.source_kinds import KINDS
from helix.errors import HelixError
from helix.library.source_secrets import unseal
from helix.library.sources import Source
from helix.providers.retries import retry_after_seconds
from helix.settings import Settings
from helix.storage.connections import unavailable
from helix.storage.statements import sources as sql
from pipelines.sources.base import (
    Connector,
    Entry,
    EntryGone,
    Known,
    Recalling,
    SourceBusy,
    SourceError,
)
from pipelines.sources.reach import check_reach

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


_WAIT_SECONDS = 0.5


def open_source(
    kind: str, address: str, options: Mapping[str, Any], secrets: dict[str, str]
) -> Connector:
    """The source of this kind at ``address``.

    Raises:
        SourceError: there is no such kind, its extra is not installed, or it cannot be opened.
    """
    found = KINDS.get(kind)
    if found is None:
        raise SourceError(f"there is no kind of source {kind!r}: {', '.join(KINDS)}")
    try:
        module = import_module(found.module)
        opened: Connector = module.open_source(address, options, secrets)
    except ImportError as error:
        if found.extra is None:
            raise
        raise SourceError(
            f"{found.title} wants a package that is not here ({error.name}):"
            f" pip install 'helix-answers[{found.extra}]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - a library's, whose text may hold a secret
        raise told_plainly(error, secrets) from None
    return redacting(opened, secrets)


def open_stored_source(
    source: Source, settings: Settings, keep: Callable[[Mapping[str, str]], None]
) -> Connector:
    """The source, to be listed and read; ``keep`` is given its secrets where they are others now.

    A kind that follows addresses finds in ``allow_hosts`` which private hosts it may go to; None:
    any, for the source was added by whoever runs the server.

    Raises:
        SourceError: it may not be opened, or cannot be.
        SettingsError: its secrets were sealed by another key, or there is none.
    """
    check_reach(source, settings)
    allowed = None if source.trusted else list(settings.allow_hosts)
    options = {**source.options, "allow_hosts": allowed}
    secrets = {} if source.secrets is None else unseal(settings, source.secrets)
    given = dict(secrets)
    try:
        return open_source(source.kind, source.address, options, secrets)
    finally:  # also where it does not open: a refresh token is good for one use at some
        if secrets != given:
            keep(secrets)


@contextmanager
def source_lock(
    url: str, tenant: str, source_id: int, going_on: Callable[[], None]
) -> Iterator[None]:
    """Hold the lock of a source, by a connection of its own that ends with the block.

    A worker that was taken for dead may still be at it: it is waited for. ``going_on`` is called
    meanwhile, and raises where there is nothing to wait for any more.

    Raises:
        StoreUnavailable: the database went away.
    """
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            while not _take(connection, tenant, source_id):
                going_on()
                time.sleep(_WAIT_SECONDS)
            yield
    except psycopg.Error as error:
        raise unavailable(error) from error


def _take(connection: psycopg.Connection, tenant: str, source_id: int) -> bool:
    row = connection.execute(sql.HOLD, (tenant, source_id)).fetchone()
    return bool(row and row[0])
