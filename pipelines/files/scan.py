"""From the paths of a command line to the files to ingest."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helix.domain.file_kinds import supported_name
from pipelines.files.metadata_sheet import NAME, Sheet, sheet_at

_SIGNATURES = (b"%PDF-", b"PK\x03\x04")
_NOTHING_THERE = "no such file or folder"


@dataclass(frozen=True)
class SourceFile:
    """A file to ingest; ``source_uri`` is its path as given, by which it is known ever after.

    ``metadata`` is what a metadata.csv beside it says of it.
    """

    path: Path
    source_uri: str
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Scan:
    """``sources`` in the order given; ``problems``: (path, reason); ``ignored``: other types."""

    sources: list[SourceFile]
    problems: list[tuple[str, str]]
    ignored: int


def scan(paths: Iterable[str], base: Path | None = None) -> Scan:
    """Walk ``paths``, seen from ``base``: a file is taken as it is, a folder gives its readable
    files, sorted.

    Hidden files and folders are passed over; a symbolic link that leads out of the folder given is
    a problem, for it may point anywhere. A metadata.csv with a column of files is no source: it
    describes those below its folder, the nearest last.
    """
    walker = _Walker(base or Path())
    for given in paths:
        walker.take(given)
    sources = described(walker.sources.values(), walker.sheets)
    problems = [(uri, sheet.reason) for uri, sheet in walker.sheets.items() if sheet.reason]
    named = [(legible(uri), reason) for uri, reason in walker.problems + problems]
    return Scan(sources, named, walker.ignored)


def described(sources: Iterable[SourceFile], sheets: Mapping[str, Sheet]) -> list[SourceFile]:
    """``sources`` with what ``sheets`` say of them; a row without a file is a sheet's problem."""
    found = {_plain(source.path): source for source in sources}
    given: dict[Path, dict[str, Any]] = {}
    for sheet in sorted(sheets.values(), key=lambda each: len(each.path.parts)):
        folder = _plain(sheet.path).parent
        for name, (line, metadata) in sheet.rows.items():
            path = _plain(folder / name)
            files = [path] if path.is_file() else _named(name, folder, found)
            if not name or not files:
                sheet.problems.append(f"line {line}: there is no file {name[:200]!r}")
            for file in files:
                given.setdefault(file, {}).update(metadata)
    return [replace(source, metadata=given.get(path)) for path, source in found.items()]


def _plain(path: Path) -> Path:
    """The whole path without dots in it; links stay."""
    return Path(os.path.normpath(path.absolute()))


def _named(name: str, folder: Path, files: Iterable[Path]) -> list[Path]:
    """The files below ``folder`` with this name, which is no path."""
    return [file for file in files if file.name == name and file.is_relative_to(folder)]


class _Walker:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.sources: dict[str, SourceFile] = {}
        self.problems: list[tuple[str, str]] = []
        self.sheets: dict[str, Sheet] = {}
        self.ignored = 0

    def take(self, given: str) -> None:
        path = self.base / given
        is_folder = _is_folder(path, given, self.problems)
        if is_folder is None:
            return
        before = len(self.problems)
        if not is_folder:
            if self._file(path, given, folder=None):
                self._sheet(path.with_name(NAME), str(Path(given).with_name(NAME)))
            return
        taken = [
            self._file(file, str(Path(given, file.relative_to(path))), folder=path)
            for file in _walk(path, self.problems)
        ]
        if not any(taken) and before == len(self.problems):
            self.problems.append((given, "no readable file in this folder"))

    def _file(self, file: Path, shown: str, folder: Path | None) -> bool:
        """Count a file as a source, a problem or ignored; true where it is a source."""
        uri = os.path.normpath(shown).replace(os.sep, "/")
        if file.name.lower() == NAME and self._sheet(file, shown):
            return True
        if folder and not readable(file):
            self.ignored += 1
        elif problem := name_problem(uri) or (folder and _link_problem(file, folder)):
            self.problems.append((uri, problem))
        else:
            self.sources[uri] = SourceFile(file, uri)
            return True
        return False

    def _sheet(self, file: Path, shown: str) -> bool:
        """Take ``file`` as a sheet of metadata, if it is one."""
        uri = os.path.normpath(shown).replace(os.sep, "/")
        if uri not in self.sheets and (sheet := sheet_at(file)):
            self.sheets[uri] = sheet
        return uri in self.sheets


def readable(file: Path) -> bool:
    """True where a file of a folder is one that Helix reads, by its name or else by its content.

    A name that tells nothing is not enough to take plain text, or a folder of code would come in.
    """
    if supported_name(file.name):
        return True
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return False
        with file.open("rb") as opened:
            return opened.read(8).startswith(_SIGNATURES)
    except OSError:
        return False


def _is_folder(path: Path, given: str, problems: list[tuple[str, str]]) -> bool | None:
    """None, and a problem, where there is nothing or nothing that we may look at."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        web = given.startswith(("http://", "https://"))
        reason = "no file: `helix crawl` brings in pages of the web" if web else _NOTHING_THERE
        problems.append((given, reason))
    except OSError as error:
        problems.append((given, f"cannot be read: {error.strerror}"))
    return None


def _walk(folder: Path, problems: list[tuple[str, str]]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:  # os.walk would pass over it in silence
        problems.append((str(error.filename), f"cannot be read: {error.strerror}"))

    for directory, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(directory, name)


def name_problem(uri: str) -> str | None:
    """The reason why no document can have the name of a file; None where it can."""
    try:
        uri.encode()
    except UnicodeEncodeError:  # how Python shows bytes of a name that are no UTF-8
        return "its name is not UTF-8: rename it"
    return None


def legible(uri: str) -> str:
    r"""``uri`` as it can be stored and printed: a byte of it that is no UTF-8 is \xff."""
    return os.fsencode(uri).decode(errors="backslashreplace")


def _link_problem(file: Path, folder: Path) -> str | None:
    try:
        inside = file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # until Python 3.13 a loop is a RuntimeError
        return "a symbolic link that leads to itself"
    return None if inside else "a symbolic link that leads out of the folder"
