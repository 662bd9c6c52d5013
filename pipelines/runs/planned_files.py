"""Files that a run has looked at, before they are read; and those that a plugin's source gives."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from helix.domain.file_kinds import problem, sniff
from helix.domain.plugins import SOURCES, plugins
from helix.errors import HelixError
from helix.sandbox.frames import UNSTORABLE
from helix.settings import Settings
from pipelines.files.recipe import ChunkSizes, Fingerprint, is_unchanged


@dataclass(frozen=True)
class PlannedFile:
    """A file looked at: its bytes where it is to be read, else its outcome.

    ``reason`` says why it cannot be read, ``metadata`` is what came beside it, ``spaces`` are those
    of this file, where they are not the run's, ``document_id`` the document that it is known to be.
    """

    source_uri: str
    data: bytes = b""
    media: str = ""
    title: str | None = None
    content_hash: str = ""
    origin: dict[str, Any] | None = None
    reason: str = ""
    unchanged: bool = False
    metadata: Mapping[str, Any] | None = None
    spaces: tuple[int, ...] | None = None
    document_id: int | None = None


@dataclass(frozen=True)
class FileLimits:
    """The largest file in bytes, and the recipe that documents are made by."""

    largest: int
    recipe: str

    @classmethod
    def of(cls, settings: Settings) -> FileLimits:
        """HELIX_MAX_FILE_MB, and the recipe of the sizes of chunks."""
        return cls(settings.max_file_mb * 2**20, ChunkSizes.of(settings).recipe)

    def problem_of(self, size: int) -> str | None:
        """The reason to leave out a file of so many bytes; None where it is read."""
        if size <= self.largest:
            return None
        limit = self.largest // 2**20
        return f"{size / 2**20:.0f} MB; the limit is {limit} (HELIX_MAX_FILE_MB)"


def planned(uri: str, data: bytes, name: str, title: str | None) -> PlannedFile:
    """The file of these bytes, to be read by its kind, or why it cannot be."""
    media = sniff(data, name)
    if media is None:
        return PlannedFile(uri, reason=problem(data, name))
    return PlannedFile(uri, data, media, title, hashlib.sha256(data).hexdigest())


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
        for uri, file_name, data, problem_of_name in _named(given, plugin.call(address)):
            reason = problem_of_name or limits.problem_of(len(data))
            yield (
                PlannedFile(uri, reason=reason) if reason else planned(uri, data, file_name, None)
            )
    except HelixError as failure:
        yield PlannedFile(given, reason=str(failure))
    except Exception as error:  # noqa: BLE001  somebody else's code may raise anything
        yield PlannedFile(given, reason=str(plugin.failed(f"{type(error).__name__}: {error}")))


def _named(given: str, files: Iterable[Any]) -> Iterator[tuple[str, str, bytes, str | None]]:
    """The source_uri, name and bytes of each file, and the problem that its name has."""
    seen: Counter[str] = Counter()
    for name, data in files:
        uri = f"{given.rstrip('/')}/{name}"
        is_storable = not UNSTORABLE.search(uri)
        uri = uri if is_storable else ascii(uri)[1:-1]
        problem_of_name = None if is_storable else "its name has characters that cannot be stored"
        seen[uri] += 1
        if seen[uri] > 1:  # each is a file of the run, which has one of a source_uri
            uri = f"{uri} ({seen[uri]})"
            problem_of_name = "another file of the source has this name"
        yield uri, str(name), bytes(data), problem_of_name


def unless_unchanged(
    file: PlannedFile, stored: Fingerprint | None, limits: FileLimits
) -> PlannedFile:
    """The file, or that it is stored as it is."""
    if file.reason or not stored:
        return file
    if not is_unchanged(stored, file.content_hash, None, limits.recipe):
        return file
    return PlannedFile(file.source_uri, content_hash=file.content_hash, unchanged=True)
