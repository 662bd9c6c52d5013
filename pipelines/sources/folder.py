"""A folder as a source, also a share that is mounted: its files by size and times."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.files.scan import legible, name_problem
from pipelines.sources.base import Entry, EntryGone, SourceError
from pipelines.sources.posix_readers import FolderRights, readers_of, rights_of


def open_source(
    address: str, options: Mapping[str, Any], secrets: Mapping[str, str]
) -> FolderSource:
    """The folder at ``address``, an absolute path; with ``permissions`` its files tell readers.

    Raises:
        SourceError: there is no such folder on this machine, or it may not be read.
    """
    folder = Path(address)
    if not folder.is_absolute():
        raise SourceError(f"{address} is no absolute path: give the whole path of the folder")
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise SourceError(f"{address} is a file: give its folder")
    except OSError as error:
        raise SourceError(
            f"the folder {address} cannot be opened on {socket.gethostname()}: {error.strerror}"
        ) from None
    return FolderSource(folder.resolve(), bool(options.get("permissions")))


class FolderSource:
    """The files below a folder but hidden ones; keys are paths within it, with slashes."""

    def __init__(self, folder: Path, with_readers: bool = False) -> None:
        self._folder = folder
        self._with_readers = with_readers
        self._misnamed: dict[str, str] = {}

    def entries(self) -> Iterator[Entry]:
        """The files; a folder below that may not be read makes the listing incomplete.

        A link to a file counts as the file where that lies in the folder too; links to folders are
        not followed. A file whose name no document can have is told by a legible one, and cannot be
        read.
        """
        unread: list[str] = []
        yield from self._below(self._folder, "", FolderRights(), unread)
        if unread:
            more = f" and {len(unread) - 1} more" if unread[1:] else ""
            raise SourceError(f"cannot be listed: {unread[0]}{more}")

    def _below(
        self, folder: Path, prefix: str, rights: FolderRights, unread: list[str]
    ) -> Iterator[Entry]:
        try:
            if self._with_readers:
                rights = rights.within(rights_of(folder.stat()))
            with os.scandir(folder) as found:
                children = sorted(found, key=lambda child: child.name)
        except OSError as error:
            unread.append(legible(f"{prefix or self._folder} ({error.strerror})"))
            return
        for child in children:
            if child.name.startswith("."):
                continue
            key = prefix + child.name
            try:
                if child.is_dir(follow_symlinks=False):
                    yield from self._below(Path(child.path), f"{key}/", rights, unread)
                elif entry := self._entry(child, key, rights):
                    yield entry
            except FileNotFoundError:  # it went while the folder was listed
                continue
            except OSError as error:
                unread.append(legible(f"{key} ({error.strerror})"))

    def _entry(self, child: os.DirEntry[str], key: str, rights: FolderRights) -> Entry | None:
        if child.is_symlink() and not self._is_within(child.path):
            return None
        status = child.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        if name_problem(key):
            self._misnamed[legible(key)] = key
            key = legible(key)
        return Entry(
            key,
            size=status.st_size,
            modified=datetime.fromtimestamp(status.st_mtime, UTC),
            etag=str(status.st_ctime_ns),  # a tool that keeps times does not keep this one
            readers=readers_of(rights_of(status), rights) if self._with_readers else None,
        )

    def _is_within(self, path: str | Path) -> bool:
        try:
            return Path(path).resolve(strict=True).is_relative_to(self._folder)
        except (OSError, RuntimeError):  # a loop
            return False

    def read(self, entry: Entry) -> bytes:
        """The bytes of a file; a link that leads out of the folder is not followed."""
        if problem := name_problem(self._misnamed.get(entry.key, "")):
            raise SourceError(problem)
        path = self._folder / entry.key
        try:
            if not self._is_within(path):
                path.lstat()
                raise SourceError("a link that leads out of the folder, or to itself")
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise EntryGone("it went while it was read") from None
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror}") from None

    def is_there(self, key: str) -> bool:
        """False where the file is gone; a folder that is away says nothing of what is in it.

        Behind a link that a listing does not follow it is gone too.
        """
        try:
            os.scandir(self._folder).close()
            path = self._folder / self._misnamed.get(key, key)
            is_listed = path.parent.resolve() == path.parent and self._is_within(path)
            return stat.S_ISREG(path.stat().st_mode) and is_listed
        except (FileNotFoundError, NotADirectoryError):
            if self._folder.is_dir():
                return False
            raise SourceError(f"the folder {self._folder} is away") from None
        except OSError as error:
            raise SourceError(f"{key} cannot be looked at: {error.strerror}") from None

    def close(self) -> None:
        """Nothing is open."""
