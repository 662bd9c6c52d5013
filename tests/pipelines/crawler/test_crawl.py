"""The crawler against a site on loopback: what it asks for, what it leaves, what it reports."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from pipelines.crawler.plan import import_url, plan_crawl
from pipelines.crawler.results import FinishedPage, PageToRead
from tests.support import web_site as web
from tests.support.crawls import crawl, planned, reasons
from tests.support.web_site import (
    LIMITS,
    Answer,
    Route,
    Seen,
    links,
    nothing,
    options_of,
    page,
    redirect,
    serving,
    stored_of,
)

PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"


# the whole


async def test_links_under_the_prefix_are_followed_and_nothing_else() -> None:
    there = ["guide.html", "/docs/b/", "/docs-old/", "/blog/", "https://example.com/docs/", "#top"]
    routes: dict[str, Route] = {
        "/docs/": page("Docs", links(*there, "/docs/?utm_source=x", "mailto:a@b", "logo.png")),
        "/docs/guide.html": page("Guide", links("b/index.html", "/docs/missing", "c#part")),
        "/docs/b/": page("B", links("../guide.html#x", "/docs/broken")),
        "/docs/c": page("C"),
        "/docs/broken": Answer(status=500),
        "/blog/": page("Blog"),
        "/docs-old/": page("Old"),
    }
    async with serving(routes) as site:
        results = await crawl(site, "/docs/")
        assert planned(results, site) == ["/docs/", "/docs/guide.html", "/docs/b/", "/docs/c"]
        assert reasons(results, site) == {
            "/docs/missing": "the site answered 404",
            "/docs/broken": "the site answered 500",
        }
        assert all(isinstance(r, FinishedPage) for r in results if not isinstance(r, PageToRead))
        assert len(site.paths) == len(set(site.paths)) == 6  # each once
        first = results[0]
        assert isinstance(first, PageToRead)
        assert (first.media, first.title) == ("html", None)
        assert first.data == routes["/docs/"].body  # type: ignore[union-attr]
        assert first.origin["url"] == site.url("/docs/")
        assert site.seen[0].headers["user-agent"].startswith("HelixBot/")


async def test_a_sitemap_lists_the_pages() -> None:
    async with serving() as site:
        more = [site.url(f"/docs/{n}") for n in range(3)]
        site.routes |= {
            "/robots.txt": web.text(f"Sitemap: {site.url('/maps/index.xml')}"),
            "/maps/index.xml": web.sitemap(site.url("/maps/a.xml.gz"), "/maps/bad.xml", index=True),
            "/maps/a.xml.gz": web.sitemap(*more, site.url("/other"), packed=True),
            "/maps/bad.xml": web.text("<oops"),
            "/docs/": page("Docs", links("/docs/unlisted")),
            "/docs/unlisted": page("Unlisted"),
        }
        site.routes |= {f"/docs/{n}": page(f"Page {n}") for n in range(3)}
        results = await crawl(site, "/docs/")
        assert planned(results, site) == ["/docs/", "/docs/0", "/docs/1", "/docs/2"]
        assert "/other" not in site.paths


async def test_pages_and_depth_are_limited() -> None:
    chain: dict[str, Route] = {
        f"/{n}": page(f"Page {n}", links(f"/{n + 1}", f"/{n}/side")) for n in range(9)
    }
    chain |= {f"/{n}/side": page(f"Side {n}") for n in range(9)}
    async with serving({**chain, "/": page("Home", links("/0"))}) as site:
        deep = await crawl(site, depth=2)
        assert planned(deep, site) == ["/", "/0", "/1", "/0/side"]
        few = await crawl(site, pages=3)
        assert planned(few, site) == ["/", "/0", "/1"]
        assert "stopped at 3 pages, 3 more are known" in reasons(few, site)["/"]
        assert planned(await crawl(site, pages=1), site) == ["/"]
        assert planned(await crawl(site, depth=0), site) == ["/"]


async def test_a_trap_of_endless_pages_ends() -> None:
    def trap(seen: Seen) -> Answer:
        return page(seen.path, links(*(f"{seen.path}{n}/" for n in range(50))))

    class Everything(dict[str, Route]):
        def get(self, path: str, default: object = None) -> Route:
            return Answer(status=404) if "." in path else trap

    async with serving(Everything()) as site:
        results = await crawl(site, pages=30)
        assert len(planned(results, site)) == 30
        assert len(site.paths) == 30


# one page, one document


async def test_the_canonical_address_is_the_source() -> None:
    def canonical(url: str) -> str:
        return f"<link rel='canonical' href='{url}'>"

    routes: dict[str, Route] = {
        "/": page("Home", links("/a?print=1", "/b", "/c", "/a", "/d")),
        "/a?print=1": page("A", "printed", canonical("/a")),
        "/a": page("A", "on screen", canonical("/a")),
        "/b": page("B", "", canonical("https://elsewhere.test/b")),
        "/c": page("C", "", canonical("/")),
        "/d": page("D", "", canonical("/stable/d#part")),
    }
    async with serving(routes) as site:
        results = await crawl(site)
        # /c says that it is the home page, and is not: it is kept as itself
        assert planned(results, site) == ["/", "/a", "/b", "/c", "/stable/d"]
        assert "/a" not in site.paths
        origins = [r.origin["url"] for r in results if isinstance(r, PageToRead)]
        assert site.url("/a?print=1") in origins


async def test_a_page_that_failed_is_reported_once() -> None:
    canonical = "<link rel=canonical href=/a>"
    routes: dict[str, Route] = {
        "/": page("Home", links("/a", "/a?x=1", "/b")),
        "/a": Answer(status=500),
        "/a?x=1": page("A", "", canonical),
        "/b": page("B"),
    }
    async with serving(routes) as site:
        results = await crawl(site)
        assert planned(results, site) == ["/", "/a?x=1", "/b"]
        assert reasons(results, site) == {"/a": "the site answered 500"}


async def test_the_same_page_twice_is_one() -> None:
    routes: dict[str, Route] = {
        "/": page("Home", links("/a", "/b", "/index.html", "/go", "/a/")),
        "/a": page("Same"),
        "/b": page("Same"),
        "/a/": page("A slash", "", "<link rel=canonical href=/a>"),
        "/go": redirect("/a"),
    }
    async with serving(routes) as site:
        results = await crawl(site)
        assert planned(results, site) == ["/", "/a"]
        reported = reasons(results, site)
        assert reported["/b"] == f"the same as {site.url('/a')}"
        assert reported["/a/"] == f"the same page as {site.url('/a')}"
        assert "dealt with already" in reported["/go"]
        assert "/index.html" not in site.paths


async def test_the_start_may_lead_to_another_host() -> None:
    async with serving() as site:
        site.routes |= {
            "/": redirect("/en/latest/"),
            "/en/latest/": page("Docs", links("a", "/en/old/")),
            "/en/latest/a": page("A"),
        }
        async with serving({"/": redirect(site.url("/"), 301)}) as old:
            options = options_of(old, allow_hosts=[site.host, old.host])
            results = [r async for r in plan_crawl(options, nothing, limits=LIMITS)]
        assert planned(results, site) == ["/en/latest/", "/en/latest/a"]
        asked = [seen.path for seen in site.seen]
        assert asked.index("/robots.txt") < asked.index("/")  # its own rules first
        assert [seen.path for seen in old.seen] == ["/robots.txt", "/"]


async def test_a_redirect_out_of_the_site_is_not_followed() -> None:
    async with serving({"/x": page("Outside")}) as other:
        routes: dict[str, Route] = {
            "/docs/": page("Docs", links("a", "b")),
            "/docs/a": redirect(other.url("/x")),
            "/docs/b": redirect("/login"),
        }
        async with serving(routes) as site:
            results = await crawl(site, "/docs/", allow_hosts=[site.host, other.host])
            assert planned(results, site) == ["/docs/"]
            assert "/login" not in site.paths
        assert other.connections == 0


async def test_a_redirect_to_a_private_address_fails_by_name_and_the_crawl_goes_on() -> None:
    routes: dict[str, Route] = {
        "/": page("Home", links("/a", "/b")),
        "/a": redirect("http://169.254.169.254/latest/"),
        "/b": page("B"),
    }
    async with serving(routes) as site:
        results = await crawl(site)
        assert planned(results, site) == ["/", "/b"]
        single = await import_url(options_of(site, "/a"), nothing, limits=LIMITS)
        assert isinstance(single, FinishedPage)
        assert single.reason == "refused: 169.254.169.254 is a cloud's metadata service"


async def test_a_crawl_of_a_private_address_is_refused() -> None:
    async with serving({"/": page("Home")}) as site:
        (result,) = await crawl(site, allow_hosts=[])
        assert isinstance(result, FinishedPage)
        assert result.reason.startswith("refused: 127.0.0.1 is loopback: allow it with")
        assert site.connections == 0


async def test_documents_that_are_no_pages_need_a_flag() -> None:
    routes: dict[str, Route] = {
        "/": page("Home", links("a.pdf", "download?id=1", "logo", "tool.exe")),
        "/a.pdf": Answer(PDF, content_type="application/pdf"),
        "/download?id=1": Answer(PDF + b"%", content_type="application/octet-stream"),
        "/logo": Answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 99, content_type="image/png"),
        "/tool.exe": Answer(b"MZ" + b"\0" * 99, content_type="application/octet-stream"),
    }
    async with serving(routes) as site:
        without = await crawl(site)
        assert planned(without, site) == ["/"]
        assert "/a.pdf" not in site.paths
        assert "--files" in reasons(without, site)["/download?id=1"]
        results = await crawl(site, files=True)
        assert planned(results, site) == ["/", "/a.pdf", "/download?id=1"]
        assert [r.media for r in results if isinstance(r, PageToRead)] == ["html", "pdf", "pdf"]
        single = await import_url(options_of(site, "/a.pdf"), nothing, limits=LIMITS)
        assert isinstance(single, PageToRead)
        assert (single.media, single.data) == ("pdf", PDF)


# what did not change


@pytest.mark.parametrize("validator", ["etag", "last_modified", "none"])
async def test_an_unchanged_site_is_settled(validator: str) -> None:
    def marked(title: str, body: str = "") -> Answer:
        modified = formatdate(1e9, usegmt=True) if validator == "last_modified" else ""
        return page(title, body, etag='"1"' * (validator == "etag"), last_modified=modified)

    routes: dict[str, Route] = {
        "/": marked("Home", links("/a", "/b")),
        "/a": marked("A", links("/c")),
        "/b": marked("B"),
        "/c": marked("C"),
    }
    async with serving(routes) as site:
        first = await crawl(site)
        assert len(planned(first, site)) == 4
        site.seen.clear()
        again = await crawl(site, known=stored_of(first))
        assert again == [
            FinishedPage(site.url(path), "unchanged") for path in ("/", "/a", "/b", "/c")
        ]
        conditional = [
            s for s in site.seen if {"if-none-match", "if-modified-since"} & {*s.headers}
        ]
        assert len(conditional) == (0 if validator == "none" else 4)
        site.routes["/b"] = page("B", "new", etag='"2"')
        changed = await crawl(site, known=stored_of(first))
        assert planned(changed, site) == ["/b"]


async def test_a_page_without_its_links_is_asked_for_whole() -> None:
    """A single import does not keep links: a crawl that needs them does not take a 304."""
    routes: dict[str, Route] = {"/": page("Home", links("/a"), etag='"1"'), "/a": page("A")}
    async with serving(routes) as site:
        single = await import_url(options_of(site), nothing, limits=LIMITS)
        known = stored_of([single])
        results = await crawl(site, known=known)
        assert results[0] == FinishedPage(site.url("/"), "unchanged")
        assert planned(results, site) == ["/a"]
        assert await import_url(options_of(site), known, limits=LIMITS) == results[0]
        assert site.seen[-1].headers["if-none-match"] == '"1"'


async def test_a_site_that_goes_away_ends_the_crawl() -> None:
    pages = [f"/{n}" for n in range(30)]
    routes: dict[str, Route] = {path: Answer(cut=True) for path in pages}
    async with serving({**routes, "/": page("Home", links(*pages))}) as site:
        results = await crawl(site)
        assert len(results) == 12
        assert "10 pages in a row did not answer" in reasons(results, site)["/"]
