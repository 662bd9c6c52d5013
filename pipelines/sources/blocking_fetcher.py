"""The crawler's fetcher for blocking code: guarded, paced, one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from helix.domain.file_kinds import KINDS
from pipelines.crawler.fetch import Fetcher, FetchLimits, Pace, Page
from pipelines.crawler.guard import GuardedBackend
from pipelines.crawler.results import StoredPage

T = TypeVar("T")


def hosts_of(url: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The private hosts that may be gone to: those allowed, or that of the source's own address.

    ``allow_hosts`` is None where whoever runs the server added the source; a redirect from its
    address into the network is refused all the same.
    """
    allowed = options.get("allow_hosts")
    if allowed is not None:
        return tuple(allowed)
    parts = urlsplit(url)
    return (parts.hostname or "", parts.netloc)


class BlockingFetcher:
    """A Fetcher with an event loop of its own. Not for a thread that runs one."""

    def __init__(self, allow_hosts: tuple[str, ...], delay_ms: int = 0) -> None:
        self._runner = asyncio.Runner()
        backend = GuardedBackend(allow_hosts)
        self.fetcher = Fetcher(backend, FetchLimits(), Pace(delay_ms / 1000))
        self.run(self.fetcher.__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry ``work`` out in the fetcher's loop."""
        return self._runner.run(work)

    def get(
        self,
        url: str,
        stored: StoredPage | None = None,
        follow: Callable[[str], str | None] = lambda _: None,
    ) -> Page:
        """The page at ``url``, whatever its status.

        Raises:
            NotFollowed: ``follow`` had a reason against a redirect.
            FetchError, ForbiddenAddress: there was no answer, or the guard refuses.
        """
        return self.run(self.fetcher.get(url, lambda _: stored, follow))

    def close(self) -> None:
        """Close the connection and the loop."""
        self.run(self.fetcher.__aexit__())
        self._runner.close()


def page_name(url: str, kind: str) -> str:
    """A file name for what is at ``url``, by whose suffix it is read as of ``kind``."""
    parts = urlsplit(url)
    name = unquote(PurePosixPath(parts.path).name).replace("/", "-") or parts.netloc
    suffixes = KINDS[kind].suffixes
    return name if name.lower().endswith(suffixes) else f"{name}{suffixes[0]}"
