"""The readers of a file by the rights of POSIX: its own, and those of the folders it lies in."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

EVERYONE = "everyone"
"""The reader that a file has which is open to all."""
Rights = tuple[int, int, int]
"""Owner, group and mode of a file or folder."""


def rights_of(status: os.stat_result) -> Rights:
    """The rights of a file or folder of this machine."""
    return status.st_uid, status.st_gid, status.st_mode


@dataclass(frozen=True, slots=True)
class FolderRights:
    """The rights of each folder on the way to a file, the outermost first."""

    folders: tuple[Rights, ...] = ()

    def within(self, rights: Rights) -> FolderRights:
        """The rights one folder further in."""
        return FolderRights((*self.folders, rights))


@dataclass(frozen=True, slots=True)
class Names:
    """Names of persons and groups by their numbers, of another machine; by the number else."""

    persons: Mapping[int, str] = field(default_factory=dict)
    groups: Mapping[int, str] = field(default_factory=dict)

    def of_person(self, uid: int) -> tuple[str, ...]:
        """The readers that a person is, by number and by name."""
        return _both("person", uid, self.persons)

    def of_group(self, gid: int) -> tuple[str, ...]:
        """The readers that a group is, by number and by name."""
        return _both("group", gid, self.groups)


class LocalNames(Names):
    """Names of this machine, without numbers where there is a name."""

    def of_person(self, uid: int) -> tuple[str, ...]:
        """The reader that a person is."""
        return (f"person:{_name_of_person(uid)}",)

    def of_group(self, gid: int) -> tuple[str, ...]:
        """The reader that a group is."""
        return (f"group:{_name_of_group(gid)}",)


def named_numbers(text: str) -> dict[int, str]:
    """The names by number that ``text`` has, an ``/etc/passwd`` or ``/etc/group``."""
    lines = (line.split(":") for line in text.splitlines())
    return {int(line[2]): line[0] for line in lines if len(line) > 3 and line[2].isdecimal()}


_LOCAL = LocalNames()


def readers_of(rights: Rights, folders: FolderRights, names: Names = _LOCAL) -> tuple[str, ...]:
    """``person:NAME``, ``group:NAME`` and ``everyone`` who may read the file, in this order.

    Each must be let through every folder on the way.
    """
    owner, group, mode = rights
    may_read = (
        (names.of_person(owner), bool(mode & 0o400),
         lambda uid, gid, mode: mode & (0o100 if uid == owner else 0o001)),
        (names.of_group(group), bool(mode & 0o040),
         lambda uid, gid, mode: mode & (0o010 if gid == group else 0o001)),
        ((EVERYONE,), bool(mode & 0o004), lambda uid, gid, mode: mode & 0o001),
    )  # fmt: skip
    let_in = (found for found, reads, passes in may_read if reads and _all(folders, passes))
    return tuple(name for found in let_in for name in found)


def _all(rights: FolderRights, passes: Callable[[int, int, int], int]) -> bool:
    return all(passes(*folder) for folder in rights.folders)


def _both(what: str, number: int, names: Mapping[int, str]) -> tuple[str, ...]:
    name = names.get(number)
    return (f"{what}:{number}",) if name is None else (f"{what}:{number}", f"{what}:{name}")


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
