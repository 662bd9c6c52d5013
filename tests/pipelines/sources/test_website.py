"""A website as a source: what is asked for again, what is gone, and what only looks gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.known_entries import synced, unchanged
from tests.support.web_site import Answer, Route, Website, links, page, redirect, serving, sitemap

Check = Callable[[Website], None]


def on_site(routes: dict[str, Route], check: Check) -> None:
    """Serve ``routes`` while ``check``, which blocks, runs in a thread of its own."""

    async def run() -> None:
        async with serving(routes) as site:
            await asyncio.to_thread(check, site)

    asyncio.run(run())


@contextmanager
def opened(site: Website, path: str = "/", **options: Any) -> Iterator[Connector]:
    source = open_source("web", site.url(path), {"delay_ms": 0, **options}, {})
    try:
        yield source
    finally:
        source.close()


def listing(site: Website, before: Iterable[Entry] = (), **options: Any) -> dict[str, Entry]:
    with opened(site, **options) as source:
        return {key.removeprefix(site.url("")): e for key, e in synced(source, before).items()}


def _site() -> dict[str, Route]:
    return {
        "/": page("Home", links("/a", "/b/"), etag='"1"'),
        "/a": page("A", etag='"1"'),
        "/b/": page("B", last_modified="Mon, 02 Nov 2026 10:00:00 GMT"),
    }


def test_pages_are_named_so_that_they_are_read_as_html() -> None:
    def check(site: Website) -> None:
        found = listing(site)
        assert {key: entry.name for key, entry in found.items()} == {
            "/": f"{site.host}.html",
            "/a": "a.html",
            "/b/": "b.html",
        }
        assert found["/a"].url == site.url("/a")

    on_site(_site(), check)


def test_what_did_not_change_is_asked_for_with_a_condition_and_not_read() -> None:
    def check(site: Website) -> None:
        before = listing(site)
        site.seen.clear()
        again = listing(site, before.values())
        assert all(unchanged(again[key], before[key]) for key in before) and len(again) == 3
        conditions = {"if-none-match", "if-modified-since"}
        asked = [seen for seen in site.seen if seen.path in before]
        assert len(asked) == 3 and all(conditions & set(seen.headers) for seen in asked)

    on_site(_site(), check)


def test_a_changed_page_is_had_once_and_read_from_the_listing() -> None:
    routes = _site()

    def check(site: Website) -> None:
        before = listing(site)
        routes["/a"] = page("A", "New.", etag='"2"')
        site.seen.clear()
        with opened(site) as source:
            again = synced(source, before.values())
            changed = [e for e in again.values() if not unchanged(e, before[_path(e, site)])]
            assert [entry.url for entry in changed] == [site.url("/a")]
            assert b"New." in source.read(changed[0])
        assert site.paths.count("/a") == 1

    on_site(routes, check)


def _path(entry: Entry, site: Website) -> str:
    return entry.key.removeprefix(site.url(""))


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_is_gone_where_the_site_says_so(status: int) -> None:
    routes = _site()

    def check(site: Website) -> None:
        before = listing(site)
        routes["/a"] = Answer(status=status)
        with opened(site) as source:
            again = synced(source, before.values())
            assert site.url("/a") not in again and len(again) == 2
            assert not source.is_there(site.url("/a")) and source.is_there(site.url("/b/"))
            with pytest.raises(EntryGone):
                source.read(Entry(site.url("/a"), url=site.url("/a")))

    on_site(routes, check)


def test_a_page_that_nothing_names_any_more_stays_while_it_answers() -> None:
    routes = _site()

    def check(site: Website) -> None:
        before = listing(site)
        routes["/"] = page("Home", links("/b/"), etag='"2"')
        again = listing(site, before.values())
        assert unchanged(again["/a"], before["/a"])
        routes["/a"] = Answer(status=410)
        assert set(listing(site, again.values())) == {"/", "/b/"}

    on_site(routes, check)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(status=403), "the site answered 403"),
        (Answer(status=500), "the site answered 500"),
        (redirect("/login"), "redirects"),
    ],
)
def test_what_may_not_be_read_any_more_is_no_page_that_is_gone(answer: Answer, told: str) -> None:
    routes = _site() | {"/login": page("Sign in", etag='"l"')}

    def check(site: Website) -> None:
        before = listing(site)
        routes["/a"] = answer
        with opened(site, prefix="/") as source:
            again = synced(source, before.values())
            entry = again.get(site.url("/a"))
            assert entry is not None and source.is_there(entry.key)
            with pytest.raises(SourceError, match=told):
                source.read(entry)

    on_site(routes, check)


def test_a_page_that_moved_for_good_is_gone_from_where_it_was() -> None:
    routes = _site()

    def check(site: Website) -> None:
        before = listing(site)
        routes["/a"] = redirect("/new", 301)
        routes["/new"] = page("A", etag='"1"')
        with opened(site) as source:
            again = synced(source, before.values())
            assert site.url("/new") in again and site.url("/a") not in again
            assert not source.is_there(site.url("/a"))
            body = routes["/new"]
            assert isinstance(body, Answer)
            assert source.read(again[site.url("/new")]) == body.body

    on_site(routes, check)


def test_a_page_that_asks_not_to_be_indexed_goes() -> None:
    routes = _site()

    def check(site: Website) -> None:
        before = listing(site)
        routes["/a"] = page("A", head='<meta name="robots" content="noindex">', etag='"9"')
        assert set(listing(site, before.values())) == {"/", "/b/"}

    on_site(routes, check)


def test_a_site_that_is_away_lists_nothing_as_gone() -> None:
    kept: list[Entry] = []
    where: list[Website] = []

    def check(site: Website) -> None:
        kept.extend(listing(site).values())
        where.append(site)

    on_site(_site(), check)
    with opened(where[0]) as source, pytest.raises(SourceError, match="cannot be reached"):
        synced(source, kept)


def test_a_listing_that_stopped_early_says_so() -> None:
    routes = {f"/{n}": page(str(n)) for n in range(5)} | {
        "/": page("Home"),
        "/sitemap.xml": sitemap(*[f"/{n}" for n in range(5)]),
    }

    def check(site: Website) -> None:
        listed: list[str] = []
        with opened(site, pages=3) as source, pytest.raises(SourceError, match="stopped at 3"):
            listed.extend(entry.key for entry in source.entries())
        with opened(site, pages=3) as source:
            found = source.entries()
            assert [next(found).key for _ in range(3)]

    on_site(dict(routes), check)


def test_a_site_of_the_network_is_opened_by_those_who_may() -> None:
    def check(site: Website) -> None:
        with opened(site, allow_hosts=()) as source, pytest.raises(SourceError, match="loopback"):
            list(source.entries())
        with opened(site, allow_hosts=(site.host,)) as source:
            assert len(list(source.entries())) == 3

    on_site(_site(), check)


def test_a_site_does_not_lead_into_the_network_even_for_whoever_runs_the_server() -> None:
    def check(site: Website) -> None:
        other = f"http://localhost:{site.port}/a"
        routes["/a"] = redirect(other)
        with opened(site) as source:
            assert {_path(entry, site) for entry in source.entries()} == {"/", "/b/"}

    routes = _site()
    on_site(routes, check)
