"""What a question is in its conversation, as its answer tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from helix.domain.memory import Memory

TurnKind = Literal["standalone", "dependent", "underspecified", "conversational", "image"]
"""Whether a turn can be understood alone, or from what came before, or not at all; conversational
turns ask nothing of the documents, and those about an image are answered from it alone."""


@dataclass(frozen=True)
class Turn:
    """A turn: its kind, what it was understood as (None: as it was written), and the memory."""

    kind: TurnKind
    understood_as: str | None
    memory: Memory
    unresolved: str | None = None
    """What it speaks of that nothing names, of an underspecified turn."""

    def to_json(self) -> dict[str, Any]:
        """The ``turn`` of an answer's JSON."""
        return {
            "type": self.kind,
            "understood_as": self.understood_as,
            "memory": self.memory.to_json(),
        }
