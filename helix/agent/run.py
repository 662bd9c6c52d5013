"""One gathering under way: what is called, what it brings, what is told, what may be spent."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from helix.agent.rendering import arguments_problem, outcome_text, source_json
from helix.agent.step import Outcome
from helix.agent.tool import AnyTool, ToolContext, ToolFailure, ToolOutput
from helix.answering.gathering import Event
from helix.domain.prompt import Before
from helix.domain.tool_calls import Ended, Gathered, ToolCall
from helix.errors import HelixError, StoreUnavailable, UpstreamError

_logger = logging.getLogger(__name__)
MOST_AT_ONCE = 8
"""Calls of one step that are made; further ones are told that they were not."""
_BROKEN = "a tool of the agent did not work; try again"
_LONGEST_ARGUMENTS = 4000
"""Characters of the JSON of a call's arguments that are kept and told."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a gathering ends although nobody said that it has enough.

    ``steps`` are turns of the model, or of the plan. ``tokens`` are those of all that the model is
    sent and says; ``output_tokens`` those of what one call tells it. ``tool_seconds`` is the
    longest that one call may take.
    """

    steps: int = 8
    seconds: float = 60.0
    tokens: int = 120_000
    output_tokens: int = 4000
    tool_seconds: float = 20.0


class BoundReached(Exception):
    """The gathering is to end now, with what there is."""

    def __init__(self, bound: Ended) -> None:
        super().__init__(bound)
        self.bound: Ended = bound


@dataclass(eq=False)
class _Call:
    """A call under way; ``taken`` is set when what it brought is in the ledger."""

    number: int
    name: str
    arguments: dict[str, Any]
    began: float
    taken: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def head(self) -> dict[str, Any]:
        """The ``tool`` event of its beginning."""
        return {"call": self.number, "name": self.name, "arguments": self.arguments}


@dataclass(eq=False)
class Run:
    """The state of one gathering; ``events`` has what is to be told, None at its end.

    ``before`` is the conversation so far, for a model that chooses the calls; ``broken`` is the
    error of what chooses them.
    """

    context: ToolContext
    tools: Sequence[AnyTool]
    bounds: Bounds = field(default_factory=Bounds)
    before: Before | None = None
    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    outcomes: list[Outcome] = field(default_factory=list)
    ended: Ended = "done"
    broken: HelixError | None = None
    _unserved: dict[str, HelixError] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)
    _steps: int = 0
    _spent: int = 0
    _calls: int = 0
    _called_in_step: int = 0
    _malformed: set[str] = field(default_factory=set)
    _last_taken: asyncio.Event | None = None

    @property
    def offered(self) -> list[AnyTool]:
        """The tools that the model is told of."""
        return [tool for tool in self.tools if tool.is_offered(self.context)]

    @property
    def unserved(self) -> HelixError | None:
        """What broke the choosing, or a call that was not made again since; None where nothing did.

        Nothing is known of what would have been found without it.
        """
        return self.broken or next(iter(self._unserved.values()), None)

    @property
    def gathered(self) -> Gathered:
        """What the answer's receipt keeps of it."""
        calls = tuple(outcome.call for outcome in self.outcomes)
        return Gathered(calls, self.ended, self.context.ledger.left_out)

    def tell(self, name: str, payload: Any) -> None:
        """Tell whoever asked."""
        self.events.put_nowait((name, payload))

    def think(self, text: str) -> None:
        """Tell what is thought; nothing of an answer may be in it."""
        if text:
            self.tell("thinking", {"t": text})

    def step(self) -> None:
        """One more turn begins.

        Raises:
            BoundReached: there were as many as there may be, or all tokens are spent.
        """
        self._steps += 1
        self._called_in_step = 0
        if self._steps > self.bounds.steps:
            raise BoundReached("steps")
        if self._spent > self.bounds.tokens:
            raise BoundReached("tokens")

    def spend(self, tokens: int) -> None:
        """Count tokens that the model was sent, or said."""
        self._spent += tokens

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool; what the model is told of it. Passages enter the ledger, and are told.

        Calls run side by side, and what they bring enters in the order in which they began: numbers
        do not depend on which was faster. A tool's failure is told in a plain sentence; nothing is
        raised.
        """
        self._calls += 1
        self._called_in_step += 1
        call = _Call(self._calls, name[:100], _kept(arguments), time.perf_counter())
        before, self._last_taken = self._last_taken, call.taken
        self.tell("tool", call.head)
        output, failure = None, "Stopped before it had ended."
        try:
            output, failure = await self._served(name, arguments)
            if before:
                await before.wait()
        finally:
            text = self._taken(call, output, failure)
            call.taken.set()
        return text

    async def _served(self, name: str, arguments: dict[str, Any]) -> tuple[ToolOutput | None, str]:
        """``_made``, or why it could not be, in words for a model; the error is kept."""
        key, failure, kept = f"{name} {arguments}", "The tool failed.", HelixError(_BROKEN)
        try:
            async with asyncio.timeout(self.bounds.tool_seconds):
                made = await self._made(name, arguments)
            self._unserved.pop(key, None)
            return made
        except TimeoutError:
            failure = f"The tool took longer than {self.bounds.tool_seconds:g} seconds."
            kept = UpstreamError(_BROKEN)
        except StoreUnavailable as error:
            failure, kept = "The database does not answer.", error
        except UpstreamError as error:
            failure, kept = "A service that the tool needs does not answer.", error
        except HelixError as error:
            _logger.info("tool %s failed: %s", name, type(error).__name__)
            kept = error
        except Exception as error:  # noqa: BLE001  whatever it was, its text is not for a model
            _logger.warning("tool %s failed: %s", name, type(error).__name__)
        self._unserved[key] = kept
        return None, failure

    async def _made(self, name: str, arguments: dict[str, Any]) -> tuple[ToolOutput | None, str]:
        """What the tool returned, or why it did not want to, as the model is told it."""
        tool = next((tool for tool in self.offered if tool.name == name), None)
        if tool is None:
            known = ", ".join(tool.name for tool in self.offered)
            return None, f"There is no tool of this name. There are: {known}."
        if self._called_in_step > MOST_AT_ONCE:
            return None, f"Not called: at most {MOST_AT_ONCE} calls are made at once."
        try:
            checked = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            again = name in self._malformed
            self._malformed.add(name)
            return None, arguments_problem(error, again=again)
        try:
            return await tool.run(checked, self.context), ""
        except ToolFailure as error:
            return None, str(error)

    def _taken(self, call: _Call, output: ToolOutput | None, failure: str) -> str:
        """Put what a call brought into the ledger, tell of it, and keep it; the model's text."""
        seconds, numbers = time.perf_counter() - call.began, dict[int, int]()
        if output is not None:
            numbers = self._numbered(output, call.number)
        record = ToolCall(
            call.number, call.name, call.arguments, tuple(numbers.values()), tuple(numbers),
            call.began - self._began, seconds, failure,
        )  # fmt: skip
        self.outcomes.append(Outcome(record, output))
        told = {"passages": len(numbers), "milliseconds": round(seconds * 1000, 1)}
        self.tell("tool", {**call.head, **told, "failure": failure or None})
        return outcome_text(output, numbers, self.bounds.output_tokens) if output else failure

    def _numbered(self, output: ToolOutput, call: int) -> dict[int, int]:
        """The ledger's numbers of the passages of ``output``, by chunk id; new ones are told."""
        ledger, numbers = self.context.ledger, dict[int, int]()
        for hit in output.passages:
            before = len(ledger.entries)
            if number := ledger.add(hit, call):
                numbers[hit.chunk_id] = number
            if len(ledger.entries) > before:
                self.tell("source", source_json(ledger.entries[-1]))
        ledger.calculations.extend(output.calculations)
        return numbers


def _kept(arguments: dict[str, Any]) -> dict[str, Any]:
    """``arguments`` as they are kept and told: what is JSON, and not longer than anybody reads."""
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return {"unreadable": True}
    if len(text) > _LONGEST_ARGUMENTS:
        return {"too_long": len(text)}
    kept: dict[str, Any] = json.loads(text)
    return kept
