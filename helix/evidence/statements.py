"""Statements: how far sentences bear one out, in whatever words.

The encoder of evidence, with adapters of its own (``evals.evidence.train_statements``), reads a
statement with the sentences that have most of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helix.evidence.encoder import WEIGHTS as BASE
from helix.evidence.transformer import Arrays, Ids, Pair, Transformer, pooled
from helix.evidence.words import Floats

WEIGHTS = Path(__file__).with_name("statements.npz")
MOST_STATEMENT, MOST_HEADINGS, MOST_SENTENCE, MOST_READ = 56, 12, 80, 96
"""Tokens that are read of a statement, of headings, of one sentence and of all sentences."""
_LEAST_LEFT = 12  # tokens: a sentence of which less would be read is left out
_MET = 0.25  # what a word counts for that a sentence before has already
_PER_LENGTH = 0.3  # exponent of a sentence's length, by which what it has is divided
_SHORT = 8  # tokens that are added to each length
_KEPT = 1024  # readings, of 6 kB at most: an answer is proved as it is written and when it is whole


class Doubt(NamedTuple):
    """Log-odds that sentences do not bear a statement out: of the whole, and of its worst token."""

    whole: float
    worst: float


class Signs(NamedTuple):
    """A statement's ``Doubt``, the share of its words that the sentences have, 0 to 1, and more.

    ``is_near``, ``is_copy``: one sentence has two thirds or all of its words, none of them changed.
    """

    whole: float
    worst: float
    share: float
    is_near: bool
    is_copy: bool

    @property
    def row(self) -> Floats:
        """The numbers that the regression weighs, one for each sign."""
        return np.array(self, dtype=np.float32)


def closest(statement: Ids, sentences: Sequence[Ids]) -> list[int]:
    """The places of the sentences that have most of a statement's tokens together, best first.

    A token counts by how rare it is among the sentences. As many as ``MOST_READ`` tokens hold.
    """
    own = [frozenset(one) for one in sentences]
    left = _weights(frozenset(statement), own)
    chosen: list[int] = []
    room, open_ = MOST_READ, [at for at, one in enumerate(sentences) if one]

    def gain(at: int) -> float:
        met = sum(left[token] for token in own[at] if token in left)
        length: float = (len(sentences[at]) + _SHORT) ** _PER_LENGTH
        return met / length

    while open_ and room > 0:
        best = max(open_, key=gain)
        if gain(best) <= 0:
            break
        open_.remove(best)
        if chosen and len(sentences[best]) > room and room < _LEAST_LEFT:
            break
        chosen.append(best)
        room -= len(sentences[best])
        for token in own[best] & left.keys():
            left[token] *= _MET
    return chosen


def _weights(wanted: frozenset[int], sentences: Sequence[frozenset[int]]) -> dict[int, float]:
    counts = {token: sum(token in one for one in sentences) for token in wanted}
    return {token: log(1 + len(sentences) / n) for token, n in counts.items() if n}


class StatementReader:
    """The transformer with adapters and a head for statements; any number of threads may use it."""

    def __init__(self, arrays: Arrays, adapters: Arrays) -> None:
        self._transformer = Transformer(arrays, adapters)
        self._whole = adapters["claim"].astype(np.float32)
        self._word = adapters["word"].astype(np.float32)
        self._bias = adapters["biases"].astype(np.float32)
        self._joint = adapters["joint"].astype(np.float32)
        self.bar = float(adapters["bar"])
        self._read = lru_cache(_KEPT)(self._read_anew)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text."""
        return self._transformer.tokens(texts)

    def doubt(self, statement: Ids, headings: Ids, sentences: Sequence[Ids]) -> Doubt:
        """The doubt that ``sentences``, those that are ``closest`` in order, leave in a statement.

        Some 20 ms of a processor, once for the same tokens.
        """
        start, end = self._transformer.start, self._transformer.end
        said = statement[:MOST_STATEMENT]
        ids = [start, *said, end, *headings[:MOST_HEADINGS], end]
        read = [token for one in sentences for token in one[:MOST_SENTENCE]][:MOST_READ]
        return self._read((*ids, *read, end), len(ids), len(said))

    def _read_anew(self, ids: tuple[int, ...], start: int, said: int) -> Doubt:
        return self._said(self._transformer.rows([Pair(ids, start)], [slice(1, 1 + said)])[0])

    def probability(self, signs: Signs) -> float:
        """Probability that a statement of such ``signs`` is borne out, by logistic regression."""
        return float(1 / (1 + np.exp(-(signs.row @ self._joint[:-1] + self._joint[-1]))))

    def _said(self, rows: Floats) -> Doubt:
        whole = float(pooled(rows) @ self._whole + self._bias[0])
        return Doubt(whole, float((rows @ self._word + self._bias[1]).max()))


@cache
def statement_reader() -> StatementReader:
    """The reader, from the weights of the package, on the first call of the process (0.2 s)."""
    with np.load(BASE, allow_pickle=False) as base, np.load(WEIGHTS, allow_pickle=False) as own:
        return StatementReader(dict(base), dict(own))
