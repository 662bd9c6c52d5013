"""One request of the crawler: limits on size, time and redirects, encodings, manners."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from email.utils import formatdate

import pytest

from pipelines.crawler.content import content_of
from pipelines.crawler.fetch import Fetcher, FetchError, FetchLimits, Page, gunzip
from pipelines.crawler.guard import ForbiddenAddress, GuardedBackend
from pipelines.crawler.plan import import_url
from pipelines.crawler.results import FinishedPage, PageToRead
from tests.support.web_site import (
    LIMITS,
    Answer,
    Route,
    Website,
    nothing,
    options_of,
    page,
    redirect,
    serving,
)


async def _fetch(site: Website, path: str = "/", limits: FetchLimits = LIMITS) -> Page:
    async with Fetcher(GuardedBackend([site.host]), limits) as fetcher:
        return await fetcher.get(site.url(path))


async def test_a_gzip_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * (16 * 2**20))
    fine = gzip.compress(b"<html>fine")
    routes: dict[str, Route] = {
        "/bomb": Answer(bomb, headers={"Content-Encoding": "gzip"}),
        "/twice": Answer(gzip.compress(bomb), headers={"Content-Encoding": "gzip, gzip"}),
        "/fine": Answer(
            fine + gzip.compress(b", two members"), headers={"Content-Encoding": "gzip"}
        ),
        "/cut": Answer(fine[:-4], headers={"Content-Encoding": "gzip"}),
        "/bad": Answer(b"no gzip", headers={"Content-Encoding": "gzip"}),
        "/br": Answer(b"x", headers={"Content-Encoding": "br"}),
        "/large": Answer(b"x" * (2**20 + 1)),
        "/just": Answer(b"x" * 2**20),
    }
    async with serving(routes) as site:
        assert (await _fetch(site, "/fine")).data == b"<html>fine, two members"
        assert len((await _fetch(site, "/just")).data) == 2**20
        for path, reason in {
            "/bomb": "larger than 1 MB",
            "/large": "larger than 1 MB",
            "/twice": "encoding",
            "/cut": "cut off",
            "/bad": "damaged",
            "/br": "encoding",
        }.items():
            with pytest.raises(FetchError, match=reason):
                await _fetch(site, path)


def test_no_more_is_decompressed_than_the_limit() -> None:
    bomb = gzip.compress(b"\0" * (16 * 2**20))
    tracemalloc.start()
    try:
        with pytest.raises(FetchError, match="larger than 65536 bytes"):
            gunzip(bomb, 2**16)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


async def test_a_slow_page_is_given_up() -> None:
    limits = FetchLimits(largest=2**20, connect=2, read=0.2, total=5)
    async with serving({"/": page("Slow", hang=30.0)}) as site:
        with pytest.raises(FetchError, match="no answer in time"):
            await _fetch(site, "/", limits)
        whole = FetchLimits(largest=2**20, connect=2, read=9, total=0.2)
        with pytest.raises(FetchError, match=r"not done in 0\.2 s"):
            await _fetch(site, "/", whole)


async def test_redirects_end() -> None:
    routes: dict[str, Route] = {f"/{n}": redirect(f"/{n + 1}", 307) for n in range(9)}
    async with serving({**routes, "/9": page("Nine"), "/round": redirect("/round")}) as site:
        assert (await _fetch(site, "/4")).final_url == site.url("/9")
        for path in ("/3", "/round"):
            with pytest.raises(FetchError, match="more than 5 redirects"):
                await _fetch(site, path)


async def test_a_busy_site_is_asked_again() -> None:
    answers = [
        Answer(status=429, headers={"Retry-After": "0"}),
        Answer(status=503, headers={"Retry-After": formatdate(time.time() - 5, usegmt=True)}),
        page("There"),
    ]
    routes: dict[str, Route] = {
        "/": lambda seen: answers.pop(0),
        "/later": Answer(status=503, headers={"Retry-After": "3600"}),
        "/busy": Answer(status=429, headers={"Retry-After": "0"}),
    }
    async with serving(routes) as site:
        assert (await _fetch(site)).status == 200
        assert (await _fetch(site, "/later")).status == 503
        assert (await _fetch(site, "/busy")).status == 429
        assert [seen.path for seen in site.seen] == ["/"] * 3 + ["/later"] + ["/busy"] * 3


async def test_a_dropped_connection_is_tried_once_more() -> None:
    answers = [Answer(cut=True), page("There")]
    routes: dict[str, Route] = {"/": lambda seen: answers.pop(0), "/dead": Answer(cut=True)}
    async with serving(routes) as site:
        assert (await _fetch(site)).status == 200
        with pytest.raises(FetchError, match="the connection broke"):
            await _fetch(site, "/dead")
        assert [seen.path for seen in site.seen] == ["/"] * 2 + ["/dead"] * 2


async def test_an_encoding_that_only_the_header_names_is_kept() -> None:
    body = "<html><title>Привет</title><p>Документы</p>".encode("windows-1251")
    routes: dict[str, Route] = {
        "/": Answer(body, content_type="text/html; charset=windows-1251"),
        "/odd": Answer(body, content_type="text/html; charset=punycode"),
    }
    async with serving(routes) as site:
        result = await import_url(options_of(site), nothing, limits=LIMITS)
        assert isinstance(result, PageToRead)
        assert "Документы" in result.data.decode("utf-8-sig")
        odd = await import_url(options_of(site, "/odd"), nothing, limits=LIMITS)
        assert isinstance(odd, PageToRead)
        assert odd.data == body


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=404), "the site answered 404"),
        (Answer(b" \n"), "empty"),
        (Answer(b"x", content_type="image/png"), "not a document"),
        (Answer(status=304), "the site answered 304"),
    ],
)
async def test_what_cannot_be_imported_says_why(answer: Answer, reason: str) -> None:
    async with serving({"/": answer}) as site:
        result = await import_url(options_of(site), nothing, limits=LIMITS)
        assert isinstance(result, FinishedPage)
        assert (result.source_uri, result.status) == (site.url("/"), "failed")
        assert reason in result.reason


@pytest.mark.parametrize(
    ("path", "body", "content_type", "media"),
    [
        ("/", b"<p>A part of a page</p>", "text/html", "html"),
        ("/notes", b"Plain words", "text/html; charset=utf-8", "html"),
        ("/notes.md", b"# Heading", "text/plain", "markdown"),
        ("/notes", b"# Heading", "text/markdown", "markdown"),
        ("/table", b"a,b\n1,2", "text/csv", "csv"),
        ("/page", b"<!doctype html><html><p>x", "text/plain", "html"),
        ("/page.html", b"%PDF-1.4\n", "text/html", "pdf"),
    ],
)
async def test_the_kind_is_of_the_bytes_then_of_the_site(
    path: str, body: bytes, content_type: str, media: str
) -> None:
    async with serving({path: Answer(body, content_type=content_type)}) as site:
        result = await import_url(options_of(site, path, title="T"), nothing, limits=LIMITS)
        assert isinstance(result, PageToRead)
        assert (result.media, result.title) == (media, "T")


HEADERS = """Content-Type Location Retry-After ETag Last-Modified X-Robots-Tag Content-Encoding
Content-Length Transfer-Encoding Set-Cookie Connection""".split()
VALUES = [
    "",
    'text/html; charset="',
    "text/html; charset*=utf-8''%zz",
    "text/html; charset*0=a; charset*1=b",
    "text/html; charset=hex",
    "http://[",
    "http://x.test:99999999/",
    "//é/",
    "?" * 3000,
    "none, :,,:",
    "9" * 30,
    "-1",
    "Thu, 99 Foo",
]


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("status", [200, 302, 503])
async def test_no_header_is_trusted(name: str, status: int) -> None:
    body = b"<html><a href='http://['><base href='http://['><link rel=canonical href='x:y'>\xff"
    async with serving() as site, Fetcher(GuardedBackend([site.host]), longest_wait=0) as fetcher:
        for n, value in enumerate(VALUES):
            site.routes[f"/{n}"] = Answer(body, status, headers={name: value})
            try:
                page = await fetcher.get(site.url(f"/{n}"))
                if page.status == 200:
                    assert content_of(page).source_uri == site.url(f"/{n}")
            except (FetchError, ForbiddenAddress) as error:
                assert "\n" not in str(error)
        assert len(site.seen) >= len(VALUES)
