"""What an agent called, as its answer's receipt keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Ended = Literal["done", "steps", "seconds", "tokens", "failed"]
"""What ended a gathering: its own decision, a bound, or a failure of the model that chose."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: ``number`` from 1 in the order of the calls of one answer.

    ``numbers`` are those of the ledger's sources that it returned, new or not. ``began`` counts
    seconds from the beginning of the gathering, ``seconds`` how long the call took. ``failure`` is
    the plain reason that the model was told; empty where the call brought a result.
    """

    number: int
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    chunk_ids: tuple[int, ...] = ()
    began: float = 0.0
    seconds: float = 0.0
    failure: str = ""

    def to_json(self) -> dict[str, Any]:
        """The call in an answer's JSON and in its receipt."""
        return {
            "call": self.number,
            "name": self.name,
            "arguments": self.arguments,
            "sources": list(self.numbers),
            "chunk_ids": list(self.chunk_ids),
            "began": round(self.began, 6),
            "seconds": round(self.seconds, 6),
            "failure": self.failure or None,
        }


@dataclass(frozen=True, slots=True)
class Gathered:
    """How an agent gathered the sources of an answer.

    ``left_out`` counts the passages for which the ledger had no room.
    """

    calls: tuple[ToolCall, ...] = ()
    ended: Ended = "done"
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """The gathering in an answer's JSON and in its receipt."""
        calls = [call.to_json() for call in self.calls]
        return {"calls": calls, "ended": self.ended, "left_out": self.left_out}
