"""The quality of retrieval: ``python -m evals.retrieval --data DIR`` prints Markdown.

Each public set is stored in a database of its own and asked its answerable questions: by distance
alone, by BM25 alone, by both as served, and by both under other fusions; beside them the rankers of
evals/baseline_rankers.py over the same texts and vectors. SciFact's abstracts are one chunk each,
as its judgements are; the others are split as Helix splits them, but where vectors are stored with
the set (MiniLM's), of SQuAD by paragraph. ``Identifiers`` asks for file and catalogue numbers.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals import baseline_rankers
from evals.corpora import (
    JudgedCorpus,
    SplitCorpus,
    chunk_node,
    embed_corpus,
    judged,
    judged_set,
    padded,
    store_corpus,
    whole_documents,
)
from evals.database import temporary_databases
from evals.datasets import load_covidqa, load_scifact, load_squad
from evals.datasets.identifiers import load_identifiers
from evals.datasets.records import QuestionSet, Span
from evals.datasets.squad import paragraphs
from evals.metrics.ranking import HEADINGS, Ranking, ranking_measures
from helix.domain.context import sources_of
from helix.domain.records import Hit
from helix.domain.retrieval import LISTED, Fusion
from helix.language.terms import terms
from helix.providers.base import ENCODER_DENSE_WEIGHT
from helix.store import ChunkStore

WEIGHTS = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
DEPTH = 50
_BY_SCORE = 100
"""The number of BM25's results that are fused with the 50 nearest (helix.storage.searches)."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Candidates:
    """The rankings of one question, places of chunks, best first.

    ``distances`` and ``scores`` (BM25) are those of ``chunks``, from which other fusions are made.
    """

    dense: Ranking
    lexical: Ranking
    reciprocal: Ranking
    served: list[Hit]
    chunks: Ranking
    distances: Floats
    scores: Floats

    def convex(self, weight: float) -> Ranking:
        """The ranking where the distance has this share of the score."""
        best = float(self.scores.max(initial=0)) or 1.0
        values = weight * (1 - self.distances) + (1 - weight) * self.scores / best
        return [self.chunks[place] for place in np.argsort(-values, kind="stable")[:DEPTH]]

    def in_context(self, right: Set[int]) -> Ranking:
        """The sources that a prompt would hold of all that was served, one place each.

        A source of several chunks counts as the one of them that is ``right``, if any is.
        """
        sources = [[_place(hit) for hit in (s.hit, *s.hits)] for s in sources_of(self.served)]
        return [next((n for n in places if n in right), places[0]) for places in sources]


def _place(hit: Hit) -> int:
    """The place in its corpus of the chunk that was hit."""
    return int(hit.node_id.rpartition("-")[2])


def with_minilm(name: str, source: QuestionSet, file: Path, chunks: list[Span]) -> JudgedCorpus:
    """A set in the MiniLM vectors stored with it, of its ``chunks`` and of its questions."""
    names = ("documents", "queries") if source.name == "scifact" else ("contexts", "questions")
    with np.load(file) as stored:
        vectors, asked = (stored[name].astype(np.float32) for name in names)
    assert len(chunks) == len(vectors) and len(source.questions) == len(asked)
    corpus = SplitCorpus(source, chunks, vectors)
    return judged(name, corpus, asked, weight=ENCODER_DENSE_WEIGHT)


async def search(
    store: ChunkStore, question: str, vector: list[float], weight: float
) -> Candidates:
    """The rankings of one question, ``weight`` being the dense share that is served."""
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
        [_place(hit) for hit in nearest],
        [_place(each.hit) for each in by_score.candidates if each.score],
        [_place(hit) for hit in reciprocal.hits],
        served.hits,
        [_place(each.hit) for each in scored],
        np.array([each.hit.distance for each in scored], dtype=np.float32),
        np.array([each.score or 0 for each in scored], dtype=np.float32),
    )


def helix_rankings(
    corpus: JudgedCorpus, found: Sequence[Candidates]
) -> Iterator[tuple[str, list[Ranking]]]:
    """The rankings of Helix by the name of their table row."""
    yield "dense", [each.dense for each in found]
    yield "BM25 in Postgres", [each.lexical for each in found]
    yield (
        f"**hybrid as served, {corpus.weight} dense**",
        [[_place(hit) for hit in each.served] for each in found],
    )
    budgeted = [e.in_context(right) for e, right in zip(found, corpus.relevant, strict=True)]
    yield "hybrid + context budget", budgeted
    yield "hybrid, reciprocal rank", [each.reciprocal for each in found]


def baseline_rankings(url: str, corpus: JudgedCorpus) -> Iterator[tuple[str, list[Ranking]]]:
    """The rankings that it is compared with, by the name of their table row."""
    texts, questions = corpus.searched(), corpus.questions
    yield "full text (ts_rank)", baseline_rankers.full_text(url, texts, questions, DEPTH)
    for name, tokens in (
        ("bm25s, its own English tokeniser", baseline_rankers.english_tokens()),
        ("bm25s, our terms", terms),
    ):
        yield name, baseline_rankers.bm25s(texts, questions, tokens, DEPTH)
    nodes = [chunk_node(corpus, c, 0, "x") for c in range(len(corpus.chunks))]
    asked = [(q, padded(v)) for q, v in zip(questions, corpus.asked, strict=True)]
    for name, rankings in baseline_rankers.stock(url, nodes, asked, DEPTH):
        yield f"stock PGVectorStore, {name}", rankings


async def report(url: str, corpus: JudgedCorpus) -> None:
    """Print the tables of one set: the rankings, and the weights of the convex sum."""
    store = ChunkStore(url, f"eval:{corpus.name}")
    try:
        await store_corpus(store, corpus)
        found = [
            await search(store, question, padded(vector), corpus.weight)
            for question, vector in zip(corpus.questions, corpus.asked, strict=True)
        ]
    finally:
        await store.close()
    size = f"{len(corpus.chunks)} chunks, {len(corpus.questions)} questions"
    print(f"\n## {corpus.name}: {size}\n\n| | {' | '.join(HEADINGS)} |")
    print(f"|---{'|---' * len(HEADINGS)}|")
    for rows in (helix_rankings(corpus, found), baseline_rankings(url, corpus)):
        for name, rankings in rows:
            values = ranking_measures(rankings, corpus.relevant)
            cells = " | ".join(f"{values[heading]:.3f}" for heading in HEADINGS)
            print(f"| {name} | {cells} |", flush=True)
    weights(corpus, found)


def weights(corpus: JudgedCorpus, found: Sequence[Candidates]) -> None:
    """Print nDCG@10 by the dense share, of every other question and of those between."""
    print(f"\n| dense share | {' | '.join(map(str, WEIGHTS))} |\n|---{'|---' * len(WEIGHTS)}|")
    for name, half in (("even questions", slice(0, None, 2)), ("odd questions", slice(1, None, 2))):
        right = corpus.relevant[half]
        values = [
            ranking_measures([each.convex(weight) for each in found[half]], right)[HEADINGS[0]]
            for weight in WEIGHTS
        ]
        print(f"| nDCG@10, {name} | {' | '.join(f'{v:.3f}' for v in values)} |", flush=True)


def _squad_minilm(name: str, data: Path) -> JudgedCorpus:
    squad = load_squad(data)
    return with_minilm(name, squad, data / "squad2/minilm.npz", list(paragraphs(squad)))


def _scifact_minilm(name: str, data: Path) -> JudgedCorpus:
    scifact = load_scifact(data)
    return with_minilm(name, scifact, data / "scifact/minilm.npz", whole_documents(scifact))


def _identifiers(name: str, data: Path) -> JudgedCorpus:
    return judged(name, embed_corpus(load_identifiers(data)), most=5)


SETS: Mapping[str, Callable[[str, Path], JudgedCorpus]] = {
    "SQuAD articles": lambda name, data: judged_set(name, load_squad(data)),
    "SQuAD paragraphs, MiniLM vectors": _squad_minilm,
    "SciFact": lambda name, data: judged_set(name, load_scifact(data)),
    "SciFact, MiniLM vectors": _scifact_minilm,
    "CovidQA": lambda name, data: judged_set(name, load_covidqa(data)),
    "Identifiers": _identifiers,
}


def main() -> None:
    """Report each set that was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--set", action="append", choices=SETS, help="one of them; default all")
    arguments = parser.parse_args()
    with temporary_databases() as created:
        for number, name in enumerate(arguments.set or SETS):
            asyncio.run(report(created(f"set_{number}"), SETS[name](name, arguments.data)))


if __name__ == "__main__":
    main()
