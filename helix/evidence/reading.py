"""Reading: the stretches around the units that features put in front, as the encoder reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from helix.evidence.encoder import Encoder, Stretch
from helix.evidence.units import Passage, Unit
from helix.evidence.words import Floats

MOST_STRETCHES = 6
MOST_TOKENS = 96
"""Of the units of one stretch: what the encoder was trained on, and what it takes time for."""
_TRIED = 16  # units from the likeliest on for which a stretch is read


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
