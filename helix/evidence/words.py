"""Words as the model of evidence compares them: by letters, by meaning, by weight; no word list.

Scripts that write no spaces give pairs of characters. Meanings and weights are WordLlama's.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from helix.evidence.vectors import WIDTH, Vectors, word_vectors
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.words import as_typed

SAYS_NOTHING, SAYS_MUCH = 4.0, 7.0
"""WordLlama's weights up to which a word is a function word, and from which on it says much."""

Floats = NDArray[np.float32]

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(
    rf"\d++(?>(?:[.,:/]\d++)*)(?:[^\W\d_{_SPACELESS}]++)?"
    rf"|[{_SPACELESS}]++|[^\W\d_{_SPACELESS}]++[\d_]*+\w*+"
)
_PREFIX = 5
"""Letters that two forms of one word begin with, in most languages that inflect at the end."""
_SAME_PREFIX = 0.9  # how alike they are by that
_LIKE = 0.35
"""Cosine of two words' meanings from which on they count as somewhat alike."""


class Word(NamedTuple):
    """A word of a text as written, and ``form``, folded, which it is compared by."""

    written: str
    form: str


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text in order, numbers and identifiers whole."""
    return _words_of(text)


@text_cache(most_bytes=16 * MEBIBYTE, bytes_a_character=24)
def _words_of(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    for match in _WORD.finditer(text):
        written = match[0]
        if re.match(f"[{_SPACELESS}]", written) and len(written) > 1:
            found += [Word(a + b, a + b) for a, b in pairwise(written)]
        else:
            form = written.casefold()
            found.append(Word(written, form if form.isascii() else as_typed(form)))
    return tuple(found)


class _Known(NamedTuple):
    vector: Vectors
    weight: float


_MOST_KNOWN = 2**15
"""Words whose meaning is kept, 1.2 kB each; at the next one all are read anew."""
_kept_words: dict[str, _Known] = {}


def _known(forms: Sequence[str]) -> list[_Known]:
    """Meaning and weight of each; any number of threads may ask."""
    global _kept_words
    kept_words = _kept_words
    if new := [form for form in forms if form not in kept_words]:
        if len(kept_words) + len(new) > _MOST_KNOWN:
            _kept_words = kept_words = {k: v for k, v in kept_words.items() if k in set(forms)}
        vectors, weights = word_vectors().embed_and_weigh(new)
        for form, vector, weight in zip(new, vectors, weights, strict=True):
            kept_words[form] = _Known(vector, float(weight))
    return [kept_words[form] for form in forms]


class Vocabulary:
    """The different words of some texts: their places, vectors and weights."""

    def __init__(self, texts: Iterable[Sequence[Word]]) -> None:
        self.place_of: dict[str, int] = {}
        for words in texts:
            for word in words:
                self.place_of.setdefault(word.form, len(self.place_of))
        self.forms = list(self.place_of)
        known = _known(self.forms)
        self.vectors = (
            np.stack([one.vector for one in known])
            if known
            else np.zeros((0, WIDTH), dtype=np.float32)
        )
        self.weights = np.array([one.weight for one in known], dtype=np.float32)
        self.exact = np.array([not form.isalpha() for form in self.forms], dtype=bool)
        heads = [form[:_PREFIX] if form.isalpha() else form for form in self.forms]
        self.heads = np.array([zlib.crc32(head.encode()) for head in heads], dtype=np.int64)

    def likeness(self, rows: Sequence[int]) -> Floats:
        """Likeness of the words at ``rows`` to every word, 0 to 1: (len(rows), all words).

        1 for the same word; a little less for the same beginning; else by meaning. Numbers and
        what has a digit are alike only to themselves.
        """
        chosen = np.asarray(rows, dtype=np.intp)
        cosines = self.vectors[chosen] @ self.vectors.T
        alike = np.clip((cosines - _LIKE) / (1 - _LIKE), 0, 1) * _SAME_PREFIX
        alike[self.heads[chosen][:, None] == self.heads[None, :]] = _SAME_PREFIX
        alike[self.exact[chosen]] = 0
        alike[:, self.exact] = 0
        alike[np.arange(len(chosen)), chosen] = 1
        return np.asarray(alike, dtype=np.float32)
