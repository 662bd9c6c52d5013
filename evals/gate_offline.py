"""Calibrate the gate of the offline embedder: ``python -m evals.gate_offline --data DIR``.

Each public set is in turn the corpus, split as Helix splits it. Its own answerable questions
should pass the gate; questions of the other sets, and of the half of its documents that was left
out, should not. The recommended ceiling is the tightest that lets 85% of the answerable
questions of every corpus through: a question refused by the gate is lost, one let through is
still judged by the model. Exact search; prints Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.offline_sets import Question, QuestionSet, load_all
from helix.providers.offline.vectors import word_vectors
from pipelines.splitters import chunk_spans

COVERAGE = 0.85
SIZES = ((500, 50), (225, 25))
THRESHOLDS = (0.50, 0.55, 0.60, 0.65, 0.68, 0.70, 0.71, 0.72, 0.75, 0.80)
TOP = 10

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """A set's chunks as (document, start, end) rows and the distances of every set to them."""

    questions: QuestionSet
    chunks: NDArray[np.int64]
    distances: dict[str, Matrix]

    def answerable(self) -> NDArray[np.bool_]:
        return np.array([bool(question.spans) for question in self.questions.questions])

    def own(self) -> Matrix:
        return self.distances[self.questions.name]


def build(sets: Sequence[QuestionSet], tokens: int, overlap: int, *, titled: bool) -> list[Corpus]:
    """Split and embed every set; distances are of shape (questions, chunks)."""
    vectors = word_vectors()
    asked = {s.name: vectors.embed([q.text for q in s.questions]) for s in sets}
    corpora = []
    for each in sets:
        rows = [
            (number, start, end)
            for number, document in enumerate(each.documents)
            for start, end in chunk_spans(document.text, tokens, overlap)
        ]
        texts = [each.documents[d].text[s:e] for d, s, e in rows]
        if titled:
            titles = [each.documents[d].title for d, _, _ in rows]
            texts = [f"{title}\n\n{text}" for title, text in zip(titles, texts, strict=True)]
        embedded = vectors.embed(texts)
        distances = {name: 1 - questions @ embedded.T for name, questions in asked.items()}
        corpora.append(Corpus(each, np.array(rows, dtype=np.int64), distances))
    return corpora


def retrieval(corpus: Corpus) -> tuple[float, float]:
    """Recall@5 of the chunk that holds the answer, and its mean reciprocal rank (first 10)."""
    recall = reciprocal = count = 0.0
    order = np.argsort(corpus.own(), axis=1, kind="stable")[:, :TOP]
    for question, ranked in zip(corpus.questions.questions, order, strict=True):
        if not question.spans:
            continue
        count += 1
        rank = next((i for i, c in enumerate(ranked) if _holds(question, corpus.chunks[c])), None)
        if rank is not None:
            recall += rank < 5
            reciprocal += 1 / (rank + 1)
    return recall / count, reciprocal / count


def _holds(question: Question, chunk: NDArray[np.int64]) -> bool:
    return any(
        document == chunk[0] and (end < 0 or (chunk[1] <= start and end <= chunk[2]))
        for document, start, end in question.spans
    )


def left_out(corpus: Corpus) -> tuple[Matrix, Matrix]:
    """Nearest distances in one half of the documents: of its own questions, of the other's."""
    document = np.array([question.document for question in corpus.questions.questions])
    halves = [corpus.own()[:, corpus.chunks[:, 0] % 2 == parity].min(axis=1) for parity in (0, 1)]
    even = document % 2 == 0
    inside, outside = np.where(even, *halves), np.where(even, *halves[::-1])
    answerable = corpus.answerable()
    return inside[answerable], outside[answerable]


def wilson(hits: int, total: int) -> str:
    """``0.80 [0.78, 0.82]``: a share with Wilson's 95% interval."""
    share, z = hits / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = share * (1 - share) / total + z * z / (4 * total * total)
    half = z / (1 + z * z / total) * math.sqrt(spread)
    return f"{share:.3f} [{middle - half:.3f}, {middle + half:.3f}]"


def comparison(sets: Sequence[QuestionSet]) -> Iterator[str]:
    """Chunk sizes and titles: retrieval, and refusals at 80% coverage."""
    yield "| corpus | tokens | title | chunks | recall@5 | MRR | left-out half refused at 0.80 |"
    yield "|---|---|---|---|---|---|---|"
    for tokens, overlap in SIZES:
        for titled in (False, True):
            for corpus in build(sets, tokens, overlap, titled=titled):
                recall, reciprocal = retrieval(corpus)
                inside, outside = left_out(corpus)
                ceiling = np.quantile(inside, 0.8)
                share = wilson(int((outside > ceiling).sum()), len(outside))
                name = corpus.questions.name
                separation = share if name != "scifact" else "–"  # its halves share their topics
                yield (
                    f"| {name} | {tokens} | {'yes' if titled else 'no'} | {len(corpus.chunks)} |"
                    f" {recall:.3f} | {reciprocal:.3f} | {separation} |"
                )


def sweep(corpus: Corpus) -> Iterator[str]:
    """One row a ceiling: answerable questions let through, the other kinds refused."""
    name = corpus.questions.name
    others = [other for other in corpus.distances if other != name]
    answerable, nearest = corpus.answerable(), corpus.own().min(axis=1)
    missed = int((~answerable).sum())
    yield (
        f"| ceiling | coverage (n={int(answerable.sum())}) | near-miss refused (n={missed}) | "
        + " | ".join(f"{o} refused (n={len(corpus.distances[o])})" for o in others)
        + " | left-out half refused |"
    )
    yield "|---" * (4 + len(others)) + "|"
    for ceiling in THRESHOLDS:
        near = nearest[~answerable]
        passed = nearest[answerable] <= ceiling
        cells = [f"{ceiling:.2f}", wilson(int(passed.sum()), len(passed))]
        cells.append(wilson(int((near > ceiling).sum()), len(near)) if len(near) else "–")
        for other in others:
            refused = corpus.distances[other].min(axis=1) > ceiling
            cells.append(wilson(int(refused.sum()), len(refused)))
        outside = left_out(corpus)[1]
        cells.append(wilson(int((outside > ceiling).sum()), len(outside)))
        yield "| " + " | ".join(cells) + " |"


def recommended(corpora: Sequence[Corpus]) -> float:
    """The tightest ceiling, to two places, at which no corpus loses more than its share."""
    needed = [
        float(np.quantile(corpus.own().min(axis=1)[corpus.answerable()], COVERAGE))
        for corpus in corpora
    ]
    return math.ceil(max(needed) * 100) / 100


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    sets = load_all(parser.parse_args().data)
    for line in comparison(sets):
        print(line, flush=True)
    corpora = build(sets, *SIZES[0], titled=True)
    for corpus in corpora:
        print(f"\n### {corpus.questions.name}: {len(corpus.chunks)} chunks\n")
        for line in sweep(corpus):
            print(line)
    print(f"\nRecommended RETRIEVAL_MAX_DISTANCE: {recommended(corpora):.2f}")


if __name__ == "__main__":
    main()
