"""The options of a crawl; they travel as JSON in ``runs.options``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from helix.domain.crawl_limits import DEPTH, MOST_DEPTH, MOST_PAGES, PAGES
from helix.errors import BadRequest
from pipelines.crawler.urls import normalise

DELAY_MS, LONGEST_DELAY_MS = 300, 60_000

_HOST = re.compile(r"[A-Za-z0-9_.:\[\]-]+")


@dataclass(frozen=True)
class CrawlOptions:
    """``pages`` is how many are asked for, found or not; ``depth`` counts links from the start.

    ``prefix`` is the part of the paths to stay in (None: the start's), ``delay_ms`` the shortest
    time between two requests, ``files`` whether documents that are no pages (PDF…) are taken too.
    ``title`` is for a single page, in place of its own.

    ``allow_hosts`` opens the guard: whoever can set it can reach the network Helix is in, so it
    comes from the command line and the settings, never from a request.
    """

    url: str
    prefix: str | None = None
    pages: int = PAGES
    depth: int = DEPTH
    delay_ms: int = DELAY_MS
    files: bool = False
    allow_hosts: tuple[str, ...] = ()
    title: str | None = None

    @classmethod
    def from_dict(cls, options: Mapping[str, object]) -> CrawlOptions:
        """From JSON; what is missing has its default, what is unknown is passed over.

        Raises:
            BadRequest: one line that names the option and what it takes.
        """
        url = options.get("url")
        if not isinstance(url, str):
            raise BadRequest("url is missing: give the address of a page")
        return cls(
            url=normalise(url),
            prefix=_prefix(options.get("prefix")),
            pages=_number(options, "pages", PAGES, 1, MOST_PAGES),
            depth=_number(options, "depth", DEPTH, 0, MOST_DEPTH),
            delay_ms=_number(options, "delay_ms", DELAY_MS, 0, LONGEST_DELAY_MS),
            files=options.get("files") is True,
            allow_hosts=_hosts(options.get("allow_hosts", ())),
            title=_title(options.get("title")),
        )

    def allowing(self, hosts: Iterable[str]) -> CrawlOptions:
        """These options with the hosts of the settings added."""
        return replace(self, allow_hosts=(*self.allow_hosts, *hosts))

    def to_dict(self) -> dict[str, object]:
        """The options as JSON; ``from_dict`` of it is equal."""
        return {**asdict(self), "allow_hosts": list(self.allow_hosts)}


def _number(options: Mapping[str, object], name: str, default: int, least: int, most: int) -> int:
    value = options.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadRequest(f"{name} is a whole number from {least} to {most}")
    return value


def _prefix(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.startswith("/") or not value.isprintable():
        raise BadRequest("prefix is a path such as /docs/: it starts with a slash")
    # spelled as the paths it is compared with
    return normalise(f"http://h{value}").removeprefix("http://h")


def _title(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise BadRequest("title is blank or not text: give the title, or leave it out")
    return value


def _hosts(value: object) -> tuple[str, ...]:
    hosts = tuple(value) if isinstance(value, list | tuple) else (None,)
    if not all(isinstance(host, str) and _HOST.fullmatch(host) for host in hosts):
        raise BadRequest("allow_hosts are host names such as wiki.example.lan, or host:port")
    return tuple(str(host).lower() for host in hosts)
