"""An answer as the typed events of POST /v1/query and of conversations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from helix.answering.gatherer import Event as Event
from helix.answering.numbering import Renumbering
from helix.answering.pipeline import AnswerRequest
from helix.answering.stream import AnswerStream, filtered
from helix.errors import HelixError

TOLD_BEFORE = ("answer", "citations")
"""Keys that ``done`` leaves out: the events ``token`` and ``citations`` had them."""
_logger = logging.getLogger(__name__)


async def typed_events(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[Event, None]:
    """``token`` events, then ``citations``, ``verdict`` if the answer is judged, and ``done``.

    The events of gathering sources come before them all. In a conversation ``memory`` follows: how
    full the prompt's room for history is. After a failure one ``error`` event replaces all events
    that are missing. Sources are numbered for readers.
    """
    async with aclosing(stream):
        with request.outcome:
            try:
                async with aclosing(stream.events()) as events:
                    async for event in events:
                        yield event
                if request.recorded:
                    request.outcome.first_token()  # of a gathered answer it is in hand by now
                if stream.turn:
                    yield "memory", stream.turn.memory.to_json()
                async for delta in for_readers_of(stream):
                    yield "token", {"t": delta}
                answer = await request.conclude(stream)
            except HelixError as error:
                _logger.warning("stream cut: %s", error)
                yield "error", {"error": str(error)}
                return
            finishing = request.finish_in_background(answer)
            response = request.response(answer, with_verdict=False)
            yield "citations", response["citations"]
            finished = await asyncio.shield(finishing)
            if request.has_verdict:
                yield "verdict", finished.verdict_json()
            yield "done", without_streamed(response)


def for_readers_of(stream: AnswerStream) -> AsyncGenerator[str, None]:
    """The deltas of ``stream``, whose events are told, with the readers' numbers."""
    return filtered(stream.__aiter__(), Renumbering(stream.renumbered))


def without_streamed(response: dict[str, Any]) -> dict[str, Any]:
    """A response without the keys that events before its ``done`` had."""
    return {key: response[key] for key in response if key not in TOLD_BEFORE}
