"""A question's turn in its conversation, as its answer reports it."""

from __future__ import annotations

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
