"""Bytes that a listing brought along, on disk until they are read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

ROOM = 2**30
"""Bytes that are kept at most; what comes after is had from the source once more."""


class Spool:
    """Keeps bytes by key in a folder of its own."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="helix-source-")
        self._room = ROOM

    def put(self, key: str, data: bytes) -> None:
        """Keep ``data``, where there is room."""
        if len(data) <= self._room:
            self._room -= len(data)
            self._file(key).write_bytes(data)

    def get(self, key: str) -> bytes | None:
        """The bytes put under ``key``; None where there are none."""
        try:
            return self._file(key).read_bytes()
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Delete all of it."""
        self._folder.cleanup()

    def _file(self, key: str) -> Path:
        return Path(self._folder.name, sha256(key.encode()).hexdigest())
