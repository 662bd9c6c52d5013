"""The encoder of evidence: a small transformer that reads a question and a passage together.

It is MiniLM, fine-tuned by ``evals.evidence.train``; its weights, 22 MB, are read on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from helix.evidence.transformer import Arrays, Ids, Pair, Transformer, pooled
from helix.evidence.words import Floats
from helix.language.sentences import Passage, Unit

WEIGHTS = Path(__file__).with_name("encoder.npz")
MOST_QUESTION, MOST_HEADINGS, MOST_UNIT = 36, 12, 80
"""Tokens that are read of a question, of headings and of one unit; the rest is cut off."""
_KEPT = 256  # readings, of 30 kB at most: a question that is asked again finds the same passages

_Spans = tuple[tuple[int, int], ...]
MOST_STRETCHES = 6
MOST_TOKENS = 96
"""Of the units of one stretch: what the encoder was trained on, and what it takes time for."""
_TRIED = 16  # units from the likeliest on for which a stretch is read


class Stretch(NamedTuple):
    """Consecutive units of one passage, by their tokens, under its headings."""

    headings: Ids
    units: Sequence[Ids]


class Encoder:
    """The transformer with a head for units; any number of threads may use it."""

    def __init__(self, arrays: Arrays) -> None:
        self._transformer = Transformer(arrays)
        self._unit = arrays["unit"].astype(np.float32)
        self._unit_bias = arrays["unit_bias"].astype(np.float32)
        self.tokens, self.tokenizer = self._transformer.tokens, self._transformer.tokenizer
        self._read = lru_cache(_KEPT)(self._read_anew)

    def log_odds(self, question: Ids, stretches: Sequence[Stretch]) -> list[Floats]:
        """For each stretch the log-odds that each of its units answers ``question``.

        They are relative: to one another and to 0, that nothing there answers. Nobody may change
        them, for the same tokens are read once.
        """
        return self._read(tuple(self._pair(question, one) for one in stretches))

    def _read_anew(self, read: tuple[tuple[Pair, _Spans], ...]) -> list[Floats]:
        if not read:
            return []
        wanted = [slice(pair.start, None) for pair, _ in read]
        rows = self._transformer.rows([pair for pair, _ in read], wanted)
        return [
            self._units(own, spans, pair.start)
            for own, (pair, spans) in zip(rows, read, strict=True)
        ]

    def _pair(self, question: Ids, one: Stretch) -> tuple[Pair, _Spans]:
        end = self._transformer.end
        ids = [self._transformer.start, *question[:MOST_QUESTION], end]
        ids += [*one.headings[:MOST_HEADINGS], end]
        start, spans = len(ids), []
        for unit in one.units:
            spans.append((len(ids), len(ids) + len(unit[:MOST_UNIT])))
            ids += unit[:MOST_UNIT]
        return Pair((*ids, end), start), tuple(spans)

    def _units(self, rows: Floats, spans: _Spans, first: int) -> Floats:
        """The log-odds of units at ``spans``, of which ``rows`` begin with the token ``first``."""
        read = np.stack([pooled(rows[start - first : end - first]) for start, end in spans])
        return np.asarray(read @ self._unit + self._unit_bias, dtype=np.float32)


@cache
def evidence_encoder() -> Encoder:
    """The encoder, read from the package on the first call of the process, in 0.2 s."""
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        return Encoder(dict(arrays))


def read_log_odds(
    encoder: Encoder,
    question: str,
    passages: Sequence[Passage],
    units: Sequence[Unit],
    likely: Floats,
) -> Floats:
    """The encoder's log-odds of the units around the most ``likely`` ones; NaN for those unread.

    Shape (units,); ``units`` are all those of ``passages``, in order. 0 stands for nothing of
    what was read answering.
    """
    asked, *heads = encoder.tokens([question, *(one.headings for one in passages)])
    tokens = encoder.tokens([unit.text for unit in units])
    runs = list(_runs(units, tokens, np.argsort(-likely, kind="stable")[:_TRIED].tolist()))
    stretches = [
        Stretch(heads[units[run.start].passage], [tokens[at] for at in run]) for run in runs
    ]
    read = np.full(len(units), np.nan, dtype=np.float32)
    for run, log_odds in zip(runs, encoder.log_odds(asked, stretches), strict=True):
        read[run.start : run.stop] = log_odds
    return read


def _runs(
    units: Sequence[Unit], tokens: Sequence[Sequence[int]], first: Sequence[int]
) -> Iterator[range]:
    """Runs of neighbours within a passage around each of ``first``; no unit is in two."""
    taken = np.array([not ids for ids in tokens], dtype=bool)
    count = 0
    for at in map(int, first):
        if count == MOST_STRETCHES:
            return
        if not taken[at]:
            run = _grown(units, tokens, at, taken)
            taken[run.start : run.stop] = True
            count += 1
            yield run


def _grown(
    units: Sequence[Unit], tokens: Sequence[Sequence[int]], at: int, taken: NDArray[np.bool_]
) -> range:
    """The unit at ``at`` with neighbours on both sides, as far as they fit and are not taken."""
    start, stop, total = at, at + 1, len(tokens[at])
    sides = [1, -1]
    while sides:
        side = sides[0]
        beside = stop if side > 0 else start - 1
        fits = 0 <= beside < len(units) and not taken[beside]
        fits = fits and units[beside].passage == units[at].passage
        if not fits or total + len(tokens[beside]) > MOST_TOKENS:
            sides.remove(side)
            continue
        total += len(tokens[beside])
        start, stop = min(start, beside), max(stop, beside + 1)
        sides.reverse()
    return range(start, stop)
