"""Offline answers over the public sets, with what they were given; made by two processes."""

from __future__ import annotations

import itertools
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evals.corpora import SplitCorpus
from helix.domain.context import Source, sources_of
from helix.domain.contract import REFUSAL
from helix.domain.records import Hit
from helix.evidence import vectors
from helix.evidence.vectors import Vectors, WordVectors
from helix.providers.offline.extract import answer_of
from helix.providers.offline.reading import Offered, OfferedSource

TOP_K = (5, 8, 3, 12)
"""Sources are joined where there are more than five hits."""
PROCESSES = 2
_TUNED = ("squad2", "covidqa"), 4
"""The rules were set on every fourth question of these sets."""

_Task = tuple[int, int, int]
"""Place of the corpus, of the question, and its top-k."""


@dataclass(frozen=True)
class Case:
    """One offline answer, the sources it was given and the documents they come from.

    ``fresh``: its question is none of those that the rules were set on.
    """

    answer: str
    sources: Sequence[Source]
    documents: Sequence[str]
    fresh: bool = True


class _Remembering(WordVectors):
    """Vectors that are looked up once a text: the same sources come with many questions."""

    def __init__(self, known: WordVectors) -> None:
        self._source = known
        self._known: dict[str, tuple[Vectors, np.float32]] = {}

    def embed_and_weigh(self, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            units, lengths = self._source.embed_and_weigh(new)
            self._known.update(zip(new, zip(units, lengths, strict=True), strict=True))
        rows = [self._known[text] for text in texts]
        if not rows:
            return self._source.embed_and_weigh([])
        return np.stack([unit for unit, _ in rows]), np.array([length for _, length in rows])


_corpora: Sequence[SplitCorpus] = ()  # of a process that answers, which was forked with them


def answers(corpora: Sequence[SplitCorpus], count: int) -> Iterator[Case]:
    """So many offline answers, refusals left out: questions and top-k in an order drawn once.

    Every beginning is a sample of all sets, and the same whatever the number of processes.
    """
    global _corpora
    _corpora = corpora
    documents = [[document.text for document in c.source.documents] for c in corpora]
    for each in corpora:
        _ = each.distances  # computed before the processes are forked, which share them
    tasks = [
        (corpus, place, top_k)
        for corpus, each in enumerate(corpora)
        for place in range(len(each.source.questions))
        for top_k in TOP_K
    ]
    random.Random(0).shuffle(tasks)
    with multiprocessing.get_context("fork").Pool(PROCESSES, _remember) as pool:
        answered = zip(tasks, pool.imap(_answer, tasks, chunksize=20), strict=True)
        found = ((task, given) for task, given in answered if given)
        for (corpus, place, _), (answer, sources) in itertools.islice(found, count):
            yield Case(answer, sources, documents[corpus], _is_fresh(corpora[corpus], place))


def _is_fresh(corpus: SplitCorpus, place: int) -> bool:
    names, every = _TUNED
    return corpus.source.name not in names or place % every != 0


def _remember() -> None:
    vectors._loaded = _Remembering(vectors.word_vectors())


def _answer(task: _Task) -> tuple[str, list[Source]] | None:
    number, place, top_k = task
    corpus = _corpora[number]
    nearest = np.argsort(corpus.distances[place], kind="stable")[:top_k]
    sources = sources_of([_hit(corpus, int(chunk)) for chunk in nearest])
    read = tuple(OfferedSource(n, source.content) for n, source in enumerate(sources, 1))
    answer = answer_of(Offered(corpus.source.questions[place].text, read))
    return None if answer == REFUSAL else (answer, sources)


def _hit(corpus: SplitCorpus, chunk: int) -> Hit:
    document, start, end = map(int, corpus.chunks[chunk])
    whole = corpus.source.documents[document]
    text = whole.text[start:end]
    return Hit(chunk + 1, document, whole.title, "", chunk, text, start, end, str(chunk), 0.3)
