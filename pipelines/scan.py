"""From the paths of a command line to the files to ingest."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipelines.readers import supported


@dataclass(frozen=True)
class Source:
    """A file to ingest; ``source_uri`` is its path as given, by which it is known ever after."""

    path: Path
    source_uri: str


@dataclass(frozen=True)
class Scan:
    """``sources`` in the order given; ``problems``: (path, reason); ``ignored``: other types."""

    sources: list[Source]
    problems: list[tuple[str, str]]
    ignored: int


def scan(paths: Iterable[str]) -> Scan:
    """Walk ``paths``: a file is taken as it is, a folder gives its readable files, sorted.

    Hidden files and folders are passed over; a symbolic link that leads out of the folder given is
    a problem, for it may point anywhere.
    """
    sources: dict[str, Source] = {}
    problems: list[tuple[str, str]] = []
    ignored = 0
    for given in paths:
        path = Path(given)
        is_folder = _is_folder(path, problems)
        if is_folder is None:
            continue
        before, sources_here = len(problems), 0
        for file in _walk(path, problems) if is_folder else [path]:
            uri = os.path.normpath(file).replace(os.sep, "/")
            if is_folder and not supported(file):
                ignored += 1
            elif problem := _name_problem(uri) or (is_folder and _link_problem(file, path)):
                problems.append((uri, problem))
            else:
                sources[uri] = Source(file, uri)
                sources_here += 1
        if not sources_here and len(problems) == before:
            problems.append((given, "no readable file in this folder"))
    return Scan(list(sources.values()), problems, ignored)


def _is_folder(path: Path, problems: list[tuple[str, str]]) -> bool | None:
    """None, and a problem, where there is nothing or nothing that we may look at."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        problems.append((str(path), "no such file or folder"))
    except OSError as error:
        problems.append((str(path), f"cannot be read: {error.strerror}"))
    return None


def _walk(folder: Path, problems: list[tuple[str, str]]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:  # os.walk would pass over it in silence
        problems.append((str(error.filename), f"cannot be read: {error.strerror}"))

    for directory, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(directory, name)


def _name_problem(uri: str) -> str | None:
    try:
        uri.encode()
    except UnicodeEncodeError:  # how Python shows bytes of a name that are no UTF-8
        return "its name is not UTF-8: rename it"
    return None


def _link_problem(file: Path, folder: Path) -> str | None:
    try:
        inside = file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # until Python 3.13 a loop is a RuntimeError
        return "a symbolic link that leads to itself"
    return None if inside else "a symbolic link that leads out of the folder"


def title_from_name(path: Path) -> str:
    """The file's name in title case: ``refund-policy.txt`` is "Refund Policy"."""
    words = re.sub(r"[\s_-]+", " ", path.stem).strip().split(" ")
    return " ".join(word[:1].upper() + word[1:] for word in words) or path.name
