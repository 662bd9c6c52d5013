"""A set's passages as a small search: what a question is asked of, by BM25 and by meaning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from helix.evidence.vectors import word_vectors
from helix.evidence.words import words_of
from helix.language.sentences import Passage

_K1, _B = 0.9, 0.4
_BY_MEANING = 0.3  # of the sum of both, each from 0 to 1


class Corpus:
    """Passages that are searched together; ``documents`` names the document of each."""

    def __init__(self, passages: Sequence[Passage], documents: Sequence[str]) -> None:
        self.passages, self.documents = passages, np.array(documents)
        texts = [f"{passage.headings} {passage.text}" for passage in passages]
        self._vectors = word_vectors().embed(texts)
        counts = [Counter(word.form for word in words_of(text)) for text in texts]
        lengths = np.array([sum(one.values()) for one in counts], dtype=np.float32)
        norms = _K1 * (1 - _B + _B * lengths / max(lengths.mean(), 1))
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, one in enumerate(counts):
            for form, times in one.items():
                postings[form].append((place, times * (_K1 + 1) / (times + norms[place])))
        self._postings = {
            form: (np.array([p for p, _ in rows]), np.array([s for _, s in rows]))
            for form, rows in postings.items()
        }

    def search(self, question: str, count: int, without: Collection[str] = ()) -> list[int]:
        """The places of the best ``count`` passages, best first, of no document in ``without``."""
        scores = np.zeros(len(self.passages))
        for form in {word.form for word in words_of(question)}:
            if form in self._postings:
                places, parts = self._postings[form]
                rare = np.log1p((len(scores) - len(places) + 0.5) / (len(places) + 0.5))
                scores[places] += rare * parts
        near = self._vectors @ word_vectors().embed([question])[0]
        total = (1 - _BY_MEANING) * _even(scores) + _BY_MEANING * _even(near)
        if without:
            total[np.isin(self.documents, list(without))] = -1
        return [int(place) for place in np.argsort(-total, kind="stable")[:count]]


def _even(values: NDArray[np.generic]) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    return (np.asarray(values, dtype=np.float64) - low) / max(high - low, 1e-9)
