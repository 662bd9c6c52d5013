"""The calls of an agent, as its answer and its receipt have them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Ended = Literal["done", "steps", "seconds", "tokens", "failed"]
"""The reason why a gathering ended: the model or plan itself, a bound, or a failed model."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: ``number`` from 1 in the order of the calls of one answer.

    ``numbers`` are those of the ledger's sources that it returned, new or not. ``began`` is in
    seconds from the beginning of the gathering, ``seconds`` is the call's duration. ``failure`` is
    the reason that the model got; empty where the call had a result.
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
    """An agent's gathering of the sources of an answer.

    ``left_out`` counts the passages for which the ledger had no room.
    """

    calls: tuple[ToolCall, ...] = ()
    ended: Ended = "done"
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """The gathering in an answer's JSON and in its receipt."""
        calls = [call.to_json() for call in self.calls]
        return {"calls": calls, "ended": self.ended, "left_out": self.left_out}
