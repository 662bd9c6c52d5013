"""An answer as server-sent frames: the plain ones of GET /ask, the typed ones of POST /v1/query.

The receipt is written while the citations are being sent, and before the stream ends; where every
answer is judged, and the client of GET /ask did not ask for that, after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from helix.answering.engine import AnswerStream
from helix.answering.events import typed_events
from helix.answering.pipeline import AnswerRequest
from helix.errors import HelixError
from helix.serving.sse import citations_frame, event_frame, token_frame

_logger = logging.getLogger(__name__)


async def plain_frames(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """Token frames, the citations frame, and a verdict frame if the client asked for one.

    The stream just ends, without a citations frame, where the model fails, and where a document
    that the answer rests on was replaced or deleted meanwhile.
    """
    async with aclosing(stream):
        with request.outcome:
            try:
                async for delta in stream:
                    yield token_frame(delta)
                answer = await request.conclude(stream)
            except HelixError as error:
                _logger.warning("stream cut: %s", error)
                return
            finishing = request.finish_in_background(answer)
            yield citations_frame(answer.short_citations)
            if request.has_verdict and not request.verdict:
                return  # judged for the receipt alone: the client does not wait for that
            answer = await asyncio.shield(finishing)
            if request.verdict:
                yield event_frame("verdict", answer.verdict_json())


async def typed_frames(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """The frames of ``typed_events``."""
    async with aclosing(typed_events(request, stream)) as events:
        async for name, payload in events:
            yield event_frame(name, payload)
