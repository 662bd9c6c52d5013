"""One request at a time: limits on time, size and redirects, the guard below, and manners."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from gzip import GzipFile
from io import BytesIO

import httpx

from helix import __version__
from helix.errors import HelixError
from helix.providers.retries import retry_after_seconds
from pipelines.crawler.guard import GuardedBackend, GuardedTransport
from pipelines.crawler.results import StoredPage
from pipelines.crawler.urls import BadUrl, normalise

PRODUCT = "HelixBot"
USER_AGENT = f"{PRODUCT}/{__version__} (document search; follows robots.txt)"

_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
    "Accept-Encoding": "gzip",  # the one that is decompressed within a limit here
}
_BUSY = (429, 503)
_REDIRECTS = (301, 302, 303, 307, 308)
_FOR_GOOD = (301, 308)
GONE = (404, 410)
"""Statuses by which a site says that there is no such page."""
_NEVER_TEXT = ("image/", "audio/", "video/", "font/")
_SLOWEST_WAIT = 60.0


class FetchError(HelixError):
    """A page could not be had; one line that says why. ``away`` where the site did not answer."""

    status = 502

    def __init__(self, message: str, *, away: bool = False) -> None:
        super().__init__(message)
        self.away = away


class NotFollowed(FetchError):
    """A redirect led where the caller does not go. ``url`` is where, ``for_good`` if it moved."""

    def __init__(self, message: str, url: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.url = url
        self.for_good = for_good


class NotADocument(FetchError):
    """There is something at the address, and nothing that Helix reads."""


@dataclass(frozen=True)
class FetchLimits:
    """Times in seconds: ``total`` is for one answer, redirects and retries each have their own."""

    largest: int = 256 * 2**20
    connect: float = 5.0
    read: float = 20.0
    total: float = 60.0
    tries: int = 3
    redirects: int = 5


@dataclass(frozen=True)
class Page:
    """An answer. ``data`` is decompressed, and empty unless ``status`` is 200.

    ``final_url`` is where redirects led, normalised; ``robots_tag`` the X-Robots-Tag headers.
    """

    url: str
    final_url: str
    status: int
    data: bytes = b""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    robots_tag: str = ""


class Pace:
    """Lets a request through at most every ``seconds``: a site is somebody's machine."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: float | None = None

    def at_least(self, seconds: float) -> None:
        """Slow down to one request every ``seconds``; never faster than before."""
        self.seconds = max(self.seconds, seconds)

    async def wait(self) -> None:
        """Return when the next request may start."""
        if self._last is not None:
            await asyncio.sleep(max(0.0, self._last + self.seconds - time.monotonic()))
        self._last = time.monotonic()


@dataclass
class Fetcher:
    """Fetches pages through the guard, one at a time, ``pace`` apart. A context manager."""

    backend: GuardedBackend
    limits: FetchLimits = field(default_factory=FetchLimits)
    pace: Pace = field(default_factory=lambda: Pace(0.0))
    longest_wait: float = _SLOWEST_WAIT
    """The longest Retry-After, in seconds, that is waited for."""

    async def __aenter__(self) -> Fetcher:
        # Not a client of httpx: no cookies, no .netrc, no redirects but our own.
        self._transport = GuardedTransport(self.backend)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.aclose()

    async def get(
        self,
        url: str,
        stored_page: Callable[[str], StoredPage | None] = lambda _: None,
        follow: Callable[[str], str | None] = lambda _: None,
        largest: int | None = None,
    ) -> Page:
        """The page at a normalised ``url``, whatever its status.

        ``stored_page`` gives what is stored of each address on the way, for a conditional
        request (304). ``follow`` gives a reason not to follow a redirect to an address, or None.
        ``largest`` is in bytes, decompressed.

        Raises:
            ForbiddenAddress: the guard refuses.
            NotFollowed: ``follow`` had a reason.
            FetchError: no answer, too slow, too large, redirects in a circle, no such encoding.
        """
        current_url = url
        for _ in range(self.limits.redirects + 1):
            page, target = await self._patiently(
                url, current_url, stored_page(current_url), largest
            )
            if target is None:
                return page
            try:
                current_url = normalise(target, current_url)
            except BadUrl as error:
                raise FetchError(f"redirected to what is {error}") from None
            reason = follow(current_url)
            if reason:
                raise NotFollowed(reason, current_url, for_good=page.status in _FOR_GOOD)
        raise FetchError(f"more than {self.limits.redirects} redirects")

    async def _patiently(
        self, url: str, current_url: str, stored: StoredPage | None, largest: int | None
    ) -> tuple[Page, str | None]:
        """One hop; a site that is busy is asked again when it says, a dropped connection once."""
        for attempt in range(1, self.limits.tries + 1):
            await self.pace.wait()
            last = attempt == self.limits.tries
            try:
                page, headers = await self._exchange(url, current_url, stored, largest)
            except httpx.TimeoutException:
                raise FetchError("no answer in time", away=True) from None
            except httpx.TransportError as error:
                if attempt > 1 or last or isinstance(error, httpx.ConnectError):
                    raise FetchError(_failure(error), away=True) from None
                continue
            if page.status not in _BUSY or last:
                break
            retry_after = retry_after_seconds(headers.get("retry-after"))
            wait = 2.0 ** (attempt - 1) if retry_after is None else retry_after
            if wait > self.longest_wait:
                break
            await asyncio.sleep(wait)
        target = headers.get("location") if page.status in _REDIRECTS else None
        return page, target

    async def _exchange(
        self, url: str, current_url: str, stored: StoredPage | None, largest: int | None
    ) -> tuple[Page, Mapping[str, str]]:
        limits = httpx.Timeout(self.limits.read, connect=self.limits.connect)
        try:
            request = httpx.Request(
                "GET",
                current_url,
                headers={**_HEADERS, **_conditions(stored)},
                extensions={"timeout": limits.as_dict()},
            )
            async with asyncio.timeout(self.limits.total):
                response = await self._transport.handle_async_request(request)
                async with aclosing(response):
                    whole = response.status_code == 200
                    data = await self._body(response, largest) if whole else b""
        except TimeoutError:
            raise FetchError(f"not done in {self.limits.total:g} s", away=True) from None
        except httpx.InvalidURL:
            raise FetchError("not a web address") from None
        headers = response.headers
        page = Page(
            url=url,
            final_url=current_url,
            status=response.status_code,
            data=data,
            content_type=headers.get("content-type", ""),
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
            robots_tag=headers.get("x-robots-tag", ""),
        )
        return page, headers

    async def _body(self, response: httpx.Response, largest: int | None) -> bytes:
        largest = min(largest or self.limits.largest, self.limits.largest)
        if response.headers.get("content-type", "").lower().startswith(_NEVER_TEXT):
            raise NotADocument(f"not a document ({response.headers['content-type'][:40]})")
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise FetchError("sent in an encoding that was not asked for")
        data = bytearray()
        async for part in response.aiter_raw(2**16):
            data += part
            if len(data) > largest:
                raise _too_large(largest)
        is_packed = encoding.endswith("gzip")
        return await asyncio.to_thread(gunzip, data, largest) if is_packed else bytes(data)


def gunzip(data: bytes | bytearray, largest: int) -> bytes:
    """The bytes that are compressed in ``data``.

    Raises:
        FetchError: they are more than ``largest``, and no more were made; or damaged, or cut off.
    """
    try:
        text = GzipFile(fileobj=BytesIO(data)).read(largest + 1)
    except EOFError:
        raise FetchError("its compressed data is cut off") from None
    except (OSError, zlib.error):
        raise FetchError("its compressed data is damaged") from None
    if len(text) > largest:
        raise _too_large(largest)
    return text


def _conditions(stored: StoredPage | None) -> dict[str, str]:
    if stored is None:
        return {}
    conditions = {"If-None-Match": stored.etag, "If-Modified-Since": stored.last_modified}
    return {
        name: value
        for name, value in conditions.items()
        if value and value.isascii() and value.isprintable()
    }


def _failure(error: httpx.TransportError) -> str:
    text = str(error)
    if text.startswith("there is no host"):
        return text
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "its certificate cannot be verified"
    return "cannot be reached" if isinstance(error, httpx.ConnectError) else "the connection broke"


def _too_large(most: int) -> FetchError:
    return FetchError(f"larger than {f'{most // 2**20} MB' if most >= 2**20 else f'{most} bytes'}")
