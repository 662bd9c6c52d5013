"""The pages that are still to be asked for, in order, each page once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from pipelines.crawler.urls import Site, file_name, identity

MOST_WAITING = 100_000
"""Addresses that wait at most, so that a site without end does not fill memory."""

_NO_PAGES = frozenset(
    """css js mjs map json xml rss atom png jpg jpeg gif svg webp avif ico bmp tif tiff mp3 mp4 m4a
    m4v webm ogg oga ogv wav flac mov avi woff woff2 ttf otf eot zip gz tgz bz2 xz 7z rar tar whl
    jar exe dmg pkg deb rpm msi iso bin so dll wasm apk""".split()
)


@dataclass(frozen=True)
class Step:
    """An address to ask for, ``depth`` links from the start."""

    url: str
    depth: int


class Frontier:
    """First in, first out: what is near the start comes first."""

    def __init__(self, site: Site, depth: int) -> None:
        self._site = site
        self._depth = depth
        self._waiting: deque[Step] = deque()
        self._queued: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, urls: Iterable[str], depth: int) -> None:
        """Queue normalised addresses that are on the site, not too deep, and new."""
        if depth > self._depth:
            return
        for address in urls:
            url = self._site.adopt(address)
            if len(self._waiting) >= MOST_WAITING:
                return
            if self._site.covers(url) and not _is_no_page(url) and self.mark(url):
                self._waiting.append(Step(url, depth))

    def is_new(self, url: str) -> bool:
        """True where ``url`` was neither queued nor marked yet."""
        return identity(url) not in self._queued

    def mark(self, url: str) -> bool:
        """Mark ``url`` as known; true where it was new."""
        new = self.is_new(url)
        self._queued.add(identity(url))
        return new

    def next(self) -> Step | None:
        """The next one, None at the end."""
        return self._waiting.popleft() if self._waiting else None


def _is_no_page(url: str) -> bool:
    _, dot, suffix = file_name(url).rpartition(".")
    return bool(dot) and suffix.lower() in _NO_PAGES
