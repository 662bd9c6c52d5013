"""A feed as a source: RSS and Atom, what fell out of it, and what was taken out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.known_entries import synced, unchanged
from tests.support.web_site import Answer, Route, Website, page, serving

Check = Callable[[Website], None]

RSS = """<?xml version="1.0"?><rss version="2.0"><channel>
<title>News</title>{items}</channel></rss>"""
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
<entry><id>urn:1</id><title>One &amp; two</title><updated>2026-03-01T10:00:00Z</updated>
<author><name>Ada</name></author><category term="ships"/><link href="https://example.com/1"/>
<content type="html">&lt;p&gt;Whole text.&lt;script&gt;x()&lt;/script&gt;&lt;/p&gt;</content>
</entry></feed>"""


def item(day: int, text: str = "", link: str = "") -> str:
    linked = f"<link>{link}</link>" if link else ""
    return (
        f"<item><guid isPermaLink='false'>n{day}</guid><title>Day {day}</title>{linked}"
        f"<pubDate>{day:02} Mar 2026 10:00:00 GMT</pubDate>"
        f"<description>{text or day}</description></item>"
    )


def rss(*items: str) -> Answer:
    text = RSS.format(items="".join(items))
    return Answer(text.encode(), content_type="application/rss+xml; charset=utf-8")


def on_site(routes: dict[str, Route], check: Check) -> None:
    async def run() -> None:
        async with serving(routes) as site:
            await asyncio.to_thread(check, site)

    asyncio.run(run())


@contextmanager
def opened(site: Website, **options: Any) -> Iterator[Connector]:
    source = open_source("feed", site.url("/feed"), options, {})
    try:
        yield source
    finally:
        source.close()


def listing(site: Website, before: Iterable[Entry] = ()) -> dict[str, Entry]:
    with opened(site) as source:
        return synced(source, before)


def test_an_entry_of_atom_is_a_page_with_what_the_feed_says_of_it() -> None:
    def check(site: Website) -> None:
        with opened(site) as source:
            (entry,) = source.entries()
            text = source.read(entry).decode()
        assert (entry.key, entry.name) == ("urn:1", "One & two.html")
        assert entry.modified == datetime(2026, 3, 1, 10, tzinfo=UTC)
        assert entry.url == "https://example.com/1"
        assert entry.metadata == {"author": "Ada", "feed": "Log", "categories": ["ships"]}
        assert "<h1>One &amp; two</h1>" in text and "Whole text." in text and "x()" not in text

    on_site({"/feed": Answer(ATOM.encode(), content_type="application/atom+xml")}, check)


def test_what_changed_alone_is_read() -> None:
    routes: dict[str, Route] = {"/feed": rss(item(2), item(1))}

    def check(site: Website) -> None:
        before = listing(site)
        routes["/feed"] = rss(item(3), item(2, "other"), item(1))
        again = listing(site, before.values())
        assert {key for key in again if key in before and unchanged(again[key], before[key])} == {
            "n1"
        }
        assert set(again) == {"n1", "n2", "n3"}

    on_site(routes, check)


def test_what_grew_old_stays_and_what_was_taken_out_goes() -> None:
    routes: dict[str, Route] = {"/feed": rss(*[item(day) for day in (5, 4, 3, 2, 1)])}

    def check(site: Website) -> None:
        before = listing(site)
        routes["/feed"] = rss(item(6), item(5), item(3))  # 4 was taken out, 1 and 2 grew old
        with opened(site) as source:
            again = synced(source, before.values())
            assert set(again) == {"n6", "n5", "n3", "n2", "n1"}
            assert unchanged(again["n1"], before["n1"])
            assert not source.is_there("n4") and source.is_there("n1")

    on_site(routes, check)


def test_an_entry_that_was_taken_out_stays_while_its_page_answers() -> None:
    routes: dict[str, Route] = {}

    def check(site: Website) -> None:
        routes["/2"] = page("Two")
        routes["/feed"] = rss(item(3), item(2, link=site.url("/2")), item(1))
        before = listing(site)
        routes["/feed"] = rss(item(3), item(1))
        assert "n2" in listing(site, before.values())
        routes["/2"] = Answer(status=410)
        assert "n2" not in listing(site, before.values())

    on_site(routes, check)


def test_the_pages_of_a_feed_are_its_documents_where_that_is_wanted() -> None:
    routes: dict[str, Route] = {"/1": page("The whole story")}

    def check(site: Website) -> None:
        routes["/feed"] = rss(item(1, link=site.url("/1")), item(2, link=site.url("/2")))
        with opened(site, pages=True) as source:
            entries = {entry.key: entry for entry in source.entries()}
            assert b"The whole story" in source.read(entries["n1"])
            with pytest.raises(EntryGone):
                source.read(entries["n2"])

    on_site(routes, check)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (page("No feed"), "is no feed"),
        (Answer(status=403), "answered 403"),
        (Answer(rss(item(1), item(2)).body[:-90], content_type="text/xml"), "is damaged"),
    ],
)
def test_a_feed_that_is_none_or_cut_off_ends_the_listing(answer: Answer, told: str) -> None:
    def check(site: Website) -> None:
        with opened(site) as source, pytest.raises(SourceError, match=told):
            list(source.entries())

    on_site({"/feed": answer}, check)


def test_a_feed_of_the_network_is_refused_to_those_who_may_not() -> None:
    def check(site: Website) -> None:
        with opened(site, allow_hosts=()) as source, pytest.raises(SourceError, match="loopback"):
            list(source.entries())

    on_site({"/feed": rss(item(1))}, check)
