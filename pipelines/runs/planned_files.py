"""Files that a run has looked at, before they are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from helix.domain.file_kinds import problem, sniff
from helix.settings import Settings
from pipelines.files.recipe import ChunkSizes


@dataclass(frozen=True)
class PlannedFile:
    """A file looked at: its bytes where it is to be read, else its outcome.

    ``reason`` says why it cannot be read.
    """

    source_uri: str
    data: bytes = b""
    media: str = ""
    title: str | None = None
    content_hash: str = ""
    origin: dict[str, Any] | None = None
    reason: str = ""
    unchanged: bool = False


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
