"""The files that a plugin's source gives, as ``helix ingest NAME:ADDRESS`` names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from helix.domain.plugins import SOURCES, plugins
from helix.errors import HelixError
from pipelines.files.recipe import Fingerprint, is_unchanged
from pipelines.runs.planned_files import FileLimits, PlannedFile, planned


def is_of_plugin(given: str) -> bool:
    """True if ``given`` names a source of a plugin and no path."""
    name, colon, _ = given.partition(":")
    return bool(colon) and name in plugins(SOURCES)


def files_of_source(given: str, limits: FileLimits) -> Iterator[PlannedFile]:
    """Each file of the source; a failure of its is one more, with the reason.

    A file's source_uri is ``NAME:ADDRESS/`` and the name that the source gives it.
    """
    name, _, address = given.partition(":")
    plugin = plugins(SOURCES)[name]
    try:
        for file_name, data in _pairs(plugin.call(address)):
            uri = f"{given.rstrip('/')}/{file_name}"
            too_large = limits.problem_of(len(data))
            yield (
                PlannedFile(uri, reason=too_large)
                if too_large
                else planned(uri, data, file_name, None)
            )
    except HelixError as failure:
        yield PlannedFile(given, reason=str(failure))
    except Exception as error:  # noqa: BLE001  somebody else's code may raise anything
        yield PlannedFile(given, reason=str(plugin.failed(f"{type(error).__name__}: {error}")))


def _pairs(given: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
    for name, data in given:
        yield str(name), bytes(data)


def unless_unchanged(
    file: PlannedFile, stored: Fingerprint | None, limits: FileLimits
) -> PlannedFile:
    """The file, or that it is stored as it is."""
    if file.reason or not stored:
        return file
    if not is_unchanged(stored, file.content_hash, None, limits.recipe):
        return file
    return PlannedFile(file.source_uri, content_hash=file.content_hash, unchanged=True)
