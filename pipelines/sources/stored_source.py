"""A source opened as it is stored: within its reach, with its secrets; and the lock of a source."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import psycopg

from helix.domain.source_kinds import KINDS
from helix.library.source_secrets import unseal
from helix.library.sources import Source
from helix.settings import Settings
from helix.storage.connections import unavailable
from helix.storage.statements import sources as sql
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.reach import check_reach
from pipelines.sources.redaction import redacting, told_plainly

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
