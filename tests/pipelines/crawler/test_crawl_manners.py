"""A crawl keeps to robots.txt, to its delays and to marks of pages, on a site on loopback."""

from __future__ import annotations

import pytest

from pipelines.crawler.results import FinishedPage, Ignored, PageToRead
from tests.support import web_site as web
from tests.support.crawls import crawl, planned, reasons
from tests.support.web_site import (
    Answer,
    Route,
    links,
    page,
    redirect,
    serving,
)


async def test_robots_txt_is_kept_to() -> None:
    rules = """User-agent: *\nDisallow: /\n\nUser-agent: HelixBot\nDisallow: /private/
        Allow: /private/open\nDisallow: /*/edit$"""
    routes: dict[str, Route] = {
        "/robots.txt": web.text(rules),
        "/": page("Home", links("/private/x", "/private/open", "/a/edit", "/a/edit/more", "/go")),
        "/private/open": page("Open"),
        "/private/x": page("Private"),
        "/a/edit": page("Edit"),
        "/a/edit/more": page("More"),
        "/go": redirect("/private/y"),
    }
    async with serving(routes) as site:
        results = await crawl(site)
        assert planned(results, site) == ["/", "/private/open", "/a/edit/more"]
        left = "its robots.txt does not allow it"
        assert reasons(results, site) == {"/private/x": left, "/a/edit": left, "/go": left}
        assert not {"/private/x", "/private/y", "/a/edit"} & set(site.paths)
        assert all(isinstance(r, Ignored) for r in results if not isinstance(r, PageToRead))


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_site_whose_robots_txt_fails_is_left_alone(status: int) -> None:
    routes: dict[str, Route] = {
        "/robots.txt": Answer(status=status, headers={"Retry-After": "3600"}),
        "/": page("Home"),
    }
    async with serving(routes) as site:
        (result,) = await crawl(site)
        assert isinstance(result, FinishedPage)
        assert f"its robots.txt answered {status}" in result.reason
        assert site.paths == []


async def test_a_site_that_forbids_the_start_is_not_crawled() -> None:
    routes: dict[str, Route] = {
        "/robots.txt": web.text("User-agent: *\nDisallow: /"),
        "/": page("Home"),
    }
    async with serving(routes) as site:
        assert await crawl(site) == [
            FinishedPage(site.url("/"), "failed", "its robots.txt does not allow it")
        ]
        assert site.paths == []


async def test_requests_keep_their_distance() -> None:
    routes: dict[str, Route] = {
        "/robots.txt": web.text("User-agent: *\nCrawl-delay: 0.12"),
        "/": page("Home", links("/a", "/b")),
        "/a": redirect("/c"),
        "/b": page("B"),
        "/c": page("C"),
    }
    async with serving(routes) as site:
        await crawl(site, delay_ms=50)
        times = [seen.at for seen in site.seen]
        # From robots.txt on, its own delay holds; the first request may have arrived late.
        assert times[-1] - times[1] >= 0.12 * (len(times) - 2) - 0.1
        assert len(times) == 6


async def test_a_site_that_asks_for_minutes_between_pages_is_left_alone() -> None:
    routes: dict[str, Route] = {"/robots.txt": web.text("User-agent: *\nCrawl-delay: 600")}
    async with serving(routes) as site:
        (result,) = await crawl(site)
        assert isinstance(result, FinishedPage)
        assert "asks for 600 s" in result.reason


async def test_noindex_and_nofollow_are_respected() -> None:
    nofollow = '<meta name="robots" content="NOFOLLOW">'
    routes: dict[str, Route] = {
        "/": page("Home", links("/no", "/header", "/ends")),
        "/no": page("No", links("/a"), '<meta content="noindex" name="Robots">'),
        "/header": page("Header", headers={"X-Robots-Tag": "otherbot: nofollow, noindex"}),
        "/ends": page("Ends", links("/never"), nofollow),
        "/a": page("A"),
        "/never": page("Never"),
    }
    routes["/none"] = page("None", headers={"X-Robots-Tag": "noindex"})
    routes["/"] = page("Home", links("/no", "/header", "/ends", "/none"))
    async with serving(routes) as site:
        results = await crawl(site)
        assert planned(results, site) == ["/", "/header", "/ends", "/a"]
        assert set(reasons(results, site)) == {"/no", "/none"}
