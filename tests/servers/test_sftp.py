"""A folder of OpenSSH's SFTP as a source: what changes, and what only looks gone."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh
import pytest
import sshfs

from helix.library.source_secrets import seal
from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.ingest_command import become_a_user
from tests.support.known_entries import synced, unchanged
from tests.support.ssh_server import SshServer, ssh_server
from tests.support.synced_source import SyncedSource, spaces_named
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

pytestmark = pytest.mark.servers

KEYS = {"one.md", "guides/two ü.md", "guides/deep/three.md"}


@pytest.fixture(scope="module")
def server() -> Iterator[SshServer]:
    with ssh_server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shared" / "guides" / "deep").mkdir(parents=True)
    for key in [*KEYS, ".hidden.md"]:
        (tmp_path / "shared" / key).write_text(key)
    return tmp_path / "shared"


@contextmanager
def opened(server: SshServer, folder: Path, **options: Any) -> Iterator[Connector]:
    given = {"host_key": server.host_key, **options}
    secrets = {"private_key": server.key}
    source = open_source("sftp", server.address(folder), given, secrets)
    try:
        yield source
    finally:
        source.close()


def listing(server: SshServer, folder: Path) -> dict[str, Entry]:
    with opened(server, folder) as source:
        return synced(source)


def test_files_are_listed_by_their_path_and_read(server: SshServer, folder: Path) -> None:
    with opened(server, folder) as source:
        found = synced(source)
        assert set(found) == KEYS
        assert all(e.modified and e.modified.tzinfo and e.size for e in found.values())
        assert {source.read(entry).decode() for entry in found.values()} == KEYS


def test_what_is_added_changed_moved_and_removed_is_told(server: SshServer, folder: Path) -> None:
    before = listing(server, folder)
    (folder / "new.md").write_text("New.")
    (folder / "one.md").write_text("A longer one.")
    (folder / "guides").rename(folder / "manuals")
    (folder / "manuals" / "two ü.md").unlink()
    with opened(server, folder) as source:
        again = synced(source)
        assert set(again) == {"one.md", "new.md", "manuals/deep/three.md"}
        assert not unchanged(again["one.md"], before["one.md"])
        assert source.read(again["manuals/deep/three.md"]) == b"guides/deep/three.md"
        assert source.is_there("one.md") and not source.is_there("guides/two ü.md")
        with pytest.raises(EntryGone):
            source.read(before["guides/two ü.md"])


def test_a_folder_that_may_not_be_read_any_more_is_not_gone(
    server: SshServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(server, folder) as source:
        listed = asyncssh.SFTPClient.scandir
        stat = asyncssh.SFTPClient.stat

        def refusing(call: Any) -> Any:  # root may read whatever a mode says
            def asked(self: Any, path: Any, *args: Any, **more: Any) -> Any:
                if "deep" in str(path):
                    raise asyncssh.SFTPPermissionDenied("Permission denied")
                return call(self, path, *args, **more)

            return asked

        if os.getuid() == 0:
            monkeypatch.setattr(asyncssh.SFTPClient, "scandir", refusing(listed))
            monkeypatch.setattr(asyncssh.SFTPClient, "stat", refusing(stat))
        else:
            (folder / "guides" / "deep").chmod(0)
        entries = source.entries()
        assert {next(entries).key, next(entries).key} == KEYS - {"guides/deep/three.md"}
        with pytest.raises(SourceError, match="cannot be listed: guides/deep/"):
            next(entries)
        with pytest.raises(SourceError, match="Permission"):
            source.is_there("guides/deep/three.md")
        (folder / "guides" / "deep").chmod(0o755)


def test_a_folder_that_is_away_says_nothing_of_its_files(server: SshServer, folder: Path) -> None:
    with opened(server, folder) as source:
        folder.rename(folder.with_name("elsewhere"))
        with pytest.raises(SourceError, match="cannot be listed"):
            list(source.entries())
        with pytest.raises(SourceError):
            source.is_there("one.md")


def test_a_machine_is_known_by_what_is_scanned(server: SshServer, folder: Path) -> None:
    with opened(server, folder, host_key=server.scanned()) as source:
        assert set(synced(source)) == KEYS


def test_what_has_no_key_in_it_is_told(server: SshServer, folder: Path) -> None:
    with pytest.raises(SourceError, match="no key"), opened(server, folder, host_key="SHA256:nO"):
        pass


def test_a_machine_whose_key_is_another_is_not_spoken_to(server: SshServer, folder: Path) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    with pytest.raises(SourceError, match="ssh-keyscan"), opened(server, folder, host_key=other):
        pass


def test_a_key_that_is_not_let_in_is_told_without_it(server: SshServer, folder: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    options = {"host_key": server.host_key}
    with pytest.raises(SourceError, match="does not let you in") as caught:
        open_source("sftp", server.address(folder), options, {"private_key": key})
    assert "PRIVATE" not in str(caught.value)
    with pytest.raises(SourceError, match="does not let you in"):
        open_source("sftp", server.address(folder), options, {"private_key": "no key"})


def test_a_machine_of_the_network_is_refused_to_those_who_may_not(
    server: SshServer, folder: Path
) -> None:
    with pytest.raises(SourceError, match="is loopback"), opened(server, folder, allow_hosts=()):
        pass


def test_a_server_that_goes_in_the_midst_ends_the_listing(folder: Path) -> None:
    with ssh_server() as server, opened(server, folder) as source:
        assert set(synced(source)) == KEYS
        server.stop()
        with pytest.raises(SourceError, match="cannot be listed"):
            list(source.entries())
        with pytest.raises(SourceError):
            source.is_there("one.md")
        with pytest.raises(SourceError, match="does not let you in"), opened(server, folder):
            pass


def readers(server: SshServer, folder: Path) -> dict[str, tuple[str, ...] | None]:
    with opened(server, folder, permissions=True) as source:
        return {key: entry.readers for key, entry in synced(source).items()}


def test_readers_are_told_by_number_and_by_name(server: SshServer, folder: Path) -> None:
    uid, gid = os.getuid(), os.getgid()
    me = (f"person:{uid}", f"person:{pwd.getpwuid(uid).pw_name}")
    mine = (f"group:{gid}", f"group:{grp.getgrgid(gid).gr_name}")
    folder.chmod(0o755)
    for key, mode in {"one.md": 0o644, "guides/two ü.md": 0o640, "guides": 0o755}.items():
        (folder / key).chmod(mode)
    (folder / "guides" / "deep").chmod(0o700)
    before = readers(server, folder)
    assert before == {
        "one.md": (*me, *mine, "everyone"),
        "guides/two ü.md": (*me, *mine),
        "guides/deep/three.md": me,
    }
    assert {entry.readers for entry in listing(server, folder).values()} == {None}


def test_a_right_that_is_taken_away_is_told_and_the_file_is_as_it_was(
    server: SshServer, folder: Path
) -> None:
    folder.chmod(0o755)
    (folder / "one.md").chmod(0o644)
    with opened(server, folder, permissions=True) as source:
        before = synced(source)["one.md"]
    (folder / "one.md").chmod(0o600)
    with opened(server, folder, permissions=True) as source:
        again = synced(source)["one.md"]
    assert "everyone" in (before.readers or ()) and "everyone" not in (again.readers or ())
    assert unchanged(again, before)


def test_a_machine_without_names_tells_numbers(
    server: SshServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.chmod(0o755)
    (folder / "one.md").chmod(0o640)
    asked: list[str] = []

    async def shut(_: Any, path: str, **__: Any) -> bytes:
        asked.append(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(sshfs.SSHFileSystem, "_cat_file", shut)
    found = readers(server, folder)
    assert found["one.md"] == (f"person:{os.getuid()}", f"group:{os.getgid()}")
    assert asked == ["/etc/passwd", "/etc/group"]


def test_who_may_not_read_loses_it_at_the_next_sync(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, server: SshServer, folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    crew, staff = spaces_named(durable_database_url, "Crew", "Staff")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    (folder / "one.md").chmod(0o640)
    source = SyncedSource(
        durable_database_url, "sftp", server.address(folder),
        secrets=seal(settings(durable_database_url), {"private_key": server.key}),
        options={"host_key": server.host_key, "permissions": True},
        group_map={"everyone": [crew], f"group:{os.getgid()}": [staff]},
    )  # fmt: skip
    assert source.sync()["last_error"] == ""
    both = sorted([crew, staff])
    assert source.spaces() == dict.fromkeys(KEYS, both) | {"one.md": [staff]}
    before, requests = source.documents(), len(wire.requests)
    (folder / "one.md").chmod(0o600)
    (folder / "guides" / "deep").chmod(0o750)
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"guides/two ü.md": both, "guides/deep/three.md": [staff]}
    assert source.documents().items() < before.items()
    assert len(wire.requests) == requests  # nothing was embedded
