"""``python -m evals.languages [--data DIR]``: how well passages are found in other languages.

Prints Markdown: the share of questions whose passage is among the first five, by words alone and
as served, with the embedder that HELIX_EMBEDDER names (offline unless set). Each library is the
same documents in one language, asked in that language and in English; the last holds all of them.
With ``--data``, the folder of the public sets, XQuAD is asked too.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evals.corpora import JudgedCorpus, SplitCorpus, Vectors, judged, padded, store_corpus
from evals.database import settings_of_run, temporary_databases
from evals.datasets.squad import paragraphs
from evals.languages.sets import Library, own_libraries, xquad_libraries
from evals.metrics.ranking import ranking_measures
from helix.domain.retrieval import Fusion
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.store import ChunkStore

_DEPTH = 5
_WORDS_ALONE = 0.0


async def corpora(library: Library, embedder: Embedder, limit: int) -> list[JudgedCorpus]:
    """The library with its vectors, once for each set of questions, of ``limit`` at most."""
    source = library.asked[0]
    spans = list(paragraphs(source))
    titled = [f"{source.documents[d].title}\n\n{source.documents[d].text[s:e]}"
              for d, s, e in spans]  # fmt: skip
    vectors = await _vectors(embedder, titled)
    found = []
    for each in library.asked:
        step = max(len(each.questions) // limit, 1)  # spread over all of the documents
        questions = each.questions[::step][:limit]
        asked = [await embedder.model.aget_query_embedding(one.text) for one in questions]
        corpus = SplitCorpus(replace(each, questions=questions), spans, vectors)
        found.append(
            judged(each.name, corpus, np.array(asked, np.float32), weight=embedder.dense_weight)
        )
    return found


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    made: list[Sequence[float]] = []
    for start in range(0, len(texts), embedder.max_batch):
        batch = list(texts[start : start + embedder.max_batch])
        made += await embedder.model.aget_text_embedding_batch(batch)
    return np.array(made, np.float32)


async def recall(store: ChunkStore, corpus: JudgedCorpus, dense_weight: float) -> float:
    """The share of the questions whose passage is among the first five, 0 to 1."""
    rankings = []
    for question, vector in zip(corpus.questions, corpus.asked, strict=True):
        found = await store.search_hybrid(
            question, padded(vector), _DEPTH, fusion=Fusion(dense_weight)
        )
        told = [one for one in found.candidates if dense_weight or one.score]
        rankings.append([int(one.hit.node_id.rpartition("-")[2]) for one in told])
    return ranking_measures(rankings, corpus.relevant)[f"recall@{_DEPTH}"]


async def report(url: str, libraries: Sequence[Library], embedder: Embedder, limit: int) -> None:
    """Print a row for each library and language of questions."""
    store = ChunkStore(url, embedder.identity)
    print("| library | asked in | questions | words alone | as served |\n|---|---|---|---|---|")
    try:
        for number, library in enumerate(libraries):
            of_tenant = store.session(tenant=f"library-{number}")
            asked = await corpora(library, embedder, limit)
            await store_corpus(of_tenant, asked[0])
            for corpus in asked:
                values = [await recall(of_tenant, corpus, weight)
                          for weight in (_WORDS_ALONE, corpus.weight)]  # fmt: skip
                cells = " | ".join(f"{value:.3f}" for value in values)
                size = len(corpus.questions)
                print(f"| {library.name} | {corpus.name} | {size} | {cells} |", flush=True)
    finally:
        await store.close()
        await embedder.aclose()


def main() -> None:
    """Report the own sets, and XQuAD where its folder is given."""
    parser = argparse.ArgumentParser(
        prog="evals.languages", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--limit", type=int, default=1000, help="most questions of a set")
    options = parser.parse_args()
    libraries = [*own_libraries(), *(xquad_libraries(options.data) if options.data else ())]
    with settings_of_run() as settings, temporary_databases() as created:
        embedder = build_embedder(settings)
        asyncio.run(report(created("languages"), libraries, embedder, options.limit))


if __name__ == "__main__":
    main()
