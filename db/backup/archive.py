"""The file of a backup: a zip with a member for each table, and a manifest that describes them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from db.errors import DatabaseError

FORMAT = 1
"""Of the file; a Helix that writes another one still reads this."""
MANIFEST, SCHEMA, REPEATABLE = "manifest.json", "schema.sql", "repeatable.sql"
BLOCK_BYTES = 1 << 20
Buffer = bytes | bytearray | memoryview
_COMPRESSION = 1  # of vectors the higher levels save 2%, and take four times as long


@dataclass(frozen=True)
class Contents:
    """The contents of one member: rows (of a table), bytes, and the SHA-256 of these in hex."""

    rows: int
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The contents of a backup, and where it came from.

    Args:
        tables: by name, what the member of the table must be.
        scripts: the same of the SQL that makes the schema, for a newer Helix.
        columns: by table, the columns of its rows, in their order.
        sequences: by name, the last value and whether it was given out.
        files_elsewhere: original files whose bytes are objects of a bucket, and not in the backup.
    """

    format: int
    made_at: str
    made_by: str
    schema_version: int
    postgres: int
    tables: dict[str, Contents]
    scripts: dict[str, Contents]
    columns: dict[str, list[str]]
    sequences: dict[str, tuple[int, bool]]
    files_elsewhere: int = 0

    def rows(self, table: str) -> int:
        """The rows of ``table``; 0 where the backup has no such table."""
        return self.tables[table].rows if table in self.tables else 0


def member_of(table: str) -> str:
    """The name of the member that holds the rows of ``table``."""
    return f"tables/{table}.copy"


class Writer:
    """The members of a new backup, and what the manifest has to say of each."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, parts: Iterable[Buffer]) -> Contents:
        """Write one member; its ``rows`` are not known here, and 0."""
        digest, size = hashlib.sha256(), 0
        with self._archive.open(name, "w", force_zip64=True) as member:
            for block in _blocks(parts):
                digest.update(block)
                size += len(block)
                member.write(block)
        return Contents(0, size, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest, last: a file without one is no backup."""
        self._archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))


def _blocks(parts: Iterable[Buffer]) -> Iterator[bytes]:
    """The same bytes in blocks of BLOCK_BYTES and more: a row each would be slow to compress."""
    block = bytearray()
    for part in parts:
        block += part
        if len(block) >= BLOCK_BYTES:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


@contextlib.contextmanager
def new_archive(file: Path) -> Iterator[Writer]:
    """A file that gets its name when it is whole and on the disk; only its owner may read it.

    Raises:
        DatabaseError: there is such a file, or it cannot be written.
    """
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if file.exists():
            raise DatabaseError(f"{file} exists: give the backup another name, or remove that file")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as output:
                with zipfile.ZipFile(
                    output, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION
                ) as archive:
                    yield Writer(archive)
                output.flush()
                os.fsync(output.fileno())
            part.rename(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DatabaseError(f"the backup cannot be written to {file}: {error.strerror}") from None


@contextlib.contextmanager
def open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """A backup to read.

    Raises:
        DatabaseError: there is no such file, or what is read of it is damaged.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise _damaged(file, str(error).partition("\n")[0]) from None
    except OSError as error:
        raise DatabaseError(f"{file} cannot be read: {error.strerror or error}") from None


def checked(file: Path) -> Manifest:
    """The manifest of a backup whose every byte is as it was written.

    Raises:
        DatabaseError: the file is cut off, damaged, no backup, or of a format not known here.
    """
    with open_archive(file) as archive:
        manifest = _manifest(file, archive)
        members = {member_of(table): it for table, it in manifest.tables.items()}
        members |= manifest.scripts
        if set(archive.namelist()) != {*members, MANIFEST}:
            raise _damaged(file, "it lacks a table, or has one too many")
        for name, contents in members.items():
            with archive.open(name) as member:
                if _read_through(member) != (contents.size, contents.sha256):
                    raise _damaged(file, f"{name} is not what was written")
    return manifest


def _manifest(file: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        read = json.loads(archive.read(MANIFEST))
        if read["format"] != FORMAT:
            raise DatabaseError(
                f"{file} is a backup of format {read['format']}, and this Helix reads {FORMAT}:"
                " install the newer Helix that made it"
            )
        for part in ("tables", "scripts"):
            read[part] = {name: Contents(**it) for name, it in read[part].items()}
        read["sequences"] = {name: tuple(it) for name, it in read["sequences"].items()}
        return Manifest(**read)
    except (ValueError, TypeError, LookupError):
        raise _damaged(file, "it has no manifest that can be read") from None


def _read_through(member: IO[bytes]) -> tuple[int, str]:
    """Size and SHA-256 of what ``member`` holds."""
    digest, size = hashlib.sha256(), 0
    while block := member.read(BLOCK_BYTES):
        digest.update(block)
        size += len(block)
    return size, digest.hexdigest()


def _damaged(file: Path, why: str) -> DatabaseError:
    return DatabaseError(f"{file} is no whole backup ({why}): take another copy of it")
