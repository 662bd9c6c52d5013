"""A git repository over SSH, by OpenSSH's own server on a port of its own."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.sources.base import SourceError
from pipelines.sources.stored_source import open_source
from tests.support.known_entries import synced
from tests.support.ssh_server import SshServer, ssh_server

pytestmark = pytest.mark.servers
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


@pytest.fixture(scope="module")
def server() -> Iterator[SshServer]:
    with ssh_server() as running:
        yield running


@pytest.fixture
def address(server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a repository with one file; the cache is this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "team"
    made.mkdir()
    (made / "a.md").write_text("Crate A holds lanterns.")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        subprocess.run(["git", *WHO, *command], cwd=made, check=True)
    return f"ssh://{pwd.getpwuid(os.getuid()).pw_name}@127.0.0.1:{server.port}{made}"


def _keys(server: SshServer, address: str, host_key: str, **options: object) -> set[str]:
    given = {"host_key": host_key, **options}
    source = open_source("git", address, given, {"private_key": server.key})
    try:
        return set(synced(source))
    finally:
        source.close()


@pytest.mark.parametrize("allow_hosts", [None, ["127.0.0.1"]])
@pytest.mark.parametrize("is_bare", [True, False])
def test_a_machine_is_known_by_its_key_or_by_what_is_scanned(
    server: SshServer, address: str, is_bare: bool, allow_hosts: list[str] | None
) -> None:
    key = server.host_key if is_bare else server.scanned()
    assert _keys(server, address, key, allow_hosts=allow_hosts) == {"a.md"}


def test_a_home_with_a_blank_in_its_name_is_no_other_argument(
    server: SshServer, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my folder").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "my folder"))
    assert _keys(server, address, server.host_key) == {"a.md"}


@pytest.mark.parametrize("host_key", ["", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAA"])
def test_a_machine_whose_key_is_not_given_is_not_spoken_to(
    server: SshServer, address: str, host_key: str
) -> None:
    with pytest.raises(SourceError, match="ssh-keyscan"):
        _keys(server, address, host_key)
