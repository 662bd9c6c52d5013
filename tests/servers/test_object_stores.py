"""Buckets of Azure and Google as sources: what changes, and what only looks gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipelines.sources import buckets
from pipelines.sources.base import Connector, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.bucket import refusing
from tests.support.known_entries import synced, unchanged
from tests.support.object_stores import ObjectStore, azure, cut_in_half, google

pytestmark = pytest.mark.servers

KEYS = ("docs/one.md", "docs/deep/two ü.md", "docs/deep/.hidden.md", "other/three.md")


@pytest.fixture(params=[azure, google])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    monkeypatch.setitem(buckets._RETRIES, "max_retries", 1)  # patience is obstore's own
    with request.param() as running:
        for key in KEYS:
            running.put(key, key.encode())
        yield running


def opened(store: ObjectStore, below: str = "", **options: str) -> Connector:
    given = {"endpoint": store.endpoint, **store.options, **options}
    return open_source("bucket", f"{store.address}{below}", given, {"key": store.key})


def nothing_is_told_gone(source: Connector) -> None:
    for ask in (lambda: list(source.entries()), lambda: source.is_there("docs/one.md")):
        with pytest.raises(SourceError):
            ask()


def test_objects_below_the_prefix_are_listed_with_all_that_is_compared(store: ObjectStore) -> None:
    source = opened(store, "/docs")
    found = synced(source)
    assert set(found) == {"one.md", "deep/two ü.md"}
    assert all(entry.etag and entry.size and entry.modified for entry in found.values())
    assert source.read(found["deep/two ü.md"]).decode() == KEYS[1]


def test_what_is_added_changed_moved_and_removed_is_told(store: ObjectStore) -> None:
    before = synced(opened(store))
    store.put("docs/one.md", b"Uno.")
    store.put("docs/new.md", b"New.")
    store.put("moved/three.md", b"other/three.md")
    store.delete("other/three.md")
    source = opened(store)
    again = synced(source)
    assert set(again) == {"docs/one.md", "docs/new.md", "docs/deep/two ü.md", "moved/three.md"}
    assert unchanged(again["docs/deep/two ü.md"], before["docs/deep/two ü.md"])
    assert not unchanged(again["docs/one.md"], before["docs/one.md"])
    assert source.read(again["moved/three.md"]) == b"other/three.md"
    assert not source.is_there("other/three.md") and source.is_there("docs/one.md")
    with pytest.raises(EntryGone):
        source.read(before["other/three.md"])


def test_a_bucket_that_is_not_there_says_nothing_of_its_objects(store: ObjectStore) -> None:
    given = {"endpoint": store.endpoint, **store.options}
    source = open_source("bucket", f"{store.address}other", given, {"key": store.key})
    told = "there is no bucket" if store.options else None  # fake-gcs-server says 500, Google 404
    with pytest.raises(SourceError, match=told):
        list(source.entries())
    nothing_is_told_gone(source)


def test_half_a_listing_is_none(store: ObjectStore) -> None:
    with cut_in_half(store.server) as server, pytest.raises(SourceError):
        list(opened(store, endpoint=f"{server}{store.path}").entries())
    assert len(synced(opened(store))) == len(KEYS) - 1


def test_a_server_that_refuses_says_nothing_of_its_objects(store: ObjectStore) -> None:
    with refusing() as server:
        nothing_is_told_gone(opened(store, endpoint=f"{server}{store.path}"))


def test_a_server_that_goes_says_nothing_of_its_objects(store: ObjectStore) -> None:
    source = opened(store)
    assert synced(source)
    store.stop()
    nothing_is_told_gone(source)
    with pytest.raises(SourceError, match="does not answer"):
        list(opened(store).entries())


def test_a_key_that_is_another_is_told_without_it() -> None:
    with azure() as store:
        store.put("one.md", b"One.")
        store.key = f"x{store.key[1:]}"
        with pytest.raises(SourceError, match="refuses: check the key") as caught:
            list(opened(store).entries())
        assert store.key not in str(caught.value)
