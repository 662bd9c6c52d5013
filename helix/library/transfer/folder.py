"""The folder of an export: a file of JSON lines a table, the original files, and a manifest.

``manifest.json`` is written last and has every table's number of rows, bytes and SHA-256; the name
of a file below ``files/`` is its own SHA-256. So every changed byte is found.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from helix.errors import HelixError

FORMAT = "helix-export-1"
MANIFEST, TABLES, FILES = "manifest.json", "tables", "files"
MOST_ID = 10**15
"""Of an exported row: an import moves on the numbers that all tenants' rows are given."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BLOCK_BYTES = 1 << 20


class TransferFailed(HelixError):
    """An export could not be written, is damaged, or does not fit this database."""


@dataclass(frozen=True)
class Member:
    """The file of one table; ``columns`` are those of its rows."""

    rows: int
    size: int
    sha256: str
    columns: list[str]


@dataclass(frozen=True)
class Manifest:
    """The contents of an export and their origin.

    ``embedder`` is the identity of its vectors' embedder (None: there are none); ``last`` is, by
    numbered table, the highest id that was ever given out.
    """

    format: str
    made_at: str
    made_by: str
    schema_version: int
    tenant: str
    embedder: str | None
    last: dict[str, int]
    tables: dict[str, Member]

    def rows(self, table: str) -> int:
        """The rows of ``table``; 0 where the export has no such table."""
        return self.tables[table].rows if table in self.tables else 0


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder that is renamed to ``folder`` when the block ends; mode 0700.

    Raises:
        TransferFailed: ``folder`` exists and is not empty, or it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TransferFailed(f"{folder} exists and is not empty: give the export another name")
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.mkdir(mode=0o700, parents=True)
        (part / TABLES).mkdir()
        (part / FILES).mkdir()
        yield part
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    except OSError as error:
        raise TransferFailed(f"{folder} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_rows(folder: Path, table: str, columns: list[str], rows: Iterable[str]) -> Member:
    """Write the rows of a table, each one line of JSON."""
    count, size, digest = 0, 0, hashlib.sha256()
    with (folder / TABLES / f"{table}.jsonl").open("wb") as output:
        for row in rows:
            line = row.encode() + b"\n"
            output.write(line)
            digest.update(line)
            count, size = count + 1, size + len(line)
    return Member(count, size, digest.hexdigest(), columns)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, last: a folder without one is no export."""
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")


def checked(folder: Path) -> Manifest:
    """The manifest of an export, once all its tables were compared with their checksums.

    Raises:
        TransferFailed: ``folder`` is no export, is of another format, or is damaged.
    """
    manifest = _manifest(folder)
    for table, member in manifest.tables.items():
        name = f"{table}.jsonl"
        if _size_and_digest(folder, name) != (member.size, member.sha256):
            raise damaged(folder, f"{TABLES}/{name} is not what was written")
    return manifest


def read_rows(folder: Path, table: str) -> Iterator[str]:
    """The lines of a table's file."""
    with _own(folder, TABLES, f"{table}.jsonl").open(encoding="utf-8", newline="\n") as lines:
        yield from lines


def read_file(folder: Path, content_hash: str) -> bytes:
    """An original file.

    Raises:
        TransferFailed: it is missing or has changed.
    """
    if not _DIGEST.fullmatch(content_hash):
        raise damaged(folder, f"{FILES} has a name that is no SHA-256")
    try:
        data = _own(folder, FILES, content_hash).read_bytes()
    except OSError:
        raise damaged(folder, f"{FILES}/{content_hash} is missing") from None
    if hashlib.sha256(data).hexdigest() != content_hash:
        raise damaged(folder, f"{FILES}/{content_hash} is not what was written")
    return data


def damaged(folder: Path, why: str) -> TransferFailed:
    """The error for a damaged export."""
    return TransferFailed(f"{folder} is no whole export ({why}): take another copy of it")


def _manifest(folder: Path) -> Manifest:
    try:
        payload = json.loads(_own(folder, MANIFEST).read_text(encoding="utf-8"))
        if payload["format"] != FORMAT:
            raise TransferFailed(
                f"{folder} is an export of the format {payload['format']}, and this Helix reads"
                f" {FORMAT}: install the newer Helix that made it"
            )
        tables = {name: _member(name, **it) for name, it in payload.pop("tables").items()}
        manifest = Manifest(**payload, tables=tables)
        if not all(type(last) is int and 0 <= last <= MOST_ID for last in manifest.last.values()):
            raise ValueError
        return manifest
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        raise damaged(folder, f"it has no {MANIFEST} that can be read") from None


def _member(name: str, rows: int, size: int, sha256: str, columns: list[str]) -> Member:
    """The file of the table ``name``; ValueError where the names are none of tables or columns."""
    if not all(_NAME.fullmatch(each) for each in (name, *columns)):
        raise ValueError(name)
    return Member(int(rows), int(size), str(sha256), list(columns))


def _size_and_digest(folder: Path, name: str) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    try:
        with _own(folder, TABLES, name).open("rb") as data:
            while block := data.read(_BLOCK_BYTES):
                digest.update(block)
                size += len(block)
    except OSError:
        return -1, ""
    return size, digest.hexdigest()


def _own(folder: Path, *names: str) -> Path:
    """A file of the export itself: an export may be a stranger's, with links to anything.

    Raises:
        OSError: it is a link, a device, a pipe or nothing.
    """
    path = folder
    for name in names:
        path /= name
        if path.is_symlink():
            raise OSError(f"{name} is a link")
    if not path.is_file():
        raise OSError(f"{path.name} is no file")
    return path
