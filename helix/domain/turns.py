"""A question's turn in its conversation, as its answer reports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from helix.domain.memory import Memory

TurnKind = Literal["standalone", "dependent", "underspecified", "conversational", "image"]
"""The kind of a turn: understood alone, understood from what came before, or not at all;
conversational turns ask nothing of the documents, and an image's are answered from it alone."""


@dataclass(frozen=True)
class Turn:
    """A turn: its kind, what it was understood as (None: as it was written), and the memory."""

    kind: TurnKind
    understood_as: str | None
    memory: Memory
    unresolved: str | None = None
    """The thing an underspecified turn speaks of that nothing names."""

    def to_json(self) -> dict[str, Any]:
        """The ``turn`` of an answer's JSON."""
        return {
            "type": self.kind,
            "understood_as": self.understood_as,
            "memory": self.memory.to_json(),
        }


def follows(turn: Mapping[str, Any] | None) -> bool:
    """True if an answer whose JSON has ``turn`` may have words of the answers before it."""
    if turn is None:
        return False
    return turn["type"] not in ("standalone", "image") or bool(turn.get("from_history"))
