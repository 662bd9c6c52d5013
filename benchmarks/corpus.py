"""The corpus that the benchmarks write and search: SciFact's abstracts with MiniLM vectors.

An abstract is a chunk, and 20 to 50 of them make a document. More rows than there are abstracts
are the same ones again, with noise in their vectors. Where the data is absent, what measures no
recall can do with generated vectors in clusters; uniform random ones would tell nothing about an
HNSW index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    TextNode,
)

from benchmarks.harness import MissingData
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.records import EMBEDDING_KEY, END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.domain.scope import DEFAULT_TENANT
from helix.language.terms import language_of
from helix.providers.factories import build_embedder
from helix.retrieval.embedding_cache import cache_key
from helix.settings import load_settings
from helix.storage.packed_terms import PackedTerms, digest_of, packed_terms, searched_text
from helix.store import ChunkStore

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

IDENTITY = "benchmark:minilm:1536"
ABSTRACTS = 5_183
NOISE = 0.2  # length of what is added to a repeated vector, whose own length is 1
_LEAST, _MOST = 20, 50  # chunks a document
_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class Corpus:
    """``texts[i]`` has the unit vector ``vectors[i]``; ``queries`` are unit vectors too."""

    texts: list[str]
    vectors: Matrix
    queries: Matrix

    def first(self, rows: int) -> Corpus:
        """Its first ``rows`` chunks."""
        return Corpus(self.texts[:rows], self.vectors[:rows], self.queries)


@dataclass(frozen=True)
class Paper:
    """A document to write: chunk ``i`` of it is row ``start + i`` of the corpus."""

    record: DocumentRecord
    spans: list[tuple[int, int]]
    start: int
    vectors: Matrix

    def nodes(self, reference: str) -> list[BaseNode]:
        """Its chunks as an IngestionPipeline leaves them; ``reference`` is documents.id as text."""
        metadata = {"title": self.record.title, "source_uri": self.record.source_uri}
        source = Document(id_=reference, text=self.record.text, metadata=metadata)
        related = source.as_related_node_info()
        nodes: list[BaseNode] = []
        for ordinal, (start, end) in enumerate(self.spans):
            marks = {ORDINAL: ordinal, START_CHAR: start, END_CHAR: end}
            node = TextNode(
                id_=node_id(self.start + ordinal),
                text=self.record.text[start:end],
                start_char_idx=start,
                end_char_idx=end,
                metadata={**metadata, **marks},
                excluded_embed_metadata_keys=["source_uri", *marks],
                excluded_llm_metadata_keys=[*metadata, *marks],
                metadata_template="{value}",
                relationships={NodeRelationship.SOURCE: related},
            )
            node.embedding = self.vectors[ordinal].tolist()
            nodes.append(node)
        return nodes

    def embedded_nodes(self, reference: str) -> list[BaseNode]:
        """Its chunks as Helix's embedding step leaves them: vectors are arrays, and have keys."""
        nodes = self.nodes(reference)
        for node, vector in zip(nodes, self.vectors, strict=True):
            node.metadata[EMBEDDING_KEY] = cache_key(IDENTITY, "document", node.node_id)
            node.excluded_embed_metadata_keys.append(EMBEDDING_KEY)
            node.excluded_llm_metadata_keys.append(EMBEDDING_KEY)
            vars(node)["embedding"] = vector
        return nodes


def terms_of(record: DocumentRecord, nodes: Sequence[BaseNode]) -> PackedTerms:
    """BM25's terms of a document's chunks, as a worker's sandbox makes them beside the writing."""
    title, language = record.title, language_of(record.text)
    texts = [searched_text(title, None, node.get_content(MetadataMode.NONE)) for node in nodes]
    return {
        digest_of(text, language, DEFAULT_TENANT): packed_terms(text, language, DEFAULT_TENANT)
        for text in texts
    }


def node_id(row: int) -> str:
    """The node id of row ``row`` of the corpus, as wide as the pipeline's."""
    return f"{row:032x}"


def scifact_file(data: Path, name: str) -> Path:
    """A file of SciFact below ``data``; raises MissingData where it is not there."""
    path = data / "scifact" / name
    if not path.is_file():
        raise MissingData(f"no {path}: give --data the folder that holds scifact/")
    return path


def load(data: Path, rows: int) -> Corpus:
    """``rows`` chunks and 300 queries of SciFact below ``data``.

    Raises:
        MissingData: a file is not there.
    """
    with scifact_file(data, "corpus.jsonl").open(encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    with np.load(scifact_file(data, "minilm.npz")) as stored:
        own, queries = stored["documents"], stored["queries"]
        order = {identifier: i for i, identifier in enumerate(stored["document_ids"])}
    own = own[[order[paper["_id"]] for paper in papers]]
    texts = [f"{paper['title']}\n{paper['text']}".strip() for paper in papers]
    return _grown(texts, own.astype(np.float32), queries.astype(np.float32), rows)


def load_or_generate(data: Path, rows: int) -> Corpus:
    """``load``, or generated texts and vectors in clusters, saying so."""
    try:
        return load(data, rows)
    except MissingData as missing:
        print(f"{missing}; going on with generated text and clustered vectors", flush=True)
    random = np.random.default_rng(7)
    centres = random.standard_normal((200, 384), dtype=np.float32)
    own = centres[random.integers(200, size=ABSTRACTS)]
    own = own + random.standard_normal(own.shape, dtype=np.float32)
    words = np.array([f"word{i}" for i in range(5_000)])
    texts = [" ".join(words[random.integers(5_000, size=180)]) + "." for _ in range(ABSTRACTS)]
    return _grown(texts, own, own[:300] + centres[:1], rows)


def documents(corpus: Corpus, first: int = 0) -> Iterator[Paper]:
    """The whole corpus in documents of 20 to 50 chunks, the last one smaller.

    Its chunks are the rows from ``first`` on of a larger one, which it is a part of.
    """
    random = np.random.default_rng(11)
    start = 0
    while start < len(corpus.texts):
        stop = start + int(random.integers(_LEAST, _MOST + 1))
        yield _paper(corpus.texts[start:stop], corpus.vectors[start:stop], first + start)
        start = stop


def _paper(texts: list[str], vectors: Matrix, start: int) -> Paper:
    spans, at = [], 0
    for text in texts:
        spans.append((at, at + len(text)))
        at += len(text) + len(_SEPARATOR)
    record = DocumentRecord(
        source_uri=f"papers/{start:06d}.txt",
        title=f"Papers from {start}",
        content_hash=f"{start:064x}",
        recipe="benchmark",
        text=_SEPARATOR.join(texts),
    )
    return Paper(record, spans, start, vectors)


def _grown(texts: list[str], own: Matrix, queries: Matrix, rows: int) -> Corpus:
    random = np.random.default_rng(3)
    source = np.arange(rows) % len(texts)
    vectors = _unit(own)[source]
    repeated = max(0, rows - len(texts))
    if repeated:
        vectors[len(texts) :] += NOISE * noise(random, repeated, own.shape[1])
    return Corpus([texts[i] for i in source], _padded(_unit(vectors)), _padded(_unit(queries)))


def noise(random: np.random.Generator, rows: int, width: int) -> Matrix:
    """``rows`` directions of ``width`` numbers, each as likely as any other."""
    return _unit(random.standard_normal((rows, width), dtype=np.float32))


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _padded(vectors: Matrix) -> Matrix:
    """Zeros up to the stored width change no cosine."""
    return np.pad(vectors, ((0, 0), (0, EMBEDDING_DIMENSIONS - vectors.shape[1])))


async def fill(store: ChunkStore, papers: Corpus) -> dict[int, int]:
    """Load ``papers``, the index built at the end; documents.id by the document's first row."""
    ids = {}
    async with store.bulk_load():
        for paper in documents(papers):
            ids[paper.start] = store.reserve(paper.record.source_uri)
            store.stage(str(ids[paper.start]), paper.record)
            await store.async_add(paper.nodes(str(ids[paper.start])))
    return ids


async def fill_embedded(url: str, texts: list[str]) -> None:
    """Load ``texts`` with the offline embedder's vectors, as an application serves them."""
    embedder = build_embedder(load_settings(database_url=url, llm="offline", embedder="offline"))
    vectors = np.array(embedder.model.get_text_embedding_batch(texts), dtype=np.float32)
    store = ChunkStore(url, embedder.identity)
    try:
        await fill(store, Corpus(texts, vectors, vectors[:1]))
    finally:
        await store.close()
