"""The readers of a file by the rights of POSIX: its own, and those of the folders it lies in."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

EVERYONE = "everyone"
"""The reader that a file has which is open to all."""


@dataclass(frozen=True, slots=True)
class FolderRights:
    """Owner, group and mode of each folder on the way to a file, the outermost first."""

    folders: tuple[tuple[int, int, int], ...] = ()

    def within(self, status: os.stat_result) -> FolderRights:
        """The rights one folder further in."""
        return FolderRights((*self.folders, (status.st_uid, status.st_gid, status.st_mode)))


def readers_of(status: os.stat_result, rights: FolderRights) -> tuple[str, ...]:
    """``person:NAME``, ``group:NAME`` and ``everyone`` who may read the file, in this order.

    Each must be let through every folder on the way.
    """
    may_read = (
        (f"person:{_name_of_person(status.st_uid)}", bool(status.st_mode & 0o400),
         lambda uid, gid, mode: mode & (0o100 if uid == status.st_uid else 0o001)),
        (f"group:{_name_of_group(status.st_gid)}", bool(status.st_mode & 0o040),
         lambda uid, gid, mode: mode & (0o010 if gid == status.st_gid else 0o001)),
        (EVERYONE, bool(status.st_mode & 0o004), lambda uid, gid, mode: mode & 0o001),
    )  # fmt: skip
    return tuple(name for name, reads, passes in may_read if reads and _all(rights, passes))


def _all(rights: FolderRights, passes: Callable[[int, int, int], int]) -> bool:
    return all(passes(*folder) for folder in rights.folders)


@cache
def _name_of_person(uid: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return str(uid)


@cache
def _name_of_group(gid: int) -> str:
    with suppress(KeyError):
        return grp.getgrgid(gid).gr_name
    return str(gid)
