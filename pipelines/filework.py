"""One file of a run, from its bytes to a written document: read, split, embed, write.

Every step may be done again, as after a crash: what has a finished embedding is found in the cache,
and a document is written together with the outcome of its file, in one transaction, so that it is
written, and told of, once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, Document
from psycopg import Connection
from psycopg.rows import TupleRow

from helix.errors import (
    DocumentGone,
    EmbedderMismatch,
    HelixError,
    StaleChunks,
    UpstreamError,
)
from helix.library.runs import FileStatus, fail_file, set_file
from helix.next_embedder import current_embedder
from helix.providers.base import Embedder
from helix.records import DocumentRecord
from helix.store import ChunkStore
from helix.writing import Written
from pipelines import readers
from pipelines.embedding import Embed, EmbedNodes, RunBatch
from pipelines.outages import through_outages
from pipelines.planning import is_unchanged, title_of
from pipelines.readers import ReadText
from pipelines.recipe import RECIPE
from pipelines.rows import FileRow, file_bytes, load_file, retag, stop_run
from pipelines.sandbox import Sandbox
from pipelines.splitters import SECTIONS, SOURCE_URI, TITLE, SectionChunker

T = TypeVar("T")

_TOLD_EVERY = 0.25  # seconds between two writes of a file's progress

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Embedding:
    """An embedder, and the function that makes the requests of all files by it."""

    embedder: Embedder
    embed: Embed


@dataclass(frozen=True)
class Tools:
    """What a worker works with.

    ``embeddings`` are HELIX_EMBEDDER's and then the next one's, where there is one; ``reading`` has
    a place for each file that the sandbox reads at once.
    """

    store: ChunkStore
    embeddings: Sequence[Embedding]
    sandbox: Sandbox
    reading: asyncio.Semaphore

    async def current(self) -> Embedding:
        """The one whose vectors the database has now; raises as current_embedder does."""
        embedder = await current_embedder(self.store, [one.embedder for one in self.embeddings])
        return next(one for one in self.embeddings if one.embedder is embedder)


class Cancelled(Exception):
    """The file was cancelled, or its document deleted, while it was worked on."""


class FileWork:
    """One file of one run.

    ``run_batch`` carries out one embedding batch, as a durable step.
    """

    def __init__(self, tools: Tools, run_id: int, n: int, run_batch: RunBatch) -> None:
        self._tools = tools
        self._key = (run_id, n)
        self._run_batch = run_batch
        self._told = 0.0

    async def carry_out(self) -> None:
        """Bring the file to its outcome, which is in ``run_files`` afterwards.

        A fault that would fail every other file too stops the run.
        """
        file = await self._database(load_file, *self._key)
        if file is None or file.ended:
            return
        try:
            await self._bring_in(file)
        except readers.UnreadableFile as reason:
            await self._database(fail_file, *self._key, str(reason))
        except (Cancelled, DocumentGone):
            await self._database(fail_file, *self._key, "its document was deleted meanwhile")
        except HelixError as error:
            if isinstance(error, UpstreamError) and (error.transient or error.about_input):
                await self._database(fail_file, *self._key, str(error))
            else:  # it is left open: the run's end says why it was not brought in
                await self._database(stop_run, self._key[0], str(error))

    async def _bring_in(self, file: FileRow) -> None:
        store = self._tools.store.of(file.tenant)
        stored = await self._patiently(lambda: store.fingerprints([file.source_uri]))
        fingerprint = stored.get(file.source_uri)
        unchanged = fingerprint and is_unchanged(fingerprint, file.content_hash, file.title)
        if unchanged and not file.force:
            await self._database(retag, file)
            await self._tell("unchanged", 0, 0)
            return
        read = await self._read(file)
        record = _record(file, read)
        reference = str(
            file.document_id or await self._patiently(lambda: store.reserve(file.source_uri))
        )
        known = await self._patiently(lambda: store.known_nodes(file.source_uri))
        nodes = await self._split(record, reference)
        status: FileStatus = "replaced" if fingerprint else "added"
        try:
            await self._embed_and_write(file, record, reference, nodes, known, status)
        except (StaleChunks, EmbedderMismatch):
            # Another writer took away what was to stay, or the database went over to another
            # embedder: all is embedded, by the one that it has now.
            for node in nodes:
                node.embedding = None
            await self._embed_and_write(file, record, reference, nodes, {}, status)

    async def _read(self, file: FileRow) -> ReadText:
        async with self._tools.reading:  # the bytes of a file that waits need not be in memory
            await self._tell("reading", 0, 0)
            file_hash = file.file_hash
            data = await self._database(file_bytes, file.tenant, file_hash) if file_hash else None
            if data is None:
                raise readers.UnreadableFile("its bytes are gone: ingest it again")
            read = await self._read_bytes(file.media, data)
        if not read.text.strip():
            raise readers.UnreadableFile(_nothing_in(read))
        return read

    async def _read_bytes(self, media: str, data: bytes) -> ReadText:
        """What the sandbox makes of ``data``, each page told of."""
        loop = asyncio.get_running_loop()
        latest: list[tuple[int, int]] = []
        telling: set[asyncio.Task[None]] = set()

        async def tell_latest() -> None:
            while latest:
                await self._tell("reading", *latest.pop())

        def hear(done: int, total: int) -> None:
            latest[:] = [(done, total)]
            if not telling:
                task = loop.create_task(tell_latest())
                telling.add(task)
                task.add_done_callback(telling.discard)

        read = await self._tools.sandbox.read(media, data, hear)
        await asyncio.gather(*telling)
        return read

    async def _split(self, record: DocumentRecord, reference: str) -> Sequence[BaseNode]:
        document = Document(
            id_=reference,
            text=record.text,
            metadata={
                TITLE: record.title,
                SOURCE_URI: record.source_uri,
                SECTIONS: record.sections,
            },
        )
        pipeline = IngestionPipeline(transformations=[SectionChunker()], disable_cache=True)
        return await pipeline.arun(documents=[document])

    async def _embed_and_write(
        self,
        file: FileRow,
        record: DocumentRecord,
        reference: str,
        nodes: Sequence[BaseNode],
        known: Mapping[str, str],
        status: FileStatus,
    ) -> None:
        embedding = await through_outages(self._tools.current)
        await self._embed(nodes, known, embedding)
        store = self._tools.store.session(embedding.embedder.identity, file.tenant)
        await self._write(store, file, record, reference, nodes, status)

    async def _embed(
        self, nodes: Sequence[BaseNode], known: Mapping[str, str], by: Embedding
    ) -> None:
        """Give every node that is not ``known`` its vector, telling batch by batch."""
        size = by.embedder.max_batch
        total = -(-len(nodes) // size)
        await self._tell("embedding", 0, total)
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more

        async def run_batch(index: int, batch: Callable[[], Awaitable[None]]) -> None:
            await self._run_batch(index, batch)
            await self._tell("embedding", min(total, (done + size) // size), total)

        await EmbedNodes(
            by.embedder, count, known=known, run_batch=run_batch, embed=by.embed
        ).acall(nodes)

    async def _write(
        self,
        store: ChunkStore,
        file: FileRow,
        record: DocumentRecord,
        reference: str,
        nodes: Sequence[BaseNode],
        status: FileStatus,
    ) -> None:
        await self._tell("writing", 0, 0)

        def settled(connection: Connection[TupleRow], written: Written) -> None:
            if not set_file(
                connection, *self._key, status, chunks=len(nodes),
                warnings=record.warnings, document_id=written.document_id,
            ):  # fmt: skip
                raise Cancelled

        await through_outages(
            lambda: store.write(
                record,
                nodes,
                int(reference),
                expected=file.document_id is not None,
                settled=settled,
            )
        )

    async def _tell(self, status: FileStatus, done: int, total: int) -> None:
        """Write where the file is, now and then; the first of a stage and its last always.

        Raises:
            Cancelled: as it says.
        """
        now = time.monotonic()
        if 0 < done < total and now - self._told < _TOLD_EVERY:
            return
        self._told = now

        def write(connection: Connection[TupleRow]) -> bool:
            return set_file(connection, *self._key, status, done=done, total=total)

        if not await self._database(write):
            raise Cancelled

    async def _database(self, action: Callable[..., T], *arguments: Any) -> T:
        """``action`` of a connection, in a thread; a database that is away is waited for."""

        def act() -> T:
            with self._tools.store.connection() as connection:
                return action(connection, *arguments)

        return await self._patiently(act)

    async def _patiently(self, act: Callable[[], T]) -> T:
        return await through_outages(lambda: asyncio.to_thread(act))


def _record(file: FileRow, read: ReadText) -> DocumentRecord:
    return DocumentRecord(
        source_uri=file.source_uri,
        title=file.title or read.title or title_of(file.source_uri),
        content_hash=file.content_hash,
        recipe=RECIPE,
        text=read.text,
        media=file.media,
        size=file.size,
        sections=read.sections,
        warnings=read.warnings,
        origin=file.origin,
        file_hash=file.file_hash if file.keep_file else None,
        tags=None if file.tags is None else tuple(file.tags),
    )


def _nothing_in(read: ReadText) -> str:
    return "; ".join(read.warnings) or "there is no text in it"
