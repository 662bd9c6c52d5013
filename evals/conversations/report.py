"""The findings on turns, as Markdown: recall and nDCG by way of asking, and the time it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import numpy as np

from evals.conversations.kinds import gate_table, served_table
from evals.conversations.searches import LAST, SERVED, Found
from evals.conversations.served_turns import Served
from evals.datasets.mtrag import HUMAN, UN, ConversationTurn
from evals.metrics.statistics import mean

DEPTH = 5
HALVES = {"one half": True, "the other half": False}
Asked = Sequence[tuple[ConversationTurn, Mapping[str, Found]]]


def recall(found: Sequence[int], right: frozenset[int]) -> float:
    """Recall at DEPTH, 0 to 1."""
    return len(right.intersection(found[:DEPTH])) / len(right)


def ndcg(found: Sequence[int], right: frozenset[int]) -> float:
    """nDCG at DEPTH with binary gains, 0 to 1."""
    gained = sum(1 / math.log2(n + 2) for n, one in enumerate(found[:DEPTH]) if one in right)
    return gained / sum(1 / math.log2(n + 2) for n in range(min(DEPTH, len(right))))


def tables(
    turns: Sequence[ConversationTurn],
    found: Sequence[Mapping[str, Found]],
    served: Sequence[Served],
) -> Iterator[str]:
    """The tables of both sets, and the time that understanding adds.

    ``served`` are of the turns that have a kind, in their order.
    """
    judged = [each for each in zip(turns, found, strict=True) if each[0].relevant]
    for source in (UN, HUMAN):
        every = [each for each in judged if each[0].source == source]
        later = [each for each in every if len(each[0].asked) > 1]
        yield from _table(f"{source}, all turns", every)
        yield from _table(f"{source}, turns after the first", later)
        for name, half in HALVES.items():
            yield from _table(
                f"{source}, turns after the first, {name}",
                [each for each in later if _in_one_half(each[0]) is half],
            )
    kinds = [each for each in zip(turns, found, strict=True) if each[0].kind]
    told = [(*each, one) for each, one in zip(kinds, served, strict=True)]
    yield from served_table("all", told)
    for name, half in HALVES.items():
        yield from served_table(name, [each for each in told if _in_one_half(each[0]) is half])
    yield from gate_table(told)
    yield _times([each for each in judged if len(each[0].asked) > 1])


def _in_one_half(turn: ConversationTurn) -> bool:
    return sha256(turn.conversation.encode()).digest()[0] % 2 == 0


def _table(name: str, asked: Asked) -> Iterator[str]:
    yield f"\n### {name}: {len(asked)}\n"
    yield f"| | recall@{DEPTH} | nDCG@{DEPTH} | recall@{DEPTH}, against the last turn alone |"
    yield "|---|---|---|---|"
    for way in asked[0][1]:
        of_way = [(turn.relevant, found[way].places, found[LAST].places) for turn, found in asked]
        cells = [
            mean([recall(places, right) for right, places, _ in of_way]),
            mean([ndcg(places, right) for right, places, _ in of_way]),
            mean([recall(places, right) - recall(last, right) for right, places, last in of_way]),
        ]
        yield f"| {way} | {' | '.join(map(str, cells))} |"


def _times(asked: Asked) -> str:
    """Medians over the turns, and of the difference turn by turn."""
    last, served = (
        np.array([found[w].seconds * 1000 for _, found in asked]) for w in (LAST, SERVED)
    )
    return (
        f"\nEmbedding and search, median: {np.median(last):.1f} ms for the last turn alone,"
        f" {np.median(served):.1f} ms as served, {np.median(served - last):+.1f} ms turn by turn."
    )
