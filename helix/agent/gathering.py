"""One gathering under way: its calls, their results, its events and its bounds."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from helix.agent.rendering import arguments_problem, outcome_text, source_json
from helix.agent.step import Outcome
from helix.agent.tool import AnyTool, ToolContext, ToolFailure, ToolOutput
from helix.answering.gatherer import Event
from helix.domain.prompt import Before
from helix.domain.tool_calls import Ended, Gathered, ToolCall
from helix.domain.tool_results import ToolResult
from helix.domain.usage import Usage
from helix.errors import HelixError, StoreUnavailable, UpstreamError

_logger = logging.getLogger(__name__)
MOST_AT_ONCE = 8
"""Calls that are made in one step; the model reads that further ones were not."""
SEARCH = "search_library"
"""The tool that searches for the question itself before it is refused."""
_BROKEN = "a tool of the agent did not work; try again"
_LONGEST_ARGUMENTS = 4000
"""The longest arguments of a call, in characters of JSON, that events and receipts have."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits at which a gathering ends with the sources found so far.

    ``steps`` are turns of the model, or of the plan. ``tokens`` are those of all prompts and
    replies of the model together; ``output_tokens`` those of one call's result. ``seconds`` is the
    longest time of the gathering, and ``tool_seconds`` of one call.
    """

    steps: int = 8
    seconds: float = 60.0
    tokens: int = 120_000
    output_tokens: int = 4000
    tool_seconds: float = 20.0


class BoundReached(Exception):
    """A limit of Bounds is reached: the gathering ends with the sources found so far."""

    def __init__(self, reached: Ended) -> None:
        super().__init__(reached)
        self.bound: Ended = reached


@dataclass(eq=False)
class _Call:
    """A call under way; ``recorded`` is set once its passages are in the ledger."""

    number: int
    name: str
    arguments: dict[str, Any]
    began: float
    recorded: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def head(self) -> dict[str, Any]:
        """The ``tool`` event that says that the call has begun."""
        return {"call": self.number, "name": self.name, "arguments": self.arguments}


@dataclass(eq=False)
class Gathering:
    """The state of one gathering; ``events`` are those for the client, None after the last.

    ``before`` is the conversation so far, for a model that chooses the calls; ``error`` is the
    error of the model or plan that chooses them; ``usages`` are those of its turns so far.
    """

    context: ToolContext
    tools: Sequence[AnyTool]
    bounds: Bounds = field(default_factory=Bounds)
    before: Before | None = None
    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    outcomes: list[Outcome] = field(default_factory=list)
    end_reason: Ended = "done"
    error: HelixError | None = None
    usages: list[Usage] = field(default_factory=list)
    _unserved: dict[str, HelixError] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)
    _steps: int = 0
    _spent_tokens: int = 0
    _calls: int = 0
    _calls_in_step: int = 0
    _malformed: set[str] = field(default_factory=set)
    _last_recorded: asyncio.Event | None = None

    @property
    def offered(self) -> list[AnyTool]:
        """The tools that may be called in it."""
        return [tool for tool in self.tools if tool.is_offered(self.context)]

    @property
    def unserved(self) -> HelixError | None:
        """The error of the model, or of a call that failed and did not succeed later; else None.

        With such an error it is not known what the documents would have had.
        """
        return self.error or next(iter(self._unserved.values()), None)

    @property
    def failed_calls(self) -> bool:
        """True if a call failed by no fault of its arguments and did not succeed later."""
        return bool(self._unserved)

    @property
    def has_searched(self) -> bool:
        """True if a call searched for the question itself."""
        own = SEARCH, self.context.question
        return any(
            outcome.output and (outcome.call.name, outcome.call.arguments.get("query")) == own
            for outcome in self.outcomes
        )

    @property
    def gathered(self) -> Gathered:
        """The gathering as the answer's receipt keeps it."""
        calls = tuple(outcome.call for outcome in self.outcomes)
        return Gathered(calls, self.end_reason, self.context.ledger.left_out)

    def emit(self, name: str, payload: Any) -> None:
        """Put an event into ``events``."""
        self.events.put_nowait((name, payload))

    def think(self, text: str) -> None:
        """Put a ``thinking`` event into ``events``; ``text`` may hold no part of an answer."""
        if text:
            self.emit("thinking", {"t": text})

    def step(self) -> None:
        """Count one more turn.

        Raises:
            BoundReached: it has had all its turns, or has spent all its tokens.
        """
        self._steps += 1
        self._calls_in_step = 0
        if self._steps > self.bounds.steps:
            raise BoundReached("steps")
        if self._spent_tokens > self.bounds.tokens:
            raise BoundReached("tokens")

    def spend(self, tokens: int) -> None:
        """Count tokens of a prompt or of a reply of the model."""
        self._spent_tokens += tokens

    def note_usage(self, usage: Usage | None) -> None:
        """Keep what a turn of the model took, by its service's count."""
        if usage:
            self.usages.append(usage)

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool; returns the text that the model reads. Its passages enter the ledger.

        Calls may run side by side. Their passages enter the ledger in the order in which the calls
        began, so that numbers do not depend on which call was faster. A failure is returned as a
        plain sentence; nothing is raised.
        """
        self._calls += 1
        self._calls_in_step += 1
        call = _Call(self._calls, name[:100], _storable(arguments), time.perf_counter())
        before, self._last_recorded = self._last_recorded, call.recorded
        self.emit("tool", call.head)
        output, failure = None, "Stopped before it had ended."
        try:
            output, failure = await self._execute_in_time(name, arguments)
            if before:
                await before.wait()
        finally:
            text = self._record(call, output, failure)
            call.recorded.set()
        return text

    async def _execute_in_time(
        self, name: str, arguments: dict[str, Any]
    ) -> tuple[ToolOutput | None, str]:
        """``_execute`` within its time limit; an error is kept, and its line goes to the model."""
        key, failure, stored_error = f"{name} {arguments}", "The tool failed.", HelixError(_BROKEN)
        try:
            async with asyncio.timeout(self.bounds.tool_seconds):
                result = await self._execute(name, arguments)
            self._unserved.pop(key, None)
            return result
        except TimeoutError:
            failure = f"The tool took longer than {self.bounds.tool_seconds:g} seconds."
            stored_error = UpstreamError(_BROKEN)
        except StoreUnavailable as error:
            failure, stored_error = "The database does not answer.", error
        except UpstreamError as error:
            failure, stored_error = "A service that the tool needs does not answer.", error
        except HelixError as error:
            _logger.info("tool %s failed: %s", name, type(error).__name__)
            stored_error = error
        except Exception as error:  # noqa: BLE001  whatever it was, its text is not for a model
            _logger.warning("tool %s failed: %s", name, type(error).__name__)
        self._unserved[key] = stored_error
        return None, failure

    async def _execute(self, name: str, arguments: dict[str, Any]) -> tuple[ToolOutput | None, str]:
        """The tool's output and no failure; or no output and a sentence for the model."""
        tool = next((tool for tool in self.offered if tool.name == name), None)
        if tool is None:
            names = ", ".join(tool.name for tool in self.offered)
            return None, f"There is no tool of this name. There are: {names}."
        if self._calls_in_step > MOST_AT_ONCE:
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

    def _record(self, call: _Call, output: ToolOutput | None, failure: str) -> str:
        """Put a call's passages into the ledger and its event into ``events``; the model's text."""
        seconds, numbers = time.perf_counter() - call.began, dict[int | ToolResult, int]()
        if output is not None:
            numbers = self._numbered(output, call.number)
        chunk_ids = tuple(key for key in numbers if isinstance(key, int))
        record = ToolCall(
            call.number, call.name, call.arguments, tuple(numbers.values()), chunk_ids,
            call.began - self._began, seconds, failure,
        )  # fmt: skip
        self.outcomes.append(Outcome(record, output))
        outcome = {"passages": len(chunk_ids), "milliseconds": round(seconds * 1000, 1)}
        self.emit("tool", {**call.head, **outcome, "failure": failure or None})
        return outcome_text(output, numbers, self.bounds.output_tokens) if output else failure

    def leave_passages_out(self) -> None:
        """Keep the results of tools as the only sources, and tell their new numbers."""
        ledger = self.context.ledger
        numbers = ledger.leave_passages_out()
        for place, outcome in enumerate(self.outcomes):
            kept = tuple(numbers[n] for n in outcome.call.numbers if n in numbers)
            self.outcomes[place] = replace(outcome, call=replace(outcome.call, numbers=kept))
        if any(old != new for old, new in numbers.items()):
            for entry in ledger.entries:
                self.emit("source", source_json(entry))

    def _numbered(self, output: ToolOutput, call: int) -> dict[int | ToolResult, int]:
        """The ledger's numbers of what the output brings; a new one gets an event.

        Passages are keyed by their chunk's id, results by themselves.
        """
        ledger, numbers = self.context.ledger, dict[int | ToolResult, int]()
        told = len(ledger.entries)
        for hit in output.passages:
            if number := ledger.add(hit, call):
                numbers[hit.chunk_id] = number
        for result in output.results:
            if number := ledger.add_result(result, call):
                numbers[result] = number
        for entry in ledger.entries[told:]:
            self.emit("source", source_json(entry))
        ledger.calculations.extend(output.calculations)
        return numbers


def _storable(arguments: dict[str, Any]) -> dict[str, Any]:
    """``arguments`` for events and receipts; a stand-in where they are too long, or no JSON."""
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return {"unreadable": True}
    if len(text) > _LONGEST_ARGUMENTS:
        return {"too_long": len(text)}
    parsed: dict[str, Any] = json.loads(text)
    return parsed
