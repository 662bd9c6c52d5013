"""WebDAV and other protocols of fsspec as sources, against WsgiDAV and fsspec's own memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pytest

from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.dav_server import PASSWORD, DavServer, dav_server
from tests.support.known_entries import synced, unchanged


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DavServer]:
    folder = tmp_path / "shared"
    (folder / "Guides & more" / "deep").mkdir(parents=True)
    (folder / "one.md").write_text("One.")
    (folder / ".hidden.md").write_text("x")
    (folder / "Guides & more" / "zwei ü.md").write_text("Two.")
    (folder / "Guides & more" / "deep" / "three.md").write_text("Three.")
    with dav_server(folder) as running:
        yield running


@contextmanager
def opened(server: DavServer, password: str = PASSWORD, **options: Any) -> Iterator[Connector]:
    source = open_source("webdav", server.address, options, {"password": password})
    try:
        yield source
    finally:
        source.close()


def listing(server: DavServer) -> dict[str, Entry]:
    with opened(server) as source:
        return synced(source)


KEYS = {"one.md", "Guides & more/zwei ü.md", "Guides & more/deep/three.md"}


def test_files_are_listed_by_their_path_and_read(server: DavServer) -> None:
    with opened(server) as source:
        found = synced(source)
        assert set(found) == KEYS
        assert all(e.etag and e.modified and e.modified.tzinfo for e in found.values())
        assert {source.read(entry) for entry in found.values()} == {b"One.", b"Two.", b"Three."}


def test_a_listing_without_changes_costs_a_request_a_folder(server: DavServer) -> None:
    before = listing(server)
    server.requests.clear()
    again = listing(server)
    assert all(unchanged(again[key], before[key]) for key in KEYS)
    assert len(server.requests) == 3 and all("PROPFIND" in each for each in server.requests)


def test_what_is_added_changed_moved_and_removed_is_told(server: DavServer) -> None:
    before = listing(server)
    (server.folder / "new.md").write_text("New.")
    (server.folder / "one.md").write_text("Uno.")
    os.utime(server.folder / "one.md", (time.time() + 5, time.time() + 5))
    (server.folder / "Guides & more").rename(server.folder / "Guides")
    (server.folder / "Guides" / "zwei ü.md").unlink()
    with opened(server) as source:
        again = synced(source)
        assert set(again) == {"one.md", "new.md", "Guides/deep/three.md"}
        assert not unchanged(again["one.md"], before["one.md"])
        assert not source.is_there("Guides & more/zwei ü.md") and source.is_there("one.md")
        with pytest.raises(EntryGone):
            source.read(before["Guides & more/zwei ü.md"])


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_folder_that_does_not_answer_makes_the_listing_incomplete(
    server: DavServer, status: int
) -> None:
    server.refused["/Guides & more/deep"] = status
    listed: list[str] = []
    with opened(server) as source:
        with pytest.raises(SourceError, match="cannot be listed: Guides & more/deep/"):
            listed.extend(entry.key for entry in source.entries())
        entries = source.entries()
        assert {next(entries).key, next(entries).key} == KEYS - {"Guides & more/deep/three.md"}
        with pytest.raises(SourceError):
            source.is_there("Guides & more/deep/three.md")


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_where_the_whole_is_away_nothing_is_gone(server: DavServer, status: int) -> None:
    server.refused["/"] = status
    with opened(server) as source:
        with pytest.raises(SourceError, match="cannot be listed"):
            list(source.entries())
        with pytest.raises(SourceError):
            source.is_there("one.md")


def test_a_server_that_is_gone_is_told(server: DavServer) -> None:
    server.stop()
    with opened(server) as source, pytest.raises(SourceError, match=r"cannot be listed.*refused"):
        list(source.entries())


def test_a_wrong_password_is_told_without_it(server: DavServer) -> None:
    with opened(server, "wrong-secret") as source, pytest.raises(SourceError) as caught:
        list(source.entries())
    assert "401" in str(caught.value) and "wrong-secret" not in str(caught.value)


def test_a_server_of_the_network_is_refused_to_those_who_may_not(server: DavServer) -> None:
    with opened(server, allow_hosts=()) as source, pytest.raises(SourceError, match="is loopback"):
        list(source.entries())
    assert server.requests == []
    with opened(server, allow_hosts=("127.0.0.1",)) as source:
        assert set(synced(source)) == KEYS


def test_any_protocol_of_fsspec_is_opened_for_whoever_runs_the_server() -> None:
    files = fsspec.filesystem("memory")
    files.pipe({"/shared/folder/a.md": b"A.", "/shared/.kept": b""})
    source = open_source("fsspec", "memory://shared", {}, {"arguments": "{}"})
    (entry,) = source.entries()
    assert (entry.key, source.read(entry)) == ("folder/a.md", b"A.")
    files.rm("/shared/folder/a.md")
    assert not source.is_there("folder/a.md")
    with pytest.raises(SourceError, match="whoever runs the server"):
        open_source("fsspec", "file:///etc", {"allow_hosts": ()}, {})
    with pytest.raises(SourceError, match="nosuch"):
        open_source("fsspec", "nosuch://x", {}, {})
