"""A source opened as it is stored: within its reach, with its secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helix.library.source_secrets import unseal
from helix.library.sources import Source
from helix.settings import Settings
from pipelines.sources.base import Connector
from pipelines.sources.kinds import open_source
from pipelines.sources.reach import check_reach


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
