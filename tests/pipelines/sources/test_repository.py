"""A git repository as a source, by `git` over HTTP and from a folder, and what it may not do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import psutil
import pytest

from pipelines.sources import base
from pipelines.sources.base import Connector, Entry, EntryGone, SourceBusy, SourceError
from pipelines.sources.git_command import Git
from pipelines.sources.stored_source import open_source
from tests.support.scripted_server import loopback
from tests.support.synced_source import SyncedSource

BACKEND = Path("/usr/lib/git-core/git-http-backend")
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this test's own, and a home whose configuration would do harm."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[core]\n\tsshCommand = touch " + str(tmp_path / "ran"))


class Made:
    """A repository of this test's own, with a working tree."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        tree.mkdir()
        self("init", "-q", "-b", "main")
        (tree / "guides").mkdir()
        (tree / "a.md").write_text("Crate A holds lanterns.")
        (tree / "guides" / "b.md").write_text("Crate B holds oil.")
        self.commit()

    def __call__(self, *arguments: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.tree)}
        subprocess.run(["git", *WHO, *arguments], cwd=self.tree, check=True, env=environment)

    def told(self, *arguments: str, told: str = "") -> str:
        """The output of git, which is ``told`` something."""
        done = subprocess.run(["git", *arguments], cwd=self.tree, check=True, input=told.encode(),
                              capture_output=True)  # fmt: skip
        return done.stdout.decode().strip()

    def commit(self) -> None:
        self("add", "-A")
        self("commit", "-q", "-m", "changed")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "team")


@pytest.fixture
def served(made: Made) -> Iterator[str]:
    """The address of the repository over HTTP, by git's own server; it asks for a token."""

    class Backend(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        def _answer(self, body: bytes) -> None:
            if self.headers.get("Authorization") != "Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==":
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            environment = {
                "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(made.tree.parent),
                "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers.get("Content-Type") or "",
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            }  # fmt: skip
            done = subprocess.run(
                [str(BACKEND)], input=body, capture_output=True, check=True, env=environment
            )
            head, _, rest = done.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                self.send_header(*line.split(": ", 1))
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Backend) as address:
        yield f"{address}/team/.git"


def opened(address: object, secrets: dict[str, str] | None = None, **options: Any) -> Connector:
    return open_source("git", str(address), {"allow_hosts": None, **options}, secrets or {})


def read(source: Connector) -> dict[str, bytes]:
    return {entry.key: source.read(entry) for entry in source.entries()}


def test_the_files_of_a_commit_are_listed_with_the_hashes_of_their_bytes(made: Made) -> None:
    source = opened(made.tree, web="https://git.example.com/team/blob/main/")
    entries = {entry.key: entry for entry in source.entries()}
    assert entries["guides/b.md"].url == "https://git.example.com/team/blob/main/guides/b.md"
    assert entries["a.md"].size == 23 and entries["a.md"].modified is None
    assert read(source) == {
        "a.md": b"Crate A holds lanterns.", "guides/b.md": b"Crate B holds oil."
    }  # fmt: skip
    assert source.is_there("a.md") and not source.is_there("gone.md")
    with pytest.raises(EntryGone):
        source.read(Entry("gone.md"))
    source.close()


def test_from_commit_to_commit_what_changed_is_fetched(made: Made, tmp_path: Path) -> None:
    first = opened(made.tree)
    before = {entry.key: entry.etag for entry in first.entries()}
    first.close()
    (made.tree / "a.md").write_text("Crate A is empty.")
    (made.tree / "guides" / "b.md").rename(made.tree / "guides" / "c.md")
    made.commit()
    source = opened(made.tree)
    after = {entry.key: entry.etag for entry in source.entries()}
    assert after.keys() == {"a.md", "guides/c.md"}
    assert after["guides/c.md"] == before["guides/b.md"] and after["a.md"] != before["a.md"]
    assert not source.is_there("guides/b.md")
    source.close()
    (copy,) = (tmp_path / "cache" / "helix" / "repositories").glob("*[!k]")
    assert (copy / "shallow").exists()  # no history is kept


def test_links_submodules_and_lfs_are_no_files(made: Made) -> None:
    (made.tree / "link.md").symlink_to("/etc/passwd")
    (made.tree / "big.md").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid x\n")
    made.commit()
    source = opened(made.tree)
    entries = {entry.key: entry for entry in source.entries()}
    assert entries.keys() == {"a.md", "big.md", "guides/b.md"}
    with pytest.raises(SourceError, match="Git LFS"):
        source.read(entries["big.md"])
    source.close()


def test_a_tree_that_names_itself_often_is_read_no_further_than_a_source_may_be(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight trees of ten make 100 million files; also of links, which are no entries."""
    for mode in ("100644 blob", "120000 blob"):
        kind, name = f"{mode} {made.told('rev-parse', 'HEAD:a.md')}", "f{}.md"
        for _ in range(8):
            tree = "".join(f"{kind}\t{name.format(n)}\n" for n in range(10))
            kind, name = f"040000 tree {made.told('mktree', told=tree)}", "d{}"
        commit = made.told(*WHO, "commit-tree", kind.split()[-1], "-m", "many")
        made("update-ref", "refs/heads/many", commit)
        monkeypatch.setattr(base, "MOST_ENTRIES", 5000)
        source = opened(made.tree, branch="many")
        with pytest.raises(SourceError, match="more than 5,000 entries"):
            list(source.entries())
        source.close()
    assert "git" not in [child.name() for child in psutil.Process().children()]


def test_a_name_of_megabytes_is_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = r"import sys; sys.stdout.write('a\0' + 'b' * 30_000_000 + '\0c\0')"

    def started(*_: object, **__: object) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", text], stdin=pipe, stdout=pipe)

    monkeypatch.setattr(Git, "started", started)
    begun = time.process_time()
    listed = object.__new__(Git).parts("ls-tree", folder=Path())
    assert [len(name) for name in listed] == [1, 30_000_000, 1]
    assert time.process_time() - begun < 5


def test_a_file_whose_name_is_not_utf_8_is_listed_and_says_so_when_it_is_read(made: Made) -> None:
    misnamed = made.tree / os.fsdecode(b"caf\xe9.md")
    misnamed.write_text("Menu.")
    made.commit()
    source = opened(made.tree)
    entries = {entry.key: entry for entry in source.entries()}
    assert entries.keys() == {"a.md", r"caf\xe9.md", "guides/b.md"}
    with pytest.raises(SourceError, match="its name is not UTF-8: rename it"):
        source.read(entries[r"caf\xe9.md"])
    source.close()
    misnamed.rename(made.tree / "café.md")
    made.commit()
    source = opened(made.tree)
    assert read(source)["café.md"] == b"Menu." and not source.is_there(r"caf\xe9.md")
    source.close()


def test_a_branch_is_chosen(made: Made) -> None:
    made("checkout", "-q", "-b", "drafts")
    (made.tree / "draft.md").write_text("A draft.")
    made.commit()
    made("checkout", "-q", "main")
    for branch, has in (("", False), ("drafts", True)):
        source = opened(made.tree, branch=branch)
        assert ("draft.md" in {entry.key for entry in source.entries()}) is has
        source.close()
    with pytest.raises(SourceError, match="git: couldn't find remote ref nowhere"):
        opened(made.tree, branch="nowhere")


def test_a_token_opens_it_over_http_and_is_in_no_error(served: str) -> None:
    source = opened(served, {"token": "hunter2"})
    assert read(source)["a.md"] == b"Crate A holds lanterns."
    source.close()
    with pytest.raises(SourceError, match="without a token that may read it"):
        opened(served)
    with pytest.raises(SourceError, match="without a token that may read it") as refused:
        opened(served, {"token": "hunter3"})
    assert "hunter3" not in str(refused.value)
    with pytest.raises(SourceError, match=r"address of 127\.0\.0\.1 is loopback"):
        opened(served, {"token": "hunter2"}, allow_hosts=[])
    source = opened(served, {"token": "hunter2"}, allow_hosts=["127.0.0.1"])
    assert len(read(source)) == 2
    source.close()


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch ran'",
        "--upload-pack=touch ran",
        "nowhere/at/all",
        "http://127.0.0.1:1/x.git",
    ],
)
def test_what_is_no_repository_is_one_line_and_runs_nothing(address: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as told:
        opened(address)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "ran").exists()


def test_a_name_that_is_not_ascii_leads_where_it_was_checked(
    served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``faß.example`` is ``fass.example`` for Python, and looked up as another by curl."""
    real = socket.getaddrinfo

    def here(host: str, *others: Any, **more: Any) -> Any:
        return real("127.0.0.1" if "example" in host else host, *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    address = served.replace("127.0.0.1", "faß.example")
    with pytest.raises(SourceError, match="is loopback"):
        opened(address, {"token": "hunter2"}, allow_hosts=["fass.example"])
    source = opened(address, {"token": "hunter2"}, allow_hosts=["xn--fa-hia.example"])
    assert len(read(source)) == 2
    source.close()


def test_a_file_of_this_machine_is_none_of_a_stranger(made: Made) -> None:
    for address in (str(made.tree), f"file://{made.tree}"):
        with pytest.raises(SourceError, match=r"transport 'file' not allowed"):
            opened(address, allow_hosts=[])


def test_hooks_and_configuration_of_others_do_not_run(made: Made, tmp_path: Path) -> None:
    source = opened(made.tree)
    source.close()
    (copy,) = (tmp_path / "cache" / "helix" / "repositories").glob("*[!k]")
    (copy / "hooks").mkdir()
    hook = copy / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    (made.tree / "new.md").write_text("New.")
    made.commit()
    opened(made.tree).close()
    assert not (tmp_path / "ran").exists()
    with pytest.raises(SourceError):
        opened("ssh://git@127.0.0.1:1/x.git")
    assert not (tmp_path / "ran").exists()


def test_a_server_that_does_not_answer_leaves_nothing_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipelines.sources.git_command._SECONDS", 0.7)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(SourceError, match="not done within"):
            opened(address)
        until = time.monotonic() + 10
        while left := [each for each in psutil.process_iter(["cmdline"]) if _speaks(each, address)]:
            assert time.monotonic() < until, left
            time.sleep(0.05)


def _speaks(process: psutil.Process, address: str) -> bool:
    return address in (process.info["cmdline"] or [])


def test_an_address_of_ipv6_is_connected_to() -> None:
    with pytest.raises(SourceError, match="connect") as caught:
        opened("http://[::1]:1/x.git", allow_hosts=["::1"])
    assert "RESOLVE" not in str(caught.value)


def test_a_server_that_is_busy_is_asked_later() -> None:
    class Busy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(429)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Busy) as address, pytest.raises(SourceBusy):
        opened(f"{address}/x.git")


def test_a_repository_is_kept_in_step(folder: Path, database_url: str, made: Made) -> None:
    source = SyncedSource(database_url, "git", str(made.tree))
    assert source.sync()["last_error"] == ""
    before = source.documents()
    made("mv", "guides", "handbook")
    (made.tree / "c.md").write_text("Crate C holds rope.")
    made.commit()
    counts = source.sync()["counts"]
    assert (counts["moved"], counts["new"], counts["unchanged"]) == (1, 1, 1)
    assert source.documents()["handbook/b.md"] == before["guides/b.md"]
    made.tree.rename(made.tree.with_name("elsewhere"))
    assert source.sync()["last_error"] != "" and len(source.documents()) == 3
