"""The first step of a run over paths: look at its files, keep the bytes of those to be read.

Done twice, as after a crash, it adds nothing twice. Unchanged files are ended here, in bulk: going
over a thousand of them costs neither a workflow nor an embedding each.

This module loads neither LlamaIndex nor the durable engine: going over a folder that has not
changed, which a scheduled ingest mostly does, takes a third of the time without them.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix.library.run_files import NewFile, add_files, fail_file, retag, set_unchanged
from helix.library.runs import create_run, find_open_run, finish_run, set_stage
from helix.storage.connections import Connected
from helix.storage.stored_bytes import drop_bytes, keep_bytes
from helix.storage.stored_documents import fingerprints, give_metadata, sources_without_file
from pipelines.files.recipe import Fingerprint, is_unchanged
from pipelines.files.scan import Scan, SourceFile, scan
from pipelines.runs.planned_files import (
    FileLimits,
    PlannedFile,
    files_of_source,
    is_of_plugin,
    planned,
    unless_unchanged,
)

if TYPE_CHECKING:
    from helix.store import ChunkStore

_BATCH_BYTES = 8 * 2**20  # of one transaction's files: memory stays flat however many there are
_BATCH_FILES = 200


class RunCancelled(Exception):
    """Somebody cancelled the run while it was being planned."""


class FileHashes:
    """SHA-256 of files, each computed once for as long as its size and times stay.

    One command looks at a folder twice: whether there is anything to do, and then what. Keep it no
    longer than that, for a file system's clock may be too coarse to tell two writes apart.
    """

    def __init__(self) -> None:
        self._hashes: dict[tuple[Path, int, int, int, int], str] = {}

    def of(self, path: Path, status: os.stat_result) -> str:
        """The hash in hex of the file at ``path``, whose ``status`` was just read."""
        key = (path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if key not in self._hashes:
            with path.open("rb") as file:
                self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[key]


def nothing_to_do(
    connection: Connected,
    limits: FileLimits,
    options: dict[str, Any],
    key: str,
    tenant: str,
    hashes: FileHashes,
) -> Scan | None:
    """The scan of a run whose files are all stored as they are; it is then on record as done.

    None: there is something to do, to go on with, or to complain of.
    """
    if find_open_run(connection, key, tenant) is not None:
        return None
    walked = scan(options["paths"], Path(options["base"]))
    uris = [source.source_uri for source in walked.sources]
    stored = fingerprints(connection, tenant, uris)
    title = options.get("title")
    told = any(source.metadata for source in walked.sources)
    if (
        walked.problems
        or told
        or not all(
            uri in stored and inspect(source, stored[uri], title, limits, hashes).unchanged
            for uri, source in zip(uris, walked.sources, strict=True)
        )
    ):
        return None
    run_id = create_run(connection, "paths", options, tenant=tenant)
    add_files(connection, run_id, [NewFile(uri) for uri in uris])
    set_unchanged(connection, run_id, range(len(uris)))
    finish_run(connection, run_id, "done")
    return walked


def plan_paths(
    store: ChunkStore, run_id: int, options: dict[str, Any], limits: FileLimits, hashes: FileHashes
) -> None:
    """Add the files below the paths of a run of the store's tenant, and those of its sources.

    Raises:
        RunCancelled, StoreUnavailable: as they say.
    """
    sources = [given for given in options["paths"] if is_of_plugin(given)]
    paths = [given for given in options["paths"] if given not in sources]
    walked = scan(paths, Path(options["base"]))
    with store.connection() as connection:
        set_stage(connection, run_id, "scan", ignored=walked.ignored)
        uris = [source.source_uri for source in walked.sources]
        metadata = options.get("metadata") or {}
        for source in walked.sources:  # before the look at what is stored: it may change that
            given = {**(source.metadata or {}), **metadata}
            give_metadata(connection, store.tenant, source.source_uri, given)
        stored = fingerprints(connection, store.tenant, uris)
        keeping = bool(options.get("keep_files"))
        unkept = sources_without_file(connection, store.tenant, uris) if keeping else set()
    tags, spaces = options.get("tags"), options.get("spaces")
    add_files_to_run(store, run_id, [PlannedFile(uri, reason=why) for uri, why in walked.problems])
    inspected = (
        replace(
            inspect(
                source, stored.get(source.source_uri), options.get("title"), limits, hashes,
                with_bytes=source.source_uri in unkept,
            ),
            metadata=source.metadata,
        )
        for source in walked.sources
    )  # fmt: skip
    for batch in _batches(inspected):
        add_files_to_run(store, run_id, batch, tags, keeping, metadata, spaces)
    for batch in _batches(file for given in sources for file in files_of_source(given, limits)):
        with store.connection() as connection:
            stored = fingerprints(connection, store.tenant, [file.source_uri for file in batch])
        known = [unless_unchanged(file, stored.get(file.source_uri), limits) for file in batch]
        add_files_to_run(store, run_id, known, tags, keeping, metadata, spaces)


def inspect(
    source: SourceFile,
    stored: Fingerprint | None,
    title: str | None,
    limits: FileLimits,
    hashes: FileHashes,
    with_bytes: bool = False,
) -> PlannedFile:
    """Look at a file and say what is to be done with it.

    With ``with_bytes`` they are brought along even where they have not changed.
    """
    uri = source.source_uri
    try:
        status = source.path.stat()
        if not stat.S_ISREG(status.st_mode):
            return PlannedFile(uri, reason="not a file")  # a pipe would be waited for for ever
        if too_large := limits.problem_of(status.st_size):
            return PlannedFile(uri, reason=too_large)
        if stored and not with_bytes:  # its bytes are needed only where they are others
            content_hash = hashes.of(source.path, status)
            if is_unchanged(stored, content_hash, title, limits.recipe):
                return PlannedFile(uri, content_hash=content_hash, unchanged=True)
        data = source.path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        return PlannedFile(uri, reason=f"cannot be read: {why}")
    return planned(uri, data, source.path.name, title)


def is_full(batch: Sequence[PlannedFile]) -> bool:
    """True where one transaction has enough of these files."""
    return len(batch) >= _BATCH_FILES or sum(len(file.data) for file in batch) >= _BATCH_BYTES


def _batches(files: Iterable[PlannedFile]) -> Iterator[list[PlannedFile]]:
    batch: list[PlannedFile] = []
    for file in files:
        batch.append(file)
        if is_full(batch):
            yield batch
            batch = []
    yield batch


def add_files_to_run(
    store: ChunkStore,
    run_id: int,
    files: Sequence[PlannedFile],
    tags: Sequence[str] | None = None,
    keep_files: bool = False,
    metadata: Mapping[str, Any] | None = None,
    spaces: Sequence[int] | None = None,
) -> None:
    """Write a batch to the run in one transaction: bytes, outcomes, tags, metadata and spaces.

    ``metadata`` is for all of them, above what came beside each. With ``keep_files`` the bytes
    stay for as long as their documents.

    Raises:
        RunCancelled: the run is to stop.
    """
    files = [
        replace(file, metadata={**(file.metadata or {}), **(metadata or {})} or None)
        for file in files
    ]
    with store.connection() as connection, connection.transaction():
        if not set_stage(connection, run_id, "scan"):
            raise RunCancelled
        # in one order, or two runs over the same bytes would deadlock
        for file in sorted(files, key=lambda file: file.content_hash):
            if file.media:
                keep_bytes(connection, store.tenant, file.content_hash, file.data)
        add_files(
            connection,
            run_id,
            [
                NewFile(
                    file.source_uri,
                    title=file.title,
                    media=file.media,
                    size=len(file.data),
                    content_hash=file.content_hash,
                    file_hash=file.content_hash if file.media else None,
                    keep_file=keep_files,
                    document_id=file.document_id,
                    origin=file.origin or {},
                    tags=None if tags is None else tuple(tags),
                    metadata=file.metadata,
                    spaces=file.spaces or (None if spaces is None else tuple(spaces)),
                )
                for file in files
            ],
        )
        _end_finished(connection, store.tenant, run_id, files, tags, spaces)
        # a second look may have found other bytes than the first, which the run keeps to
        drop_bytes(connection, [(store.tenant, file.content_hash or None) for file in files])


def _end_finished(
    connection: Connected,
    tenant: str,
    run_id: int,
    files: Sequence[PlannedFile],
    tags: Sequence[str] | None,
    spaces: Sequence[int] | None,
) -> None:
    """Give files that are not to be read their outcome."""
    finished = [file for file in files if file.unchanged or file.reason]
    if not finished:
        return
    rows = connection.execute(
        "SELECT source_uri, n FROM run_files WHERE run_id = %s AND source_uri = ANY(%s)",
        (run_id, [file.source_uri for file in finished]),
    )
    numbers: dict[str, int] = dict(rows.fetchall())
    unchanged = [file for file in finished if file.unchanged]
    set_unchanged(connection, run_id, [numbers[file.source_uri] for file in unchanged])
    for file in unchanged:
        retag(connection, tenant, file.source_uri, tags, spaces)
        give_metadata(connection, tenant, file.source_uri, file.metadata)
    for file in finished:
        if file.reason:
            fail_file(connection, run_id, numbers[file.source_uri], file.reason)
