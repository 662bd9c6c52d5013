"""Files of Google Drive and their readers: LlamaIndex's reader and Google's client, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httplib2
import pytest

from helix.library.source_secrets import seal
from pipelines.sources.base import Connector, SourceBusy, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.drive_server import Drive, DriveFile, Permission, drive
from tests.support.ingest_command import become_a_user
from tests.support.known_entries import synced, unchanged
from tests.support.synced_source import SyncedSource, spaces_named
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

READER = "llama_index.readers.google:GoogleDriveReader"
OFTEN = 1000


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    with drive(tmp_path) as running:
        running.files = {
            "top": DriveFile("Handbook", None),
            "a": DriveFile("Leave.txt", b"Thirty days of leave.", "top", permissions=[ANNA, CREW]),
            "b": DriveFile("Pay.txt", b"Paid on the first.", "top", permissions=[ANNA, BOARD]),
        }
        monkeypatch.setenv("https_proxy", running.url)
        # what HTTPLIB2_CA_CERTS names when the library is imported
        monkeypatch.setattr(httplib2, "CA_CERTS", str(tmp_path / "drive.pem"))
        yield running


def given(kind: str, **more: Any) -> Permission:
    return {"id": "1", "type": kind, "role": "reader", **more}


ANNA = given("user", emailAddress="anna@example.com") | {"role": "owner"}
CREW = given("group", emailAddress="crew@example.com")
BOARD = given("group", emailAddress="board@example.com")


def arguments(server: Drive, **init: Any) -> str:
    return json.dumps({"init": {"service_account_key": server.account(), **init}})


@contextmanager
def opened(server: Drive, options: dict[str, Any], **init: Any) -> Iterator[Connector]:
    secrets = {"arguments": arguments(server, **({"folder_id": "top"} | init))}
    source = open_source("reader", READER, options, secrets)
    try:
        yield source
    finally:
        source.close()


PERMITTED = {"permissions": True}


def readers(server: Drive, **init: Any) -> dict[str, tuple[str, ...] | None]:
    with opened(server, PERMITTED, **init) as source:
        return {key: entry.readers for key, entry in synced(source).items()}


def test_persons_groups_domains_and_everyone_are_readers(server: Drive) -> None:
    server.files["a"].permissions = [
        ANNA, CREW,
        given("domain", domain="example.com", allowFileDiscovery=True),
        given("domain", domain="example.org", allowFileDiscovery=False),
        given("anyone", allowFileDiscovery=True),
    ]  # fmt: skip
    server.files["b"].permissions = [given("anyone", allowFileDiscovery=False)]
    assert readers(server) == {
        "a": (
            "domain:example.com", "everyone", "group:crew@example.com", "link:example.org",
            "person:anna@example.com",
        ),
        "b": ("link",),
    }  # fmt: skip
    pages = [each for each in server.asked if "/files/a/permissions" in each]
    assert len(pages) == 3  # of two permissions each


NOBODYS = [
    given("user", emailAddress="gone@example.com", deleted=True),
    given("user", emailAddress="seen@example.com", view="metadata"),
    given("anyone", view="published") | {"role": "publishedReader"},
    given("anyone") | {"role": "of tomorrow"},
    given("group"),
    given("domain", allowFileDiscovery=True),
    given("of tomorrow", emailAddress="x@example.com"),
    {},
]


def test_a_permission_that_names_nobody_who_may_read_lets_nobody_in(server: Drive) -> None:
    server.files["a"].permissions = NOBODYS
    assert readers(server)["a"] == ()


def test_a_shared_drive_is_listed_with_the_members_that_it_hands_down(server: Drive) -> None:
    inherited = [{"permissionType": "member", "inherited": True}]
    crew = CREW | {"permissionDetails": inherited}
    server.files = {
        "shared": DriveFile("Drive", None, "", "shared"),
        "d": DriveFile("2026", None, "shared", "shared"),
        **{
            str(n): DriveFile(f"Plan {n}.txt", b"A plan.", "d", "shared", [crew]) for n in range(5)
        },
        "old": DriveFile("Old.txt", b"An old plan.", "d", "shared", [crew], trashed=True),
        "other": DriveFile("Other.txt", b"Of another.", "shared", "another", [crew]),
    }  # fmt: skip
    found = readers(server, drive_id="shared", folder_id="shared")
    assert found == dict.fromkeys("01234", ("group:crew@example.com",))


def test_a_permission_that_comes_or_goes_is_told_and_the_file_is_not_read(server: Drive) -> None:
    with opened(server, PERMITTED) as source:
        before = synced(source)
        server.files["a"].permissions = [ANNA, BOARD]
        again = synced(source)
        assert (before["a"].readers, again["a"].readers) == (
            ("group:crew@example.com", "person:anna@example.com"),
            ("group:board@example.com", "person:anna@example.com"),
        )
        assert all(unchanged(again[key], before[key]) for key in before)
        assert not any("alt=media" in each for each in server.asked)
        assert source.read(again["a"]) == b"Thirty days of leave."


def test_a_file_is_called_as_in_drive_and_opens_there(server: Drive) -> None:
    with opened(server, {}) as source:
        entry = synced(source)["a"]
        assert (entry.name, entry.readers) == ("Leave.txt.md", None)
        assert entry.url == "https://drive.google.com/file/d/a/view"
        assert entry.modified == datetime(2026, 3, 2, 10, tzinfo=UTC)
        assert not any("/permissions" in each for each in server.asked)
        del server.files["b"]
        assert source.is_there("a") and not source.is_there("b")


@pytest.mark.parametrize(
    "refused", [(403, "insufficientFilePermissions", OFTEN), (404, "notFound", OFTEN)]
)
def test_a_file_whose_permissions_are_not_shown_is_nobodys(
    server: Drive, refused: tuple[int, str, int]
) -> None:
    server.refused["files/a/permissions"] = refused
    found = readers(server)
    assert (found["a"], found["b"]) == ((), ("group:board@example.com", "person:anna@example.com"))


def test_permissions_of_which_a_later_page_is_refused_are_nobodys(server: Drive) -> None:
    server.files["a"].permissions = [ANNA, CREW, BOARD]
    server.refused["files/a/permissions 2"] = (403, "insufficientFilePermissions", OFTEN)
    assert readers(server)["a"] == ()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("files", "insufficientFilePermissions"),
        ("files/a", "insufficientFilePermissions"),
        ("files/b/permissions", "insufficientPermissions"),
        ("files/b/permissions", "accessNotConfigured"),
    ],
)
def test_drive_that_refuses_more_than_a_file_lists_nothing_as_gone(
    server: Drive, path: str, reason: str
) -> None:
    server.refused[path] = (403, reason, OFTEN)
    with opened(server, PERMITTED) as source:
        with pytest.raises(SourceError, match="403"):
            synced(source)
        if path == "files":
            with pytest.raises(SourceError):
                source.is_there("a")


def test_drive_that_is_busy_is_asked_again(server: Drive) -> None:
    server.refused["files/a/permissions"] = (403, "userRateLimitExceeded", 1)
    server.refused["files/b/permissions"] = (429, "rateLimitExceeded", 1)
    assert readers(server) == {
        "a": ("group:crew@example.com", "person:anna@example.com"),
        "b": ("group:board@example.com", "person:anna@example.com"),
    }
    server.refused["files/a"] = (429, "rateLimitExceeded", 1)
    with opened(server, PERMITTED) as source, pytest.raises(SourceBusy):
        synced(source)


def test_a_file_that_cannot_be_fetched_is_not_an_empty_one(server: Drive) -> None:
    with opened(server, PERMITTED) as source:
        entry = synced(source)["a"]
        server.refused["files/a"] = (403, "cannotDownloadFile", OFTEN)
        with pytest.raises(SourceError, match="cannotDownloadFile"):
            source.read(entry)


@pytest.mark.parametrize("options", [{}, PERMITTED])
def test_a_sign_in_that_nobody_could_end_is_refused(server: Drive, options: dict[str, Any]) -> None:
    app = {"installed": {"client_id": "a", "client_secret": "b", "auth_uri": "https://a.example",
                         "token_uri": "https://t.example"}}  # fmt: skip
    secrets = {"arguments": json.dumps({"init": {"client_config": app, "folder_id": "top"}})}
    with pytest.raises(SourceError, match="nobody can where it runs"):
        synced(open_source("reader", READER, options, secrets))


def test_who_loses_a_permission_loses_the_document_at_the_next_sync(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, server: Drive,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    crew, board = spaces_named(durable_database_url, "Crew", "Board")
    told = arguments(server, folder_id="top")
    source = SyncedSource(
        durable_database_url, "reader", READER, options=PERMITTED,
        secrets=seal(settings(durable_database_url), {"arguments": told}),
        group_map={"group:crew@example.com": [crew], "group:board@example.com": [board]},
    )  # fmt: skip
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"a": [crew], "b": [board]}
    before, requests = source.documents(), len(wire.requests)
    server.files["a"].permissions = [ANNA, BOARD]
    server.refused["files/b/permissions"] = (403, "insufficientFilePermissions", OFTEN)
    server.asked.clear()
    assert source.sync()["last_error"] == ""
    assert (source.spaces(), source.documents()) == ({"a": [board]}, {"a": before["a"]})
    assert len(wire.requests) == requests  # nothing was embedded
    assert not any("alt=media" in each for each in server.asked)
