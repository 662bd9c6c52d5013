"""The worth of each rule of the verifier: its answers with the rule switched off, and alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from evals.proof_alterations import Altered, alone
from evals.proof_ratings import FAITHFUL, RatedAnswer
from helix.answering.proof import alteration, clauses, facts, numbers, presence, prove
from helix.answering.proof.rules import RULES, Rule
from helix.domain.context import Source

PAIRS = Path(__file__).parent / "proof_pairs.json"


@dataclass(frozen=True)
class HandPair:
    """A claim written by hand about a passage, cited to it; ``true`` where the passage says it."""

    set: str
    claim: str
    source: Source
    true: bool

    def problems(self, rules: Sequence[Rule] = RULES) -> list[str | None]:
        """The problem of each of its statements, None where the verifier supports it."""
        proof = prove(f"{self.claim} [1]", [self.source], rules)
        return [each.problem for each in proof.statements]


def hand_pairs() -> list[HandPair]:
    """All claims of proof_pairs.json."""
    return [
        HandPair(group["set"], claim, alone(group["passage"]), kind == "true")
        for group in json.loads(PAIRS.read_text("utf-8"))
        for kind in ("true", "false")
        for claim in group[kind]
    ]


def is_flagged(one: Altered, rules: Sequence[Rule] = RULES) -> bool:
    """True where a statement of an altered answer has no support."""
    return any(each.problem for each in prove(one.answer, one.case.sources, rules).statements)


@dataclass(frozen=True)
class _Flags:
    """Flags of false claims, altered answers, true claims; unproven share of faithful answers."""

    false: list[bool]
    altered: list[bool]
    true: list[bool]
    faithful: float

    def beyond(self, other: _Flags) -> list[str]:
        """The number of each that these rules flag and the others do not."""
        each = ((self.false, other.false), (self.altered, other.altered), (self.true, other.true))
        return [str(sum(a and not b for a, b in zip(*two, strict=True))) for two in each]


def rules_table(
    pairs: Sequence[HandPair], altered: Sequence[Altered], rated: Sequence[RatedAnswer]
) -> Iterator[str]:
    """Table of the rules, as Markdown: what each catches and flags wrongly.

    Two numbers a cell: flagged by no other rule, so that it passes with the rule switched off; and
    flagged by the rule where words are counted besides and nothing else. Tables of words that
    several rules use are switched off only. The last column is the share of unproven statements in
    answers that people rated wholly faithful.
    """
    faithful = [each for each in rated if each.faithfulness >= FAITHFUL]

    def flags(rules: Sequence[Rule]) -> _Flags:
        return _Flags(
            [any(pair.problems(rules)) for pair in pairs if not pair.true],
            [is_flagged(one, rules) for one in altered],
            [any(pair.problems(rules)) for pair in pairs if pair.true],
            float(np.mean([each.unproven(rules) for each in faithful])),
        )

    def row(name: str, off: _Flags, alone: _Flags | None) -> str:
        in_all = alone.beyond(words) if alone else ["–"] * 3
        cells = [f"{a}, {b}" for a, b in zip(whole.beyond(off), in_all, strict=True)]
        return f"| {name} | {' | '.join(cells)} | {off.faithful:.3f} |"

    whole, words = flags(RULES), flags([])
    counts = len(whole.false), len(whole.altered), len(whole.true)
    yield "| rule | {} false claims | {} altered | {} true claims | unproven |".format(*counts)
    yield "|---|---|---|---|---|"
    for name, each in (("all rules", whole), ("words alone", words)):
        cells = [str(sum(flagged)) for flagged in (each.false, each.altered, each.true)]
        yield f"| {name} | {' | '.join(cells)} | {each.faithful:.3f} |"
    for rule in RULES:
        yield row(rule.name, flags([one for one in RULES if one is not rule]), flags([rule]))
    for name, patches in _SHARED.items():
        with ExitStack() as stack:
            for place, attribute, value in patches:
                stack.enter_context(patch.object(place, attribute, value))
            yield row(name, flags(RULES), None)


_SHARED: dict[str, list[tuple[Any, str, Any]]] = {
    "units": [(numbers.Number, "_equals", lambda one, other: {*one.values} & {*other.values})],
    "lexicon: opposites": [
        (module, "opposites", lambda word: frozenset())
        for module in (alteration, clauses, presence)
    ],
    "lexicon: synonyms": [(facts, "SYNONYM", {})],
}
