"""Claims written by hand about a passage, each true or false of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from evals.proof_alterations import Altered, alone
from helix.answering.proof import prove
from helix.domain.context import Source

PAIRS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class HandPair:
    """A claim written by hand about a passage, cited to it; ``true`` where the passage says it."""

    set: str
    claim: str
    source: Source
    true: bool

    def problems(self) -> list[str | None]:
        """The problem of each of its statements, None where the verifier supports it."""
        return [each.problem for each in prove(f"{self.claim} [1]", [self.source]).statements]


def hand_pairs() -> list[HandPair]:
    """All claims of proof_pairs.json."""
    return [
        HandPair(group["set"], claim, alone(group["passage"]), kind == "true")
        for group in json.loads(PAIRS.read_text("utf-8"))
        for kind in ("true", "false")
        for claim in group[kind]
    ]


def is_flagged(one: Altered) -> bool:
    """True where a statement of an altered answer has no support."""
    return any(each.problem for each in prove(one.answer, one.case.sources).statements)
