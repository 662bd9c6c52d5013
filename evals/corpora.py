"""Data sets as corpora to search: split and embedded as Helix does it, and stored in a database."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from numpy.typing import NDArray

from evals.datasets.records import QuestionSet, Span, answers
from helix.domain.contract import DEFAULT_DENSE_WEIGHT, EMBEDDING_DIMENSIONS
from helix.domain.records import DocumentRecord
from helix.evidence.vectors import word_vectors
from helix.storage.packed_terms import searched_text
from helix.store import ChunkStore
from pipelines.splitters import chunk_spans

CHUNK_TOKENS, OVERLAP_TOKENS = 500, 50
"""The sizes by which Helix splits by default."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class SplitCorpus:
    """A data set's chunks, spans of its documents, with a unit vector each."""

    source: QuestionSet
    chunks: Sequence[Span]
    vectors: Vectors

    def text(self, chunk: int) -> str:
        """The text of a chunk, by its place."""
        document, start, end = self.chunks[chunk]
        return self.source.documents[document].text[start:end]

    def title(self, chunk: int) -> str:
        """The title of a chunk's document."""
        return self.source.documents[self.chunks[chunk][0]].title

    def searched(self) -> list[str]:
        """The text that BM25 finds each chunk by."""
        return [searched_text(self.title(c), None, self.text(c)) for c in range(len(self.chunks))]

    @cached_property
    def distances(self) -> Vectors:
        """Cosine distances of the set's questions to the chunks, shape (questions, chunks)."""
        asked = word_vectors().embed([question.text for question in self.source.questions])
        return np.asarray(1 - asked @ self.vectors.T)


@dataclass(frozen=True)
class JudgedCorpus(SplitCorpus):
    """A corpus with the questions that one of its chunks answers whole, and their vectors.

    ``relevant`` are, for each question, the places of the chunks that answer it; ``weight`` is the
    dense share that hybrid search serves with these vectors, 0 to 1.
    """

    name: str
    questions: Sequence[str]
    asked: Vectors
    relevant: Sequence[Set[int]]
    weight: float = DEFAULT_DENSE_WEIGHT


def split_documents(source: QuestionSet) -> list[Span]:
    """The chunks that Helix makes of the documents."""
    return [
        (number, start, end)
        for number, document in enumerate(source.documents)
        for start, end in chunk_spans(document.text, CHUNK_TOKENS, OVERLAP_TOKENS)
    ]


def whole_documents(source: QuestionSet) -> list[Span]:
    """A chunk a document: SciFact's judgements are of whole abstracts."""
    return [(number, 0, len(document.text)) for number, document in enumerate(source.documents)]


def embed_corpus(source: QuestionSet, chunks: Sequence[Span] | None = None) -> SplitCorpus:
    """The corpus in the offline embedder's vectors; ``chunks`` are Helix's where not given."""
    spans = split_documents(source) if chunks is None else chunks
    titled = [
        f"{source.documents[d].title}\n\n{source.documents[d].text[s:e]}" for d, s, e in spans
    ]
    return SplitCorpus(source, spans, word_vectors().embed(titled))


def judged(
    name: str,
    corpus: SplitCorpus,
    asked: Vectors | None = None,
    *,
    weight: float = DEFAULT_DENSE_WEIGHT,
    most: int | None = None,
) -> JudgedCorpus:
    """``corpus`` with the questions that at least one chunk, and at most ``most``, answer whole.

    ``asked`` are vectors of all of the set's questions, the offline embedder's where not given.
    """
    relevant = {}
    for place, question in enumerate(corpus.source.questions):
        right = {n for n, chunk in enumerate(corpus.chunks) if answers(question.spans, *chunk)}
        if right and (most is None or len(right) <= most):
            relevant[place] = right
    texts = [corpus.source.questions[place].text for place in relevant]
    vectors = word_vectors().embed(texts) if asked is None else asked[list(relevant)]
    return JudgedCorpus(
        corpus.source, corpus.chunks, corpus.vectors, name, texts, vectors,
        list(relevant.values()), weight,
    )  # fmt: skip


def judged_set(name: str, source: QuestionSet) -> JudgedCorpus:
    """A public set as the evals ask it, in the offline embedder's vectors."""
    whole = source.name == "scifact"
    return judged(name, embed_corpus(source, whole_documents(source) if whole else None))


def padded(vector: Vectors) -> list[float]:
    """The vector with zeros to the stored width, which change no cosine."""
    return [*map(float, vector), *[0.0] * (EMBEDDING_DIMENSIONS - len(vector))]


def chunk_node(corpus: JudgedCorpus, chunk: int, ordinal: int, document: str) -> TextNode:
    """A chunk as the splitter gives it, with its vector; the id ends in ``-`` and its place."""
    _, start, end = corpus.chunks[chunk]
    return TextNode(
        id_=f"{corpus.name}-{chunk}",
        text=corpus.text(chunk),
        embedding=padded(corpus.vectors[chunk]),
        metadata={
            "title": corpus.title(chunk), "ordinal": ordinal, "start_char": start, "end_char": end
        },
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)},
    )  # fmt: skip


async def store_corpus(store: ChunkStore, corpus: JudgedCorpus) -> None:
    """Write every document with its chunks; a source_uri ends in ``/`` and the document's place."""
    by_document: dict[int, list[int]] = {}
    for number, (place, _, _) in enumerate(corpus.chunks):
        by_document.setdefault(place, []).append(number)
    async with store.bulk_load():
        for number, chunks in by_document.items():
            document = corpus.source.documents[number]
            nodes = [chunk_node(corpus, c, n, str(number)) for n, c in enumerate(chunks)]
            uri = f"{corpus.name}/{number}"
            await store.write(DocumentRecord(uri, document.title, "", "", document.text), nodes)
