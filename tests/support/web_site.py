"""A web site on loopback for the crawler: pages by path, redirects, validators, and what it saw."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pipelines.crawler.fetch import FetchLimits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.results import PageToRead, Result, StoredPage, StoredPages

LIMITS = FetchLimits(largest=2**20, connect=2, read=2, total=5)


@dataclass(frozen=True)
class Answer:
    """The answer of a path. ``etag`` makes it conditional; ``hang`` seconds pass before it."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    last_modified: str = ""
    hang: float = 0.0
    cut: bool = False
    """Close the connection instead of answering."""


@dataclass(frozen=True)
class Seen:
    """A request that came in; header names in lower case, ``at`` in monotonic seconds."""

    path: str
    headers: Mapping[str, str]
    at: float


def page(
    title: str,
    body: str = "",
    head: str = "",
    *,
    etag: str = "",
    last_modified: str = "",
    headers: Mapping[str, str] | None = None,
    hang: float = 0.0,
) -> Answer:
    """An HTML page."""
    html = f"<!doctype html><html><head><title>{title}</title>{head}</head><body><h1>{title}</h1>"
    return Answer(
        f"{html}<p>{body}</p></body></html>".encode(),
        etag=etag,
        last_modified=last_modified,
        headers=headers or {},
        hang=hang,
    )


def links(*urls: str) -> str:
    """A list of links."""
    return "".join(f'<a href="{url}">{url}</a> ' for url in urls)


def redirect(target: str, status: int = 302) -> Answer:
    """A redirect to ``target``."""
    return Answer(status=status, headers={"Location": target})


def sitemap(*urls: str, index: bool = False, packed: bool = False) -> Answer:
    """A sitemap, or with ``index`` an index of sitemaps, gzipped if ``packed``."""
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc> {url} </loc></{inner}>" for url in urls)
    xml = f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    body = f"{xml}{entries}</{outer}>".encode()
    return Answer(gzip.compress(body) if packed else body, content_type="application/xml")


def text(body: str) -> Answer:
    """Plain text, such as a robots.txt."""
    return Answer(body.encode(), content_type="text/plain")


Route = Answer | Callable[[Seen], Answer]


class Website:
    """Serves ``routes`` by path with query; everything else is a 404. ``seen`` is in order."""

    def __init__(self, routes: dict[str, Route], port: int) -> None:
        self.routes = routes
        self.port = port
        self.seen: list[Seen] = []
        self.connections = 0

    @property
    def host(self) -> str:
        """``host:port``, as the guard is opened for it."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        """The address of ``path``."""
        return f"http://{self.host}{path}"

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, without robots.txt and sitemaps."""
        asked = (request.path for request in self.seen)
        return [path for path in asked if not path.endswith(("robots.txt", "sitemap.xml"))]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept open between requests."""
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                if not await self._answer(head, writer):
                    break
        writer.close()

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> bool:
        first, *rest = head.rstrip().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in rest)
        }
        seen = Seen(first.split(" ")[1], headers, time.monotonic())
        self.seen.append(seen)
        route = self.routes.get(seen.path, Answer(b"no such page", 404))
        answer = route if isinstance(route, Answer) else route(seen)
        await asyncio.sleep(answer.hang)
        if answer.cut:
            return False
        writer.write(_wire(answer, headers))
        await writer.drain()
        return True


def _wire(answer: Answer, asked: Mapping[str, str]) -> bytes:
    same = (answer.etag and asked.get("if-none-match") == answer.etag) or (
        answer.last_modified and asked.get("if-modified-since") == answer.last_modified
    )
    status, body = (304, b"") if same else (answer.status, answer.body)
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines.append(f"Content-Type: {answer.content_type}")
    if answer.etag:
        lines.append(f"ETag: {answer.etag}")
    if answer.last_modified:
        lines.append(f"Last-Modified: {answer.last_modified}")
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextlib.asynccontextmanager
async def serving(routes: dict[str, Route] | None = None) -> AsyncIterator[Website]:
    """A site on a free port of loopback, closed at the end."""
    site = Website(routes if routes is not None else {}, 0)
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(site.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def nothing(url: str) -> StoredPage | None:
    """A database without web pages."""
    return None


def options_of(site: Website, path: str = "/", **options: object) -> CrawlOptions:
    """Options for ``site``, opened for its address and in no hurry to wait."""
    given = {"url": site.url(path), "delay_ms": 0, "allow_hosts": [site.host], **options}
    return CrawlOptions.from_dict(given)


def stored_of(results: Iterable[Result]) -> StoredPages:
    """The stored pages that the database would have after these were written."""
    by_url: dict[str, StoredPage] = {}
    for result in results:
        if isinstance(result, PageToRead):
            digest = hashlib.sha256(result.data).hexdigest()
            known = StoredPage.from_origin(result.source_uri, digest, result.origin)
            by_url[str(result.origin["url"])] = known
            by_url.setdefault(result.source_uri, known)
    return by_url.get
