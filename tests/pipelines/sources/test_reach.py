"""Sources that were added over HTTP open what the settings allow, and no more."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from helix.library.sources import Source
from pipelines.sources.base import SourceError
from pipelines.sources.reach import check_reach, hosts_in
from tests.support.worker_runs import settings


def _source(address: str, **given: Any) -> Source:
    return Source("default", 1, "Tried", "folder", address, **given)


def _check(source: Source, **changed: Any) -> None:
    check_reach(source, settings("postgresql://x/y").model_copy(update=changed))


@pytest.mark.parametrize("address", ["http:/etc", "memory://x", "host:path"])
def test_what_names_no_host_that_there_is_is_refused(address: str) -> None:
    with pytest.raises(SourceError, match="there is no host"):
        _check(_source(address))


@pytest.mark.parametrize(
    "address",
    ["http:///127.0.0.1/x", "http://127.0.0.1:9\\@example.com/", "http://127.0.0.1 @example.com/",
     "https://[::1/x"],
)  # fmt: skip
def test_a_host_that_is_another_for_other_programs_is_refused(address: str) -> None:
    for source in (_source(address), _source("s3://bucket", options={"endpoint": address})):
        with pytest.raises(SourceError, match="there is no host"):
            _check(source)


@pytest.mark.parametrize("address", ["/etc", "../etc", "file:///etc"])
def test_a_folder_is_one_of_those_that_are_allowed(tmp_path: Path, address: str) -> None:
    with pytest.raises(SourceError, match="HELIX_SOURCE_FOLDERS"):
        _check(_source(address), source_folders=(str(tmp_path),))
    _check(_source(address, trusted=True))


def test_a_link_out_of_an_allowed_folder_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "in").mkdir()
    _check(_source(str(tmp_path / "in")), source_folders=(str(tmp_path),))
    with pytest.raises(SourceError, match="is in no folder"):
        _check(_source(str(tmp_path / "out")), source_folders=(str(tmp_path),))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://127.0.0.1/repo.git", "127.0.0.1"),
        ("https://[::1]:9000/x", "::1"),
        ("ssh://git@10.0.0.7/repo.git", "10.0.0.7"),
        ("git@192.168.1.4:team/repo.git", "192.168.1.4"),
        ("http://2130706433/", "2130706433"),
        ("http://169.254.169.254/latest", "169.254.169.254"),
    ],
)
def test_a_private_host_is_refused_unless_it_is_named(address: str, host: str) -> None:
    assert list(hosts_in(address)) == [host]
    with pytest.raises(SourceError, match=f"address of {host} is .*HELIX_ALLOW_HOSTS={host}"):
        _check(_source(address))
    _check(_source(address), allow_hosts=(host,))


def test_a_host_in_an_option_is_looked_at_too() -> None:
    with pytest.raises(SourceError, match="is loopback"):
        _check(_source("s3://bucket", options={"endpoint": "http://127.0.0.1:9000"}))
    _check(_source("s3://bucket/prefix"))


def test_a_name_is_judged_by_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.1.2.3", 0))])
    with pytest.raises(SourceError, match=r"of wiki\.example is private"):
        _check(_source("https://wiki.example/x"))
    _check(_source("https://wiki.example/x"), allow_hosts=("wiki.example",))


def test_a_reader_is_of_a_class_that_the_settings_name() -> None:
    source = Source("default", 1, "Tried", "reader", "reader:os:system")
    with pytest.raises(SourceError, match="HELIX_SOURCE_READERS"):
        _check(source)
    _check(source, source_readers=("os:system",))
    with pytest.raises(SourceError, match="HELIX_SOURCE_READERS"):
        _check(source, source_readers=("os:popen",), source_folders=("/",))
