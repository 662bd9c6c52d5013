"""Readers of Nextcloud's files, by its shares: against WsgiDAV with Nextcloud's properties."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helix.library.source_secrets import seal
from pipelines.sources.base import Connector
from pipelines.sources.stored_source import open_source
from tests.support.dav_server import PASSWORD, DavServer, dav_server
from tests.support.ingest_command import become_a_user
from tests.support.known_entries import synced, unchanged
from tests.support.synced_source import SyncedSource, spaces_named
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

pytestmark = pytest.mark.servers

USER, GROUP, LINK, MAIL, DECK = 0, 1, 3, 4, 12


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DavServer]:
    """Nextcloud with the files of anna, of which a source takes ``/files/anna/Team/Handbook``."""
    handbook = tmp_path / "cloud" / "files" / "anna" / "Team" / "Handbook"
    (handbook / "Board ü").mkdir(parents=True)
    (handbook / "one.md").write_text("The pump is red.")
    (handbook / "Board ü" / "two.md").write_text("The pump is dear.")
    for file in handbook.rglob("*.md"):
        os.utime(file, (1_700_000_000,) * 2)  # what was just changed may change within its second
    with dav_server(tmp_path / "cloud") as running:
        running.owned = "/files/anna/"
        yield running


ROOT = "/files/anna/Team/Handbook"


@contextmanager
def opened(server: DavServer, **options: Any) -> Iterator[Connector]:
    address = server.address.rstrip("/") + ROOT
    source = open_source("webdav", address, options, {"password": PASSWORD})
    try:
        yield source
    finally:
        source.close()


def readers(server: DavServer) -> dict[str, tuple[str, ...] | None]:
    with opened(server, permissions=True) as source:
        return {key: entry.readers for key, entry in synced(source).items()}


def test_a_share_holds_for_what_it_was_made_of_and_all_below(server: DavServer) -> None:
    server.shares = {
        f"{ROOT}/Board ü": [(GROUP, "board"), (USER, "bob")],
        f"{ROOT}/Board ü/two.md": [(MAIL, "x@example.com"), (DECK, "7")],
        f"{ROOT}/one.md": [(LINK, "its password")],
    }
    assert readers(server) == {
        "one.md": ("link", "person:anna"),
        "Board ü/two.md": ("group:board", "mail:x@example.com", "person:anna", "person:bob"),
    }


def test_shares_of_the_folder_itself_and_of_those_above_it_count(server: DavServer) -> None:
    server.shares = {ROOT: [(GROUP, "crew")], "/files/anna/Team": [(USER, "carl")]}
    for found in readers(server).values():
        assert found == ("group:crew", "person:anna", "person:carl")
    # the folder and those above it, up to what is no user's; then a listing a folder
    asked = [each.rpartition("/files")[2].strip("/") for each in server.requests]
    assert asked[:5] == ["anna/Team/Handbook", "anna/Team", "anna", "", "anna/Team/Handbook"]
    assert len(asked) == 6


def test_a_server_that_has_no_such_properties_tells_nothing(server: DavServer) -> None:
    server.owned = ""
    assert readers(server) == {"one.md": None, "Board ü/two.md": None}


def test_only_who_asks_for_permissions_is_told(server: DavServer) -> None:
    with opened(server) as source:
        plain = synced(source)
    assert {entry.readers for entry in plain.values()} == {None}
    assert len(server.requests) == 2
    with opened(server, permissions=True) as source:
        told = synced(source)
        assert all(unchanged(told[key], plain[key]) for key in plain)
        assert source.read(told["one.md"]) == b"The pump is red."


def test_a_folder_that_does_not_answer_tells_of_no_other(server: DavServer) -> None:
    server.shares = {ROOT: [(GROUP, "crew")]}
    server.refused["/files/anna/Team/Handbook/Board"] = 403
    with opened(server, permissions=True) as source:
        first = next(source.entries())
        assert (first.key, first.readers) == ("one.md", ("group:crew", "person:anna"))
    server.refused = {ROOT: 500}
    with opened(server, permissions=True) as source, pytest.raises(Exception, match="be listed"):
        next(source.entries())


def test_a_share_that_is_ended_is_followed_and_no_byte_is_read(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, server: DavServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    crew, board = spaces_named(durable_database_url, "Crew", "Board")
    server.shares = {ROOT: [(GROUP, "crew")], f"{ROOT}/Board ü": [(GROUP, "board")]}
    sealed = seal(settings(durable_database_url), {"password": PASSWORD})
    source = SyncedSource(
        durable_database_url, "webdav", server.address.rstrip("/") + ROOT, secrets=sealed,
        options={"permissions": True}, group_map={"group:crew": [crew], "group:board": [board]},
    )  # fmt: skip
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"one.md": [crew], "Board ü/two.md": sorted([crew, board])}
    before, chunks = source.documents(), source.chunks()

    server.requests.clear()
    server.shares[ROOT] = []
    server.shares[f"{ROOT}/one.md"] = [(USER, "bob")]  # whom nobody mapped
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"Board ü/two.md": [board]}
    assert not [each for each in server.requests if "GET" in each]

    server.shares[ROOT] = [(GROUP, "crew")]
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"one.md": [crew], "Board ü/two.md": sorted([crew, board])}
    assert source.documents()["Board ü/two.md"] == before["Board ü/two.md"]
    assert set(chunks) & set(source.chunks())
