"""How well passages are found: ``python -m evals.retrieval --data DIR`` prints Markdown.

Each public set is ingested into a Postgres of its own and asked its answerable questions: by
distance alone, by BM25 alone, and by both under each fusion; beside them a plain BM25 (bm25s) and
LlamaIndex's own PGVectorStore in its two modes, over the same texts and vectors. SciFact's
abstracts are one chunk each, as its judgements are; the others are split as Helix splits them.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore
from numpy.typing import NDArray
from snowballstemmer import stemmer

from db.embedded import DATABASE, acquire
from db.migrate import migrate
from evals.offline_sets import QuestionSet, load_covidqa, load_scifact, load_squad
from evals.ranking_measures import HEADINGS, measures
from helix.contract import EMBEDDING_DIMENSIONS
from helix.hybrid_sql import LISTED, RRF_K
from helix.providers.offline.vectors import word_vectors
from helix.records import DocumentRecord
from helix.store import ChunkStore
from helix.term_rows import K1, B
from pipelines.splitters import chunk_spans

SIZE = (500, 50)
"""Tokens of a chunk and of its overlap, as Helix splits by default."""
WEIGHTS = (0.3, 0.4, 0.5, 0.55, 0.6, 0.7)
DEPTH = 50

Vectors = NDArray[np.float32]
Ranking = list[int]


@dataclass(frozen=True)
class Corpus:
    """Chunks as (document, start, end), their vectors, and the questions with theirs.

    ``relevant`` are, for each question, the numbers of the chunks that answer it.
    """

    name: str
    source: QuestionSet
    chunks: Sequence[tuple[int, int, int]]
    vectors: Vectors
    questions: Sequence[str]
    asked: Vectors
    relevant: Sequence[Set[int]]

    def text(self, chunk: int) -> str:
        document, start, end = self.chunks[chunk]
        return self.source.documents[document].text[start:end]

    def title(self, chunk: int) -> str:
        return self.source.documents[self.chunks[chunk][0]].title


@dataclass(frozen=True)
class Candidates:
    """What one hybrid search scored: numbers of chunks, their distances and BM25 scores."""

    chunks: Ranking
    distances: Vectors
    scores: Vectors

    def ranked_by(self, values: Vectors) -> Ranking:
        return [self.chunks[place] for place in np.argsort(-values, kind="stable")[:DEPTH]]

    def dense(self) -> Ranking:
        return self.ranked_by(-self.distances)

    def lexical(self) -> Ranking:
        return [c for c in self.ranked_by(self.scores) if self.scores[self.chunks.index(c)] > 0]

    def reciprocal(self) -> Ranking:
        values = np.zeros(len(self.chunks), dtype=np.float32)
        for ranking in (self.dense(), self.lexical()):
            for place, chunk in enumerate(ranking):
                values[self.chunks.index(chunk)] += 1 / (RRF_K + place + 1)
        return self.ranked_by(values)

    def convex(self, weight: float) -> Ranking:
        best = float(self.scores.max()) or 1.0
        return self.ranked_by(weight * (1 - self.distances) + (1 - weight) * self.scores / best)


def corpus(source: QuestionSet, name: str, minilm: Path | None = None) -> Corpus:
    """Split and embed a set; with ``minilm`` its vectors of texts and questions are taken."""
    whole = source.name == "scifact"
    chunks = [
        (number, start, end)
        for number, document in enumerate(source.documents)
        for start, end in (
            [(0, len(document.text))] if whole else chunk_spans(document.text, *SIZE)
        )
    ]
    texts = [
        f"{source.documents[d].title}\n\n{source.documents[d].text[s:e]}" for d, s, e in chunks
    ]
    right = [_right(question.spans, chunks) for question in source.answerable]
    kept = [number for number, chosen in enumerate(right) if chosen]
    questions = [source.answerable[number].text for number in kept]
    if minilm:
        stored = np.load(minilm)
        vectors = stored["documents"].astype(np.float32)
        asked = stored["queries"].astype(np.float32)[kept]  # in the order of the set's own file
    else:
        vectors, asked = word_vectors().embed(texts), word_vectors().embed(questions)
    return Corpus(name, source, chunks, vectors, questions, asked, [right[n] for n in kept])


def _right(
    spans: Sequence[tuple[int, int, int]], chunks: Sequence[tuple[int, int, int]]
) -> set[int]:
    return {
        number
        for number, (document, first, last) in enumerate(chunks)
        for where, start, end in spans
        if where == document and (end < 0 or (first <= start and end <= last))
    }


def padded(vector: Vectors) -> list[float]:
    """The vector with zeros to the width of the database, which change no cosine."""
    return [*map(float, vector), *[0.0] * (EMBEDDING_DIMENSIONS - len(vector))]


def node(corpus: Corpus, chunk: int, ordinal: int, parent: str) -> TextNode:
    """A chunk as the splitter would give it, with its vector."""
    _, start, end = corpus.chunks[chunk]
    return TextNode(
        id_=f"{corpus.name}-{chunk}",
        text=corpus.text(chunk),
        embedding=padded(corpus.vectors[chunk]),
        metadata={
            "title": corpus.title(chunk), "ordinal": ordinal, "start_char": start, "end_char": end
        },
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=parent)},
    )  # fmt: skip


async def ingest(store: ChunkStore, corpus: Corpus) -> None:
    """Write every document with its chunks."""
    by_document: dict[int, list[int]] = {}
    for number, (place, _, _) in enumerate(corpus.chunks):
        by_document.setdefault(place, []).append(number)
    async with store.bulk_load():
        for number, chunks in by_document.items():
            document = corpus.source.documents[number]
            nodes = [node(corpus, c, ordinal, str(number)) for ordinal, c in enumerate(chunks)]
            source = f"{corpus.name}/{number}"
            await store.write(DocumentRecord(source, document.title, "", "", document.text), nodes)


async def candidates(store: ChunkStore, corpus: Corpus) -> list[Candidates]:
    """All that a hybrid search of each question scores."""
    found: list[Candidates] = []
    for question, vector in zip(corpus.questions, corpus.asked, strict=True):
        result = await store.search_hybrid(question, padded(vector), 4 * LISTED)
        found.append(
            Candidates(
                [int(hit.node_id.rpartition("-")[2]) for hit in result.hits],
                np.array([hit.distance for hit in result.hits], dtype=np.float32),
                np.array(result.scores, dtype=np.float32),
            )
        )
    return found


def plain_bm25(corpus: Corpus) -> list[Ranking]:
    """bm25s over the same texts, with its own English tokeniser, stemmed."""
    bm25s: Any = import_module("bm25s")  # it exports without types
    english = stemmer("english")
    texts = [f"{corpus.title(c)} {corpus.text(c)}" for c in range(len(corpus.chunks))]
    options = {"stopwords": "en", "stemmer": english.stemWords, "show_progress": False}
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index(bm25s.tokenize(texts, **options), show_progress=False)
    depth = min(DEPTH, len(texts))
    asked = bm25s.tokenize(list(corpus.questions), **options)
    found, _ = index.retrieve(asked, k=depth, show_progress=False)
    return [list(map(int, row)) for row in found]


def stock(url: str, corpus: Corpus) -> Iterator[tuple[str, list[Ranking]]]:
    """PGVectorStore as it comes: its own table, its own index, its two modes."""
    address = "postgresql+psycopg" + url[url.index("://") :]
    store = PGVectorStore(
        connection_string=address, async_connection_string=address, table_name="stock",
        embed_dim=EMBEDDING_DIMENSIONS, hybrid_search=True, text_search_config="english",
    )  # fmt: skip
    store.add([node(corpus, c, 0, "x") for c in range(len(corpus.chunks))])
    modes = {"default": VectorStoreQueryMode.DEFAULT, "hybrid": VectorStoreQueryMode.HYBRID}
    for name, mode in modes.items():
        rankings: list[Ranking] = []
        for question, vector in zip(corpus.questions, corpus.asked, strict=True):
            query = VectorStoreQuery(
                padded(vector), DEPTH, query_str=question, mode=mode, sparse_top_k=DEPTH
            )
            ids = store.query(query).ids or []
            rankings.append([int(i.rpartition("-")[2]) for i in ids])
        yield name, rankings


def rows(corpus: Corpus, found: Sequence[Candidates]) -> Iterator[tuple[str, list[Ranking]]]:
    """The rankings of Helix by the name of their table row."""
    yield "dense", [each.dense() for each in found]
    yield "BM25 in Postgres", [each.lexical() for each in found]
    yield "hybrid, reciprocal rank", [each.reciprocal() for each in found]
    for weight in WEIGHTS:
        yield f"hybrid, convex, {weight} dense", [each.convex(weight) for each in found]


async def report(url: str, corpus: Corpus, *, with_stock: bool) -> None:
    """Print the table of one set."""
    migrate(url)
    store = ChunkStore(url, f"eval:{corpus.name}")
    await ingest(store, corpus)
    found = await candidates(store, corpus)
    await store.close()
    size = f"{len(corpus.chunks)} chunks, {len(corpus.questions)} questions"
    print(
        f"\n## {corpus.name}: {size}\n\n| | {' | '.join(HEADINGS)} |\n|---{'|---' * len(HEADINGS)}|"
    )
    table = [*rows(corpus, found), ("bm25s", plain_bm25(corpus))]
    for name, rankings in table:
        _print(name, rankings, corpus)
    if with_stock:
        for name, rankings in stock(url, corpus):
            _print(f"stock PGVectorStore, {name}", rankings, corpus)


def _print(name: str, rankings: Sequence[Ranking], corpus: Corpus) -> None:
    values = measures(rankings, corpus.relevant)
    print(f"| {name} | " + " | ".join(f"{values[h]:.3f}" for h in HEADINGS) + " |", flush=True)


def corpora(data: Path) -> Iterator[Corpus]:
    """The sets, one at a time."""
    scifact = load_scifact(data)
    yield corpus(scifact, "SciFact")
    yield corpus(scifact, "SciFact, MiniLM vectors", data / "scifact/minilm.npz")
    yield corpus(load_squad(data), "SQuAD articles")
    yield corpus(load_covidqa(data), "CovidQA")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--no-stock", action="store_true", help="leave PGVectorStore out")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="helix-evals-"))
    try:
        with acquire(directory) as server:
            for number, each in enumerate(corpora(arguments.data)):
                name = f"set_{number}"
                with psycopg.connect(server.url, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")
                url = server.url.replace(f"/{DATABASE}?", f"/{name}?")
                asyncio.run(report(url, each, with_stock=not arguments.no_stock))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
