"""The readers of files by what a listing says of them, and of the folders on the way to them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from fsspec.spec import AbstractFileSystem

from pipelines.sources.base import SourceError
from pipelines.sources.posix_readers import FolderRights, Names, Rights, named_numbers, readers_of

Told = Mapping[str, Any]
"""A listing's words on one file or folder."""


class Permissions(Protocol):
    """The rule by which a kind tells readers; what it knows of a folder is handed back to it."""

    def at_root(self) -> Any:
        """The rights of the folder that is the source."""

    def below(self, within: Any, told: Told) -> Any:
        """The rights of a folder of which ``told`` is said, in a folder of rights ``within``."""

    def readers(self, within: Any, told: Told) -> tuple[str, ...] | None:
        """The readers of a file in such a folder; None where nothing is told."""


class Untold:
    """The rule of a kind that tells no readers."""

    def at_root(self) -> None:
        """Nothing."""

    def below(self, within: None, told: Told) -> None:
        """Nothing."""

    def readers(self, within: None, told: Told) -> None:
        """Nothing."""


class PosixPermissions:
    """Owner, group and mode, as SFTP tells them: by number, and by name where it shows /etc."""

    def __init__(self, files: AbstractFileSystem, root: str) -> None:
        self._files = files
        self._root = root
        self._names = Names()

    def at_root(self) -> FolderRights:
        """The rights of the folder that is the source.

        Raises:
            SourceError: the server tells no numbers.
        """
        told = self._files.info(self._root)
        self._names = Names(self._numbers("/etc/passwd"), self._numbers("/etc/group"))
        return self.below(FolderRights(), told)

    def _numbers(self, path: str) -> dict[int, str]:
        with suppress(Exception):  # it shows its own folder alone
            return named_numbers(self._files.cat_file(path).decode(errors="replace"))
        return {}

    def below(self, within: FolderRights, told: Told) -> FolderRights:
        """The rights one folder further in."""
        return within.within(_rights(told))

    def readers(self, within: FolderRights, told: Told) -> tuple[str, ...]:
        """The readers whom mode and folders let in."""
        return readers_of(_rights(told), within, self._names)


def _rights(told: Told) -> Rights:
    numbers = told.get("uid"), told.get("gid"), told.get("permissions")
    if None in numbers:
        raise SourceError("the server tells no owners and groups of files: leave out permissions")
    owner, group, mode = map(int, numbers)  # type: ignore[arg-type]
    return owner, group, mode
