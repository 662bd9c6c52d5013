"""The kinds of turns that are not answered, and those that are asked back, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from evals.conversations.searches import SERVED, Found, ways_of
from evals.conversations.served_turns import Served
from evals.datasets.mtrag import ConversationTurn
from evals.metrics.statistics import share
from helix.retrieval.calibration.fits import PACKAGED
from helix.retrieval.calibration.signals import signals

COVERAGES = (0.95, 0.9, 0.85, 0.8, 0.7)
OFFLINE = next(iter(PACKAGED))
Turns = Sequence[tuple[ConversationTurn, Mapping[str, Found], Served]]


def served_table(name: str, asked: Turns) -> Iterator[str]:
    """Shares of each kind that are asked back, refused and answered at the default settings."""
    ways: dict[str, Callable[[Served], bool]] = {
        "asked back in place of an answer": lambda one: one.asked_back,
        "asked back with a refusal": lambda one: one.asked_on,
        "**asked back**": lambda one: one.asked_back or one.asked_on,
        "not answered": lambda one: not one.answered,
    }
    rows = {way: [tells(served) for *_, served in asked] for way, tells in ways.items()}
    yield from _table(f"What is served, {name}", "served", [turn for turn, *_ in asked], rows)


def gate_table(asked: Turns) -> Iterator[str]:
    """Shares of each kind that are not answered, by how many answerable turns the gate lets pass.

    The gate is the calibrated one; alone, and before the questions back and the offline answerer.
    """
    turns = [turn for turn, *_ in asked]
    answerable = np.array([turn.kind == "answerable" for turn in turns])
    scores = np.array([_score(turn, found[SERVED]) for turn, found, _ in asked])
    withheld = np.array([not served.answered for *_, served in asked])
    rows = {}
    for coverage in COVERAGES:
        least = float(np.quantile(scores[answerable], 1 - coverage))
        rows[f"refused by the gate at {least:.2f}"] = list(scores < least)
        rows[f"not answered, the gate at {least:.2f}"] = list((scores < least) | withheld)
    yield from _table("The calibrated gate", "not answered", turns, rows)


def _table(
    name: str, corner: str, turns: Sequence[ConversationTurn], rows: Mapping[str, Sequence[bool]]
) -> Iterator[str]:
    kinds = list(dict.fromkeys(str(turn.kind) for turn in turns))
    counts = [f"{kind} ({sum(turn.kind == kind for turn in turns)})" for kind in kinds]
    yield f"\n### {name}, MTRAG-UN: {len(turns)}\n"
    yield f"| {corner} | {' | '.join(counts)} |"
    yield "|---" * (1 + len(kinds)) + "|"
    for label, holds in rows.items():
        pairs = list(zip(turns, holds, strict=True))
        cells = [str(share([bool(one) for t, one in pairs if t.kind == kind])) for kind in kinds]
        yield f"| {label} | {' | '.join(cells)} |"


def _score(turn: ConversationTurn, found: Found) -> float:
    """The calibrated gate's estimate of the turn as understood."""
    told = signals(ways_of(turn)[SERVED].question, found.result)
    return PACKAGED[OFFLINE].probability(told) if told else 0.0
