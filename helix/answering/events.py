"""An answer as the typed events that POST /v1/query and conversations tell it by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from helix.answering.engine import AnswerStream
from helix.answering.numbering import renumbered
from helix.answering.pipeline import AnswerRequest
from helix.errors import HelixError

Event = tuple[str, Any]
"""An event's name, and its payload, which is JSON."""
TOLD_BEFORE = ("answer", "citations")
"""What ``done`` leaves out: it was told by ``token`` and ``citations``."""
_logger = logging.getLogger(__name__)


async def typed_events(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[Event, None]:
    """``token`` events, then ``citations``, ``verdict`` if the answer is judged, and ``done``.

    In a conversation ``memory`` comes first, which tells how full the prompt's history is. One
    ``error`` event takes the place of the last three. Sources are numbered for readers.
    """
    async with aclosing(stream):
        with request.outcome:
            if stream.turn:
                yield "memory", stream.turn.memory.to_json()
            try:
                async for delta in renumbered(stream, len(stream.retrieval.sources)):
                    yield "token", {"t": delta}
                answer = await request.conclude(stream)
            except HelixError as error:
                _logger.warning("stream cut: %s", error)
                yield "error", {"error": str(error)}
                return
            finishing = request.finish_in_background(answer)
            told = request.told(answer, with_verdict=False)
            yield "citations", told["citations"]
            answer = await asyncio.shield(finishing)
            if request.has_verdict:
                yield "verdict", answer.verdict_json()
            yield "done", without_told(request.told(answer, with_verdict=False))


def without_told(response: dict[str, Any]) -> dict[str, Any]:
    """A response without what was told before its ``done``."""
    return {key: response[key] for key in response if key not in TOLD_BEFORE}
