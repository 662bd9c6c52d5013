"""Whether synonyms help BM25: ``python -m evals.expansion --data DIR`` prints Markdown.

Each word of a question brings the words of the stored texts that are nearest to it by the offline
embedder's vectors, as further terms of less weight. BM25 is computed in this process, over all
chunks; the vocabulary is that of the chunks themselves, which is the most that an offline
rewriting could know.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.offline_sets import load_scifact, load_squad
from evals.ranking_measures import HEADINGS, measures
from evals.retrieval import DEPTH, Corpus, Ranking, corpus
from helix.contract import DEFAULT_DENSE_WEIGHT
from helix.hybrid_sql import LISTED
from helix.providers.offline.vectors import word_vectors
from helix.term_rows import K1, B, searched_text
from helix.terms import STOP_WORDS, question_terms, terms
from helix.text import words

COUNTS = (1, 2, 4)
"""Synonyms that a word of the question brings."""
FLOORS = (0.5, 0.6, 0.7)
"""Least cosine of a synonym."""
WEIGHTS = (0.1, 0.3, 1.0)
"""What a synonym's term weighs, of what the question's own do."""

Floats = NDArray[np.float64]
Weighted = Mapping[str, float]
Synonyms = Mapping[str, Sequence[tuple[str, float]]]


class Index:
    """BM25 of every chunk of a corpus: for each term the chunks that have it and their scores."""

    def __init__(self, of: Corpus) -> None:
        self.size = len(of.chunks)
        found = [
            Counter(terms(searched_text(of.title(c), None, of.text(c)))) for c in range(self.size)
        ]
        lengths = np.array([count.total() for count in found], dtype=np.float64)
        softening = K1 * (1 - B + B * lengths / lengths.mean())
        rows: dict[str, list[tuple[int, int]]] = {}
        for chunk, counts in enumerate(found):
            for term, count in counts.items():
                rows.setdefault(term, []).append((chunk, count))
        self.postings = {term: self._scored(row, softening) for term, row in rows.items()}

    def _scored(
        self, row: Sequence[tuple[int, int]], softening: Floats
    ) -> tuple[NDArray[np.int64], Floats]:
        chunks, counts = np.array(row).T
        idf = np.log(1 + (self.size - len(row) + 0.5) / (len(row) + 0.5))
        return chunks, idf * counts / (counts + softening[chunks])

    def scores(self, asked: Weighted) -> Floats:
        total = np.zeros(self.size)
        for term, weight in asked.items():
            if term in self.postings:
                chunks, values = self.postings[term]
                total[chunks] += weight * values
        return total


def synonyms(of: Corpus) -> Synonyms:
    """For each content word of the questions the nearest ones of the texts and their cosines."""
    stored = Counter(
        word
        for chunk in range(len(of.chunks))
        for word in set(words(of.text(chunk)))
        if word.isalpha() and len(word) > 2 and word not in STOP_WORDS
    )
    vocabulary = sorted(stored)
    vectors = word_vectors().embed(vocabulary)
    asked = sorted({w for question in of.questions for w in words(question)} - STOP_WORDS)
    near: dict[str, list[tuple[str, float]]] = {}
    for word, vector in zip(asked, word_vectors().embed(asked), strict=True):
        cosines = vectors @ vector
        best = np.argsort(-cosines)[:30]
        near[word] = [(vocabulary[place], float(cosines[place])) for place in best]
    return near


def expanded(
    question: str, near: Synonyms, count: int, floor: float, weight: float
) -> dict[str, float]:
    """The question's terms with weight 1, and those of its words' synonyms with less."""
    own = dict.fromkeys(question_terms(question), 1.0)
    added: dict[str, float] = {}
    for word in words(question):
        others = (terms(other)[0] for other, cosine in near.get(word, ()) if cosine >= floor)
        fresh = dict.fromkeys(term for term in others if term not in own)
        added.update(dict.fromkeys(islice(fresh, count), weight))
    return {**added, **own}


def ranked(values: Floats) -> Ranking:
    best = np.argsort(-values, kind="stable")[:DEPTH]
    return [int(chunk) for chunk in best if values[chunk] > 0]


def fused(scores: Floats, cosines: Floats) -> Ranking:
    """Hybrid search's ranking of what either ranker lists (helix.hybrid_sql)."""
    listed = {*np.argsort(-cosines, kind="stable")[:LISTED], *ranked(scores)[:LISTED]}
    values = DEFAULT_DENSE_WEIGHT * cosines
    values = values + (1 - DEFAULT_DENSE_WEIGHT) * scores / (scores.max() or 1.0)
    return [int(c) for c in sorted(listed, key=lambda c: -values[c])[:DEPTH]]


def rows(of: Corpus) -> Iterator[tuple[str, list[Weighted]]]:
    """Each way of asking, and the weighted terms of every question."""
    near = synonyms(of)
    yield "nothing added", [dict.fromkeys(question_terms(q), 1.0) for q in of.questions]
    for count, floor, weight in product(COUNTS, FLOORS, WEIGHTS):
        name = f"{count} of cosine {floor}, weight {weight}"
        yield name, [expanded(q, near, count, floor, weight) for q in of.questions]


def report(of: Corpus) -> None:
    """Print the table of one set: BM25 alone and hybrid, in that order."""
    index = Index(of)
    cosines = (of.asked @ of.vectors.T).astype(np.float64)
    print(f"\n## {of.name}: {len(of.chunks)} chunks, {len(of.questions)} questions\n")
    print(f"| | {' | '.join(f'{how} {h}' for how in ('BM25', 'hybrid') for h in HEADINGS)} |")
    print(f"|---{'|---' * 2 * len(HEADINGS)}|")
    for name, asked in rows(of):
        scores = [index.scores(each) for each in asked]
        values = [measures([ranked(s) for s in scores], of.relevant)]
        values += [measures(list(map(fused, scores, cosines)), of.relevant)]
        cells = [f"{each[heading]:.3f}" for each in values for heading in HEADINGS]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    data = parser.parse_args().data
    report(corpus(load_scifact(data), "SciFact"))
    report(corpus(load_squad(data), "SQuAD articles"))


if __name__ == "__main__":
    main()
