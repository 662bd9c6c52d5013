"""A website brought in by a sync, and followed: one page changed, one gone, one moved."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.synced_source import SyncedSource
from tests.support.web_site import Answer, Route, Website, links, page, redirect, serving

pytestmark = pytest.mark.processes


@contextmanager
def running(routes: dict[str, Route]) -> Iterator[Website]:
    """A site in a loop of a thread of its own: syncs block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = serving(routes)
    site = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        yield site
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def _page(name: str, etag: str = '"1"') -> Answer:
    return page(
        name, f"The {name} pump is emptied on the first Monday of each month. " * 3, etag=etag
    )


@pytest.mark.usefixtures("folder", "wire")  # an embedder that answers
def test_a_site_is_followed_by_its_validators_and_its_word(database_url: str) -> None:
    names = ["red", "green", "blue", "grey", "pink"]
    routes: dict[str, Route] = {f"/{name}": _page(name) for name in names}
    routes["/"] = page("Pumps", links(*routes), etag='"1"')
    with running(routes) as site:
        source = SyncedSource(database_url, "web", site.url("/"), options={"delay_ms": 0})
        first = source.sync()
        assert first["last_error"] == ""
        before = source.documents()
        assert {key.removeprefix(site.url("/")) for key in before} == {"", *names}
        chunks = source.chunks()

        site.seen.clear()
        assert source.sync()["last_error"] == ""
        assert (source.documents(), source.chunks()) == (before, chunks)
        asked = [seen for seen in site.seen if seen.path.lstrip("/") in names]
        assert len(asked) == 5 and all("if-none-match" in seen.headers for seen in asked)

        routes["/red"] = _page("scarlet", '"2"')
        routes["/green"] = Answer(status=410)
        routes["/blue"] = redirect("/navy", 301)
        routes["/navy"] = _page("blue")
        routes["/grey"] = Answer(status=403)
        assert source.sync()["last_error"] == ""
        after = source.documents()
        assert site.url("/green") not in after and site.url("/grey") in after
        assert after[site.url("/navy")] == before[site.url("/blue")]
        assert after[site.url("/red")] == before[site.url("/red")]
        assert "scarlet" in source.texts()[site.url("/red")]
        assert source.told() == {site.url("/grey"): "the site answered 403"}
