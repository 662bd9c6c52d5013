"""Which kinds of turns the gate and the question back keep from being answered, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evals.conversations.searches import SERVED, Found, history_of, ways_of
from evals.datasets.mtrag import ConversationTurn
from evals.metrics.statistics import share
from helix.domain.unresolved import unresolved
from helix.retrieval.calibration.fits import PACKAGED
from helix.retrieval.calibration.signals import signals

COVERAGES = (0.95, 0.9, 0.85, 0.8, 0.7)
OFFLINE = next(iter(PACKAGED))


def kind_table(
    asked: Sequence[tuple[ConversationTurn, Mapping[str, Found]]],
) -> Iterator[str]:
    """Shares of each kind that are not answered: asked back, or refused, by the gate's coverage.

    The gate is the calibrated one, set so that it lets a share of the answerable turns pass.
    """
    kinds = np.array([turn.kind for turn, _ in asked])
    scores = np.array([_score(turn, found[SERVED]) for turn, found in asked])
    back = np.array([_asked_back(turn, found[SERVED]) for turn, found in asked])
    names = list(dict.fromkeys(map(str, kinds)))
    yield f"\n### Kinds of turns, MTRAG-UN: {len(asked)}\n"
    yield f"| not answered | {' | '.join(f'{n} ({(kinds == n).sum()})' for n in names)} |"
    yield "|---" * (1 + len(names)) + "|"
    rows = [("asked back alone", back)]
    for coverage in COVERAGES:
        least = float(np.quantile(scores[kinds == "answerable"], 1 - coverage))
        rows.append((f"refused by the gate at {least:.2f}", scores < least))
        rows.append((f"refused at {least:.2f}, or asked back", (scores < least) | back))
    for name, kept in rows:
        cells = [str(share([bool(one) for one in kept[kinds == kind]])) for kind in names]
        yield f"| {name} | {' | '.join(cells)} |"


def _score(turn: ConversationTurn, found: Found) -> float:
    """The calibrated gate's estimate of the turn as understood."""
    told = signals(ways_of(turn)[SERVED].question, found.result)
    return PACKAGED[OFFLINE].probability(told) if told else 0.0


def _asked_back(turn: ConversationTurn, found: Found) -> bool:
    return unresolved(turn.asked[-1], history_of(turn), found.result.candidates) is not None
