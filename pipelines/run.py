"""One ingest: read, skip what is unchanged, split, embed, write each document in a transaction.

Documents are taken in groups of about one embedding request, so that many small files cost few
requests; each is still written whole, by itself. What has been written stays: after a crash the
same command goes on where it stopped, for a stored file is unchanged and costs no embedding.
"""

from __future__ import annotations

import asyncio
import hashlib
import stat
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document

from helix.providers.base import Embedder
from helix.records import DocumentRecord
from helix.store import ChunkStore
from pipelines import readers
from pipelines.embedding import EmbedNodes
from pipelines.progress import Reporter
from pipelines.scan import Source, title_from_name
from pipelines.splitters import sentences
from pipelines.splitters.sentences import TITLE, SentenceChunker

RECIPE = f"readers-{readers.VERSION} sentences-{sentences.VERSION}"
_CHARS_PER_CHUNK = 1500  # what a chunk of 500 tokens adds to a document, about; only sizes groups

Status = Literal["added", "replaced", "unchanged", "failed"]
Fingerprint = tuple[str, str, str]


@dataclass(frozen=True)
class Outcome:
    """What became of one file; ``reason`` says why it failed."""

    source_uri: str
    status: Status
    chunks: int = 0
    reason: str = ""


class Ingest:
    """Brings files into a store.

    Args:
        store, embedder: of one identity.
        reporter: told of embedding progress.
        title: for the one file of this run, in place of its own.
        largest: bytes of the largest file that is read.
    """

    def __init__(
        self,
        store: ChunkStore,
        embedder: Embedder,
        reporter: Reporter,
        *,
        title: str | None = None,
        largest: int = 256 * 2**20,
    ) -> None:
        self._store = store.session()
        self._title = title
        self._largest = largest
        self._group_chunks = embedder.max_batch
        self._pipeline = IngestionPipeline(
            transformations=[SentenceChunker(), EmbedNodes(embedder, reporter.embedded)],
            vector_store=self._store,
            disable_cache=True,
        )

    async def run(self, sources: Sequence[Source]) -> AsyncGenerator[Outcome, None]:
        """One outcome a file, as each is settled; stops where the database or the embedder fails.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: what is written stays written.
        """
        uris = [source.source_uri for source in sources]
        stored = await asyncio.to_thread(self._store.fingerprints, uris)
        group: list[DocumentRecord] = []
        async with self._store.bulk_load():
            for source in sources:
                read = await asyncio.to_thread(self._read, source, stored.get(source.source_uri))
                if isinstance(read, Outcome):
                    yield read
                    continue
                group.append(read)
                if sum(map(_requested, group)) >= self._group_chunks:
                    for outcome in await self._write(group, stored):
                        yield outcome
                    group = []
            for outcome in await self._write(group, stored):
                yield outcome

    def _read(self, source: Source, stored: Fingerprint | None) -> DocumentRecord | Outcome:
        try:
            record = self._record(source)
        except readers.UnreadableFile as problem:
            return Outcome(source.source_uri, "failed", reason=str(problem))
        except OSError as error:
            reason = f"cannot be read: {error.strerror or type(error).__name__}"
            return Outcome(source.source_uri, "failed", reason=reason)
        # A title once given stays until another is given: without one, only the content decides.
        if (
            stored
            and stored[:2] == (record.content_hash, record.recipe)
            and (self._title in (None, stored[2]))
        ):
            return Outcome(source.source_uri, "unchanged")
        return record

    def _record(self, source: Source) -> DocumentRecord:
        status = source.path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise readers.UnreadableFile("not a file")  # a pipe would be waited for for ever
        if (size := status.st_size) > self._largest:
            raise readers.UnreadableFile(
                f"{size / 2**20:.0f} MB; the limit is {self._largest // 2**20} (HELIX_MAX_FILE_MB)"
            )
        data = source.path.read_bytes()
        read = readers.read(source.path, data)
        return DocumentRecord(
            source_uri=source.source_uri,
            title=self._title or read.title or title_from_name(source.path),
            content_hash=hashlib.sha256(data).hexdigest(),
            recipe=RECIPE,
            text=read.text,
        )

    async def _write(
        self, records: Sequence[DocumentRecord], stored: dict[str, Fingerprint]
    ) -> list[Outcome]:
        if not records:
            return []
        documents = [await asyncio.to_thread(self._staged, record) for record in records]
        nodes = await self._pipeline.arun(documents=documents)
        chunks: dict[str | None, int] = {}
        for node in nodes:
            chunks[node.ref_doc_id] = chunks.get(node.ref_doc_id, 0) + 1
        return [
            Outcome(
                record.source_uri,
                "replaced" if record.source_uri in stored else "added",
                chunks.get(document.doc_id, 0),
            )
            for record, document in zip(records, documents, strict=True)
        ]

    def _staged(self, record: DocumentRecord) -> Document:
        """``record`` as LlamaIndex has it, under the id it has or will have in the database."""
        reference = str(self._store.reserve(record.source_uri))
        self._store.stage(reference, record)
        return Document(
            id_=reference,
            text=record.text,
            metadata={TITLE: record.title, "source_uri": record.source_uri},
            excluded_embed_metadata_keys=["source_uri"],
        )


def _requested(record: DocumentRecord) -> int:
    """How many chunks ``record`` will have, about; at least one."""
    return 1 + len(record.text) // _CHARS_PER_CHUNK


def summary(outcomes: Sequence[Outcome], ignored: int) -> Iterator[str]:
    """The lines an ingest ends with."""
    counts = dict.fromkeys(("added", "replaced", "unchanged", "failed"), 0)
    for outcome in outcomes:
        counts[outcome.status] += 1
    chunks = sum(outcome.chunks for outcome in outcomes)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    yield f"{len(outcomes)} files: {told}; {chunks} chunks written"
    if ignored:
        yield f"{ignored} files of other types were passed over"
