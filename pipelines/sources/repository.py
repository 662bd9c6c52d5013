"""A git repository as a source: the files of a branch, from commit to commit, by `git` itself.

A bare copy without history is kept in the user's cache, so that a sync fetches what changed; it is
lost without loss. A listing is a commit's tree, which is whole or is not there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import platformdirs

from pipelines.files.scan import legible, name_problem
from pipelines.sources.base import Entry, EntryGone, SourceError, bounded
from pipelines.sources.git_command import Git, new_home

_KEPT_DAYS = 30
_POINTER = b"version https://git-lfs.github.com/spec/"
_FILE = (b"100644", b"100755")


def open_source(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> Repository:
    """The repository at ``address``, at the last commit of its branch.

    Raises:
        SourceError: there is none, it does not let us in, or `git` is not installed.
    """
    with ExitStack() as stack:
        home = Path(stack.enter_context(new_home()))
        git = Git(address, secrets, options, home, options.get("allow_hosts"))
        branch = str(options.get("branch") or "HEAD")
        if branch.startswith("-") or ":" in branch:
            raise SourceError(f"{branch} is no name of a branch")
        folder = _copy_of(f"{address}\0{branch}", stack)
        if not (folder / "HEAD").exists():
            git.run("init", "--quiet", "--bare", "--template=", ".", folder=folder)
        git.run("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--", git.address, f"+{branch}:refs/heads/synced",
                folder=folder)  # fmt: skip
        commit = git.run("rev-parse", "refs/heads/synced^{commit}", folder=folder).decode().strip()
        return Repository(git, folder, commit, str(options.get("web") or ""), stack.pop_all())


def _copy_of(identity: str, stack: ExitStack) -> Path:
    """The folder of the kept copy, locked until the source is closed; unused ones go."""
    cache = Path(platformdirs.user_cache_dir("helix", appauthor=False)) / "repositories"
    try:
        cache.mkdir(0o700, parents=True, exist_ok=True)
    except OSError:  # a home that may not be written to
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="helix-repository-")))
    name = hashlib.sha256(identity.encode()).hexdigest()[:32]
    lock = stack.enter_context((cache / f"{name}.lock").open("w"))
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = cache / name
    folder.mkdir(0o700, exist_ok=True)
    before = time.time() - _KEPT_DAYS * 86400
    for other in cache.glob("*.lock"):  # written anew by each sync
        if other.stat().st_mtime < before:
            shutil.rmtree(other.with_suffix(""), ignore_errors=True)
            other.unlink(missing_ok=True)
    return folder


class Repository:
    """The files of one commit; keys are paths, and an etag is the hash of the bytes."""

    def __init__(self, git: Git, folder: Path, commit: str, web: str, stack: ExitStack) -> None:
        self._git = git
        self._folder = folder
        self._commit = commit
        self._web = web
        self._stack = stack
        self._misnamed: dict[str, str] = {}
        self._reader: subprocess.Popen[bytes] | None = None

    def entries(self) -> Iterator[Entry]:
        """The files of the commit; links and submodules are none.

        A file whose name no document can have is listed by a legible one; ``read`` refuses it.
        """
        listed = self._git.parts(
            "ls-tree", "-r", "-z", "-l", "--full-tree", self._commit, folder=self._folder
        )
        for line in bounded(listed):
            about, _, path = line.partition(b"\t")
            if not about.startswith(_FILE):
                continue
            key = os.fsdecode(path)
            if name_problem(key):
                self._misnamed[legible(key)] = key
                key = legible(key)
            _, _, blob, size = about.decode().split()
            yield Entry(key, int(size), etag=blob, url=self._web and f"{self._web}{key}")

    def read(self, entry: Entry) -> bytes:
        """The bytes of a file; those that LFS keeps elsewhere are told as such."""
        if problem := name_problem(self._misnamed.get(entry.key, "")):
            raise SourceError(problem)
        data = self._ask(f"{self._commit}:{entry.key}")
        if data is None:
            raise EntryGone("it is not in the commit any more")
        if data.startswith(_POINTER):
            raise SourceError("its bytes are kept by Git LFS, which is not read")
        return data

    def is_there(self, key: str) -> bool:
        """True where the commit has the path."""
        return self._ask(f"{self._commit}:{key}") is not None

    def _ask(self, name: str) -> bytes | None:
        """The bytes that git has by this name, by a child that stays; None where it has none."""
        if "\n" in name:
            return None
        if self._reader is None:
            self._reader = self._git.started("cat-file", "--batch", folder=self._folder)
        pipe_in, pipe_out = self._reader.stdin, self._reader.stdout
        assert pipe_in is not None and pipe_out is not None
        try:
            pipe_in.write(f"{name}\n".encode())
            pipe_in.flush()
            head = pipe_out.readline()
            if head.endswith(b" missing\n"):
                return None
            size = int(head.split()[-1])
            data = pipe_out.read(size + 1)
        except (OSError, ValueError, IndexError):
            raise SourceError("git went away while it was read from") from None
        if len(data) != size + 1:
            raise SourceError("git went away while it was read from")
        return data[:-1]

    def close(self) -> None:
        """End the child and let go of the copy; keys are deleted."""
        if self._reader is not None:
            with self._reader:
                self._reader.kill()
        self._stack.close()
