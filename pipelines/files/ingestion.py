"""One file of a run, from its bytes to a written document: read, split, embed, write.

read in a sandbox (``readers``) -> split (``splitters``) -> embedded in batches -> written with its
terms and facts, in one transaction with the file's outcome. ``runs`` has how a worker comes by it.

Every step may be done again, as after a crash: what has a finished embedding is found in the cache,
and a document is written together with the outcome of its file, in one transaction, so that it is
written, and reported, once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document

from helix.domain.contract import FileStatus
from helix.domain.file_kinds import is_web, name_of_source, title_from_name
from helix.domain.input_text import visible_line
from helix.domain.metadata import metadata_line, with_layers
from helix.domain.names import FILE_NAME, facts_line, with_edits
from helix.domain.names import TITLE as EDITED_TITLE
from helix.domain.records import DocumentRecord
from helix.errors import DocumentGone, EmbedderMismatch, HelixError, StaleChunks, UpstreamError
from helix.language.terms import language_of
from helix.library.run_files import FileRow, fail_file, load_file, retag, set_file
from helix.library.runs import stop_for_fault
from helix.library.source_entries import SOURCE
from helix.library.storage_quota import NO_QUOTA, NoRoom, Quota
from helix.overload.fairness import ReadingPlaces
from helix.providers.base import Embedder
from helix.retrieval.vector_space import current_embedder
from helix.storage.connections import Connected
from helix.storage.document_writes import Written
from helix.storage.packed_terms import PackedTerms
from helix.storage.stored_bytes import stored_file
from helix.storage.stored_documents import give_metadata, keep_file, source_of_same_bytes
from helix.store import ChunkStore
from pipelines import readers
from pipelines.facts import facts_of
from pipelines.facts.front import plain
from pipelines.facts.title import title_of
from pipelines.files.embedding import EmbedNodes, EmbedTexts, RunBatch
from pipelines.files.recipe import USUAL, ChunkSizes, is_unchanged
from pipelines.files.terms import TermsBeside
from pipelines.outages import in_database, through_outages
from pipelines.readers import ReadText
from pipelines.sandbox import Sandbox
from pipelines.splitters import FACTS_LINE, SECTIONS, SEED, SOURCE_URI, TITLE, SectionSplitter

T = TypeVar("T")

_TELL_SECONDS = 0.25  # between two writes of a file's progress


@dataclass(frozen=True)
class Embedding:
    """An embedder, and the function that makes the requests of all files by it."""

    embedder: Embedder
    embed: EmbedTexts


@dataclass(frozen=True)
class Tools:
    """The store, embedders and limits that a worker works with.

    ``embeddings`` are HELIX_EMBEDDER's and then the next one's, where there is one; ``reading`` has
    the places that files are read in, ``chunks`` the sizes of documents' chunks, ``quota`` what a
    tenant may have of what comes from websites and sources; an upload is held to it as it arrives.
    """

    store: ChunkStore
    embeddings: Sequence[Embedding]
    sandbox: Sandbox
    reading: ReadingPlaces
    chunks: ChunkSizes = USUAL
    quota: Quota = NO_QUOTA

    async def current(self) -> Embedding:
        """The one whose vectors the database has now; raises as current_embedder does."""
        embedder = await current_embedder(self.store, [one.embedder for one in self.embeddings])
        await embedder.learn_width()
        return next(one for one in self.embeddings if one.embedder is embedder)


class FileEnded(Exception):
    """The file was cancelled, or its document deleted, while it was worked on."""


class FileIngestion:
    """One file of one run. ``run_batch`` carries out one embedding batch, as a durable step."""

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
            await self._ingest(file)
        except readers.UnreadableFile as reason:
            await self._database(fail_file, *self._key, str(reason))
        except NoRoom as full:
            await self._database(fail_file, *self._key, str(full))
        except (FileEnded, DocumentGone):
            await self._database(fail_file, *self._key, "its document was deleted meanwhile")
        except HelixError as error:
            if isinstance(error, UpstreamError) and (error.transient or error.about_input):
                await self._database(fail_file, *self._key, str(error))
            else:  # it is left open: the run's end says why it was not brought in
                await self._database(stop_for_fault, self._key[0], str(error))

    async def _ingest(self, file: FileRow) -> None:
        file = await self._as_stored(file)
        store = self._tools.store.of(file.tenant)
        stored = await _patiently(store.fingerprints, [file.source_uri])
        fingerprint = stored.get(file.source_uri)
        recipe = self._tools.chunks.recipe
        if not file.force and is_unchanged(fingerprint, file.content_hash, file.title, recipe):
            if file.keep_file:  # it was ingested before without
                own = (file.tenant, file.source_uri, file.content_hash)
                await self._database(keep_file, *own)
            await self._database(retag, file.tenant, file.source_uri, file.tags, file.spaces)
            await self._database(give_metadata, file.tenant, file.source_uri, file.metadata)
            await self._tell("unchanged")
            return
        edits = await _patiently(store.edits, file.source_uri)
        record = await asyncio.to_thread(_record, file, await self._read(file), edits, recipe)
        reference = str(file.document_id or await _patiently(store.reserve, file.source_uri))
        known = await _patiently(store.known_nodes, file.source_uri)
        status: FileStatus = "replaced" if fingerprint else "added"
        try:
            await self._split_embed_write(file, record, edits, reference, known, status)
        except (StaleChunks, EmbedderMismatch):
            # Another writer took away what was to stay, or the database went over to another
            # embedder: all is embedded, by the one that it has now.
            await self._split_embed_write(file, record, edits, reference, {}, status)

    async def _as_stored(self, file: FileRow) -> FileRow:
        """The file as a source of the document that its bytes are already; mostly as it is.

        What a source has is its own document, which that source alone changes and removes, and so
        is a page that comes into a space: the same bytes may be kept from who brings it in.
        """
        is_page_of_space = file.spaces is not None and is_web(file.source_uri)
        if _is_of_source(file.source_uri) or is_page_of_space:
            return file
        own = (file.tenant, file.source_uri, file.content_hash)
        source_uri = await self._database(source_of_same_bytes, *own)
        if source_uri == file.source_uri:
            return file
        return replace(file, source_uri=source_uri, keep_file=True)  # as the upload's are

    async def _read(self, file: FileRow) -> ReadText:
        # the bytes of a file that waits need not be in memory
        async with self._tools.reading.take(file.tenant):
            await self._tell("reading")
            stored = await self._database(stored_file, file.tenant, file.file_hash or "")
            if stored is None:
                raise readers.UnreadableFile("its bytes are gone: ingest it again")
            data = await through_outages(partial(asyncio.to_thread, stored.read))
            pages: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
            telling = asyncio.create_task(self._tell_pages(pages))
            try:
                read = await self._tools.sandbox.read(
                    file.media, data, lambda done, total: pages.put_nowait((done, total))
                )
                pages.put_nowait(None)
                await telling
            finally:  # nothing is written of the file's reading once its outcome may be
                telling.cancel()
                await asyncio.gather(telling, return_exceptions=True)
        if not read.text.strip():
            raise readers.UnreadableFile("; ".join(read.warnings) or "there is no text in it")
        return read

    async def _tell_pages(self, pages: asyncio.Queue[tuple[int, int] | None]) -> None:
        while (page := await pages.get()) is not None:
            await self._tell("reading", *page)

    async def _split_embed_write(
        self,
        file: FileRow,
        record: DocumentRecord,
        edits: Mapping[str, Any],
        reference: str,
        known: Mapping[str, str],
        status: FileStatus,
    ) -> None:
        """Write the document and the file's outcome; nodes that are ``known`` are not embedded."""
        current = await through_outages(self._tools.current)
        store = self._tools.store.session(current.embedder.vector_space, file.tenant)

        def end_file(connection: Connected, written: Written) -> None:
            if not set_file(
                connection, *self._key, status, document_id=written.document_id,
                chunks=written.kept + written.changed + written.added, warnings=record.warnings,
            ):  # fmt: skip
                raise FileEnded
            if status == "added" and (is_web(file.source_uri) or _is_of_source(file.source_uri)):
                self._tools.quota.check_added(connection, file.tenant)

        async def tell_batches(done: int, total: int) -> None:
            await self._tell("embedding", done, total)
            if done == total:
                await self._tell("writing")

        embed_nodes = EmbedNodes(
            current.embedder,
            current.embed,
            known=known,
            run_batch=self._run_batch,
            progress=tell_batches,
        )
        language = await asyncio.to_thread(language_of, record.text)

        async def pack(texts: Sequence[str]) -> PackedTerms:
            return await self._tools.sandbox.terms(texts, language, file.tenant)

        embed_and_pack = TermsBeside(embed_nodes, pack, known)
        sizes = self._tools.chunks
        splitter = SectionSplitter(chunk_tokens=sizes.target, overlap_tokens=sizes.overlap)
        pipeline = IngestionPipeline(
            transformations=[splitter, embed_and_pack],
            vector_store=store,
            disable_cache=True,
        )
        document = _document(reference, record, edits, sizes.metadata)
        store.stage(
            reference, record, expected=file.document_id is not None, settled=end_file,
            terms=embed_and_pack.made,
        )  # fmt: skip

        async def run() -> None:  # a document whose write failed stays staged
            await pipeline.arun(documents=[document])
            await store.write_staged(reference)  # one of no nodes, which the pipeline leaves out

        await through_outages(run)

    async def _tell(self, status: FileStatus, done: int = 0, total: int = 0) -> None:
        """Write where the file is, now and then; the first of a stage and its last always.

        Raises:
            FileEnded: as it says.
        """
        now = time.monotonic()
        if 0 < done < total and now - self._told < _TELL_SECONDS:
            return
        self._told = now

        def write(connection: Connected) -> bool:
            return set_file(connection, *self._key, status, done=done, total=total)

        if not await self._database(write):
            raise FileEnded

    async def _database(self, action: Callable[..., T], *arguments: Any) -> T:
        return await in_database(self._tools.store, action, *arguments)


async def _patiently(read: Callable[..., T], *arguments: Any) -> T:
    """A blocking read of the store in a thread, through outages of the database."""
    return await through_outages(lambda: asyncio.to_thread(read, *arguments))


def _record(file: FileRow, read: ReadText, edits: Mapping[str, Any], recipe: str) -> DocumentRecord:
    """The document as it is to be written, and embedded: with what people changed of it."""
    told = str(file.origin.get("name") or "")  # of a source whose keys are no file names
    name = visible_line(edits.get(FILE_NAME) or told) or name_of_source(file.source_uri)
    facts = facts_of(read, name)
    own = title_of(read.title, read.heading, facts, keep_own=file.media != "pdf")
    return DocumentRecord(
        source_uri=file.source_uri,
        title=visible_line(edits.get(EDITED_TITLE) or file.title or own or "")
        or title_from_name(told or file.source_uri),
        content_hash=file.content_hash,
        recipe=recipe,
        text=read.text,
        media=file.media,
        size=file.size,
        sections=read.sections,
        warnings=read.warnings,
        origin=file.origin,
        file_hash=file.file_hash if file.keep_file else None,
        tags=None if file.tags is None else tuple(file.tags),
        spaces=None if file.spaces is None else tuple(file.spaces),
        tables=read.tables,
        pages=read.pages,
        facts=with_edits(plain(facts), edits),
        file_name=name,
        metadata=read.metadata,
        given=file.metadata,
    )


def _is_of_source(source_uri: str) -> bool:
    return source_uri.startswith(SOURCE)


def _document(
    reference: str, record: DocumentRecord, edits: Mapping[str, Any], keys: Sequence[str]
) -> Document:
    """The document as LlamaIndex's pipeline takes it, with what its nodes say of it.

    Of its metadata the ``keys`` are embedded.
    """
    uri = record.source_uri
    metadata, _ = with_layers(record.metadata, record.given, edits)
    # moved at its source, a document keeps its chunks: their ids hang on its own id, not its place
    lines = (metadata_line(metadata, keys), facts_line(record.title, record.facts))
    return Document(
        id_=reference,
        text=record.text,
        metadata={
            TITLE: record.title,
            SOURCE_URI: uri,
            SEED: f"{SOURCE}{reference}" if _is_of_source(uri) else uri,
            FACTS_LINE: " | ".join(filter(None, lines)),
            SECTIONS: record.sections,
        },
    )
