"""How well passages are found: ``python -m evals.retrieval --data DIR`` prints Markdown.

Each public set is ingested into a Postgres of its own and asked its answerable questions: by
distance alone, by BM25 alone, by both as served, and by both under other fusions; beside them the
rankers of evals/other_rankers.py over the same texts and vectors. SciFact's abstracts are one chunk
each, as its judgements are; the others are split as Helix splits them, but where vectors are
stored with the set (MiniLM's), of SQuAD by paragraph.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from numpy.typing import NDArray

from db.embedded import DATABASE, acquire
from db.migrate import migrate
from evals import other_rankers
from evals.offline_sets import Question, QuestionSet, load_covidqa, load_scifact, load_squad
from evals.ranking_measures import HEADINGS, measures
from helix.context import sources_of
from helix.contract import DEFAULT_DENSE_WEIGHT, EMBEDDING_DIMENSIONS
from helix.hybrid_sql import LISTED, Fusion
from helix.providers.base import ENCODER_DENSE_WEIGHT
from helix.providers.offline.vectors import word_vectors
from helix.records import DocumentRecord, Hit
from helix.store import ChunkStore
from helix.term_rows import searched_text
from pipelines.splitters import chunk_spans

SIZE = (500, 50)
"""Tokens of a chunk and of its overlap, as Helix splits by default."""
WEIGHTS = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
DEPTH = 50
_BY_SCORE = 100
"""As many of BM25's are fused with the 50 nearest (helix.hybrid_sql)."""

Vectors = NDArray[np.float32]
Ranking = list[int]
Chunk = tuple[int, int, int]


@dataclass(frozen=True)
class Corpus:
    """Chunks as (document, start, end), their vectors, and the questions with theirs.

    ``relevant`` are, for each question, the numbers of the chunks that answer it; ``weight`` is the
    dense share that is served with these vectors.
    """

    name: str
    source: QuestionSet
    chunks: Sequence[Chunk]
    vectors: Vectors
    questions: Sequence[str]
    asked: Vectors
    relevant: Sequence[Set[int]]
    weight: float = DEFAULT_DENSE_WEIGHT

    def text(self, chunk: int) -> str:
        document, start, end = self.chunks[chunk]
        return self.source.documents[document].text[start:end]

    def title(self, chunk: int) -> str:
        return self.source.documents[self.chunks[chunk][0]].title

    def searched(self) -> list[str]:
        """What BM25 finds each chunk by."""
        return [searched_text(self.title(c), None, self.text(c)) for c in range(len(self.chunks))]


@dataclass(frozen=True)
class Candidates:
    """What the searches of one question found, best first, and what hybrid search scored.

    ``distances`` and ``scores`` (BM25) are those of ``chunks``, numbers of chunks.
    """

    dense: Ranking
    lexical: Ranking
    reciprocal: Ranking
    served: list[Hit]
    chunks: Ranking
    distances: Vectors
    scores: Vectors

    def convex(self, weight: float) -> Ranking:
        best = float(self.scores.max(initial=0)) or 1.0
        values = weight * (1 - self.distances) + (1 - weight) * self.scores / best
        return [self.chunks[place] for place in np.argsort(-values, kind="stable")[:DEPTH]]

    def in_context(self, right: Set[int]) -> Ranking:
        """The sources that a prompt would hold of all that was served, one place each.

        A source of several chunks counts as the one of them that is ``right``, if any is.
        """
        sources = [[number_of(hit) for hit in (s.hit, *s.hits)] for s in sources_of(self.served)]
        return [next((n for n in numbers if n in right), numbers[0]) for numbers in sources]


def number_of(hit: Hit) -> int:
    """The number in its corpus of the chunk that ``hit`` is."""
    return int(hit.node_id.rpartition("-")[2])


def corpus(source: QuestionSet, name: str) -> Corpus:
    """Split and embed a set offline."""
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
    kept = _asked(source.answerable, chunks)
    questions = [source.answerable[number].text for number in kept]
    vectors = word_vectors()
    return Corpus(
        name, source, chunks, vectors.embed(texts),
        questions, vectors.embed(questions), list(kept.values()),
    )  # fmt: skip


def with_minilm(source: QuestionSet, name: str, file: Path) -> Corpus:
    """A set in the vectors stored with it: of SciFact's abstracts or of SQuAD's paragraphs."""
    names = ("documents", "queries") if source.name == "scifact" else ("contexts", "questions")
    with np.load(file) as stored:
        vectors, asked = (stored[name].astype(np.float32) for name in names)
    if source.name == "scifact":
        chunks = [(n, 0, len(document.text)) for n, document in enumerate(source.documents)]
    else:
        chunks = list(paragraphs(source))
    assert len(chunks) == len(vectors) and len(source.questions) == len(asked)
    kept = _asked(source.questions, chunks)
    questions = [source.questions[number].text for number in kept]
    right = list(kept.values())
    return Corpus(
        name, source, chunks, vectors, questions, asked[list(kept)], right, ENCODER_DENSE_WEIGHT
    )


def paragraphs(source: QuestionSet) -> Iterator[Chunk]:
    """(document, start, end) of each paragraph, as evals/offline_sets.py joins them."""
    for number, document in enumerate(source.documents):
        start = 0
        for paragraph in document.text.split("\n\n")[:-1]:
            yield number, start, start + len(paragraph)
            start += len(paragraph) + 2


def _asked(questions: Sequence[Question], chunks: Sequence[Chunk]) -> dict[int, set[int]]:
    """The questions that a chunk answers whole, by place, and the chunks that do."""
    right = [_right(question.spans, chunks) for question in questions]
    return {place: chosen for place, chosen in enumerate(right) if chosen}


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
    """What the searches of each question find."""
    pairs = zip(corpus.questions, corpus.asked, strict=True)
    return [await _candidates(store, q, padded(v), corpus.weight) for q, v in pairs]


async def _candidates(
    store: ChunkStore, question: str, vector: list[float], weight: float
) -> Candidates:
    nearest = await store.search(vector, DEPTH)
    by_score, reciprocal, served = [
        await store.search_hybrid(question, vector, DEPTH, fusion=Fusion(share))
        for share in (0.0, None, weight)
    ]
    # as many again, of which those are taken that a search for DEPTH would have scored
    every = await store.search_hybrid(question, vector, 4 * LISTED, fusion=Fusion(weight))
    scored = [
        each
        for each in every.candidates
        if each.near_rank <= LISTED or (each.score_rank or _BY_SCORE + 1) <= _BY_SCORE
    ]
    return Candidates(
        [number_of(hit) for hit in nearest],
        [number_of(each.hit) for each in by_score.candidates if each.score],
        [number_of(hit) for hit in reciprocal.hits],
        served.hits,
        [number_of(each.hit) for each in scored],
        np.array([each.hit.distance for each in scored], dtype=np.float32),
        np.array([each.score or 0 for each in scored], dtype=np.float32),
    )


def of_helix(corpus: Corpus, found: Sequence[Candidates]) -> Iterator[tuple[str, list[Ranking]]]:
    """The rankings of Helix by the name of their table row."""
    yield "dense", [each.dense for each in found]
    yield "BM25 in Postgres", [each.lexical for each in found]
    yield (
        f"**hybrid as served, {corpus.weight} dense**",
        [[number_of(hit) for hit in each.served] for each in found],
    )
    budgeted = [e.in_context(right) for e, right in zip(found, corpus.relevant, strict=True)]
    yield "hybrid + context budget", budgeted
    yield "hybrid, reciprocal rank", [each.reciprocal for each in found]


def of_others(url: str, corpus: Corpus) -> Iterator[tuple[str, list[Ranking]]]:
    """The rankings that it is compared with, by the name of their table row."""
    texts, questions = corpus.searched(), corpus.questions
    yield "full text (ts_rank)", other_rankers.full_text(url, texts, questions, DEPTH)
    for name, tokens in (
        ("bm25s, its own English tokeniser", other_rankers.english_tokens()),
        ("bm25s, our terms", other_rankers.english_terms),
    ):
        yield name, other_rankers.bm25s(texts, questions, tokens, DEPTH)
    nodes = [node(corpus, c, 0, "x") for c in range(len(corpus.chunks))]
    asked = [(q, padded(v)) for q, v in zip(questions, corpus.asked, strict=True)]
    for name, rankings in other_rankers.stock(url, nodes, asked, DEPTH):
        yield f"stock PGVectorStore, {name}", rankings


async def report(url: str, corpus: Corpus) -> None:
    """Print the tables of one set: the rankings, and the weights of the convex sum."""
    migrate(url)
    store = ChunkStore(url, f"eval:{corpus.name}")
    await ingest(store, corpus)
    found = await candidates(store, corpus)
    await store.close()
    size = f"{len(corpus.chunks)} chunks, {len(corpus.questions)} questions"
    print(f"\n## {corpus.name}: {size}\n\n| | {' | '.join(HEADINGS)} |")
    print(f"|---{'|---' * len(HEADINGS)}|")
    for rows in (of_helix(corpus, found), of_others(url, corpus)):
        for name, rankings in rows:
            values = measures(rankings, corpus.relevant)
            cells = " | ".join(f"{values[heading]:.3f}" for heading in HEADINGS)
            print(f"| {name} | {cells} |", flush=True)
    weights(corpus, found)


def weights(corpus: Corpus, found: Sequence[Candidates]) -> None:
    """Print nDCG@10 by the dense share, of every other question and of those between."""
    print(f"\n| dense share | {' | '.join(map(str, WEIGHTS))} |\n|---{'|---' * len(WEIGHTS)}|")
    for name, half in (("even questions", slice(0, None, 2)), ("odd questions", slice(1, None, 2))):
        right = corpus.relevant[half]
        values = [
            measures([each.convex(weight) for each in found[half]], right)[HEADINGS[0]]
            for weight in WEIGHTS
        ]
        print(f"| nDCG@10, {name} | {' | '.join(f'{v:.3f}' for v in values)} |", flush=True)


SETS: Mapping[str, Callable[[str, Path], Corpus]] = {
    "SQuAD articles": lambda name, data: corpus(load_squad(data), name),
    "SQuAD paragraphs, MiniLM vectors": lambda name, data: with_minilm(
        load_squad(data), name, data / "squad2/minilm.npz"
    ),
    "SciFact": lambda name, data: corpus(load_scifact(data), name),
    "SciFact, MiniLM vectors": lambda name, data: with_minilm(
        load_scifact(data), name, data / "scifact/minilm.npz"
    ),
    "CovidQA": lambda name, data: corpus(load_covidqa(data), name),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--set", action="append", choices=SETS, help="one of them; default all")
    arguments = parser.parse_args()
    run(SETS[name](name, arguments.data) for name in arguments.set or SETS)


def run(of: Iterator[Corpus]) -> None:
    """Report each corpus from a database of its own."""
    directory = Path(tempfile.mkdtemp(prefix="helix-evals-"))
    try:
        with acquire(directory) as server:
            for number, each in enumerate(of):
                name = f"set_{number}"
                with psycopg.connect(server.url, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")
                asyncio.run(report(server.url.replace(f"/{DATABASE}?", f"/{name}?"), each))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
