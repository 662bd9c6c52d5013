"""The first step of a run: find its files, keep the bytes of those to be read, settle the rest.

Done twice, as after a crash, it adds nothing twice. What is unchanged is settled here, in bulk, so
that going over a thousand unchanged files costs neither a workflow nor an embedding each.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix.fingerprints import fingerprints
from helix.library.runs import (
    NewFile,
    add_files,
    drop_bytes,
    fail_file,
    set_stage,
)
from helix.media import problem, sniff
from pipelines.readers import UnreadableFile
from pipelines.recipe import RECIPE
from pipelines.rows import Connected, set_unchanged, spool
from pipelines.scan import Source, scan, title_from_name

if TYPE_CHECKING:  # what nothing is to be done for is seen without LlamaIndex, in half the time
    from helix.store import ChunkStore

Fingerprint = tuple[str, str, str]
"""content_hash, recipe and title of a stored document."""

_TAG = "UPDATE documents SET tags = %s WHERE tenant_id = %s AND source_uri = %s"
_BATCH_BYTES = 8 * 2**20  # of one transaction's files: memory stays flat however many there are
_BATCH_FILES = 200


@dataclass(frozen=True)
class Found:
    """A file looked at: its bytes where it is to be read, or what became of it already."""

    source_uri: str
    data: bytes = b""
    media: str = ""
    title: str | None = None
    content_hash: str = ""
    origin: dict[str, Any] | None = None
    tags: tuple[str, ...] | None = None
    reason: str = ""
    unchanged: bool = False


class StopWanted(Exception):
    """The run is to stop: somebody cancelled it."""


def plan_paths(store: ChunkStore, run_id: int, options: dict[str, Any], largest: int) -> None:
    """Walk the paths of a run of the store's tenant; ``largest`` is the most bytes of a file.

    Raises:
        StopWanted, StoreUnavailable: as they say.
    """
    base = Path(options["base"])
    walked = scan(options["paths"], base)
    with store.connection() as connection:
        set_stage(connection, run_id, "scan", ignored=walked.ignored)
        uris = [source.source_uri for source in walked.sources]
        stored = fingerprints(connection, store.tenant, uris)
    failed = [Found(path, reason=reason) for path, reason in walked.problems]
    add_found(store, run_id, failed)
    tags = None if options.get("tags") is None else tuple(options["tags"])
    looked = (
        replace(
            look(source, stored.get(source.source_uri), options.get("title"), largest), tags=tags
        )
        for source in walked.sources
    )
    for batch in _batches(looked):
        add_found(store, run_id, batch)


def look(source: Source, stored: Fingerprint | None, title: str | None, largest: int) -> Found:
    """Read a file's bytes and say what is to be done with it."""
    try:
        data = _bytes_of(source.path, largest)
    except UnreadableFile as refusal:
        return Found(source.source_uri, reason=str(refusal))
    except OSError as error:
        told = error.strerror or type(error).__name__
        return Found(source.source_uri, reason=f"cannot be read: {told}")
    content_hash = hashlib.sha256(data).hexdigest()
    if stored and is_unchanged(stored, content_hash, title):
        return Found(source.source_uri, content_hash=content_hash, unchanged=True)
    media = sniff(data, source.path.name)
    if media is None:
        return Found(source.source_uri, reason=problem(data, source.path.name))
    return Found(source.source_uri, data, media, title, content_hash)


def is_unchanged(stored: Fingerprint, content_hash: str, title: str | None) -> bool:
    """Whether a document stored as this need not be read again.

    A title once given stays until another is given: without one, only the content decides.
    """
    return stored[:2] == (content_hash, RECIPE) and title in (None, stored[2])


def _bytes_of(path: Path, largest: int) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile("not a file")  # a pipe would be waited for for ever
    if status.st_size > largest:
        raise UnreadableFile(
            f"{status.st_size / 2**20:.0f} MB; the limit is {largest // 2**20} (HELIX_MAX_FILE_MB)"
        )
    return path.read_bytes()


def _batches(found: Iterable[Found]) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for one in found:
        batch.append(one)
        size += len(one.data)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    yield batch


def add_found(store: ChunkStore, run_id: int, found: Sequence[Found]) -> None:
    """Write a batch to the run in one transaction, bytes and outcomes included.

    Raises:
        StopWanted: the run was cancelled.
    """
    with store.connection() as connection, connection.transaction():
        if not set_stage(connection, run_id, "scan"):
            raise StopWanted
        # in one order, or two runs over the same bytes would deadlock
        spooled = {
            one.content_hash: spool(connection, store.tenant, one.data)
            for one in sorted(found, key=lambda one: one.content_hash)
            if one.media
        }
        hashes = [spooled[one.content_hash] if one.media else None for one in found]
        add_files(
            connection,
            run_id,
            [
                NewFile(
                    one.source_uri,
                    title=one.title,
                    media=one.media,
                    size=len(one.data),
                    content_hash=one.content_hash,
                    file_hash=file_hash,
                    origin=one.origin or {},
                    tags=one.tags,
                )
                for one, file_hash in zip(found, hashes, strict=True)
            ],
        )
        _settle(
            connection, store.tenant, run_id, [one for one in found if one.reason or one.unchanged]
        )
        # a second look may have found other bytes than the first, which the run keeps to
        drop_bytes(connection, [(store.tenant, content_hash) for content_hash in hashes])


def _settle(connection: Connected, tenant: str, run_id: int, found: Sequence[Found]) -> None:
    if not found:
        return
    numbers: dict[str, int] = dict(
        connection.execute(
            "SELECT source_uri, n FROM run_files WHERE run_id = %s AND source_uri = ANY(%s)",
            (run_id, [one.source_uri for one in found]),
        ).fetchall()
    )
    unchanged = [numbers[one.source_uri] for one in found if one.unchanged]
    set_unchanged(connection, run_id, unchanged)
    for one in found:
        if one.unchanged and one.tags is not None:
            connection.execute(_TAG, (list(one.tags), tenant, one.source_uri))
    for one in found:
        if not one.unchanged:
            fail_file(connection, run_id, numbers[one.source_uri], one.reason)


def title_of(source_uri: str) -> str:
    """The title of a document that has none of its own: its file's name in title case."""
    return title_from_name(Path(source_uri.rstrip("/").rpartition("/")[2] or source_uri))
