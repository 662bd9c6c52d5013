"""An inquiry's answer as frames: the plain stream of GET /ask, the typed one of POST /v1/query.

The receipt is written while the citations are being sent, and before the stream ends; where every
answer is judged, and the client of GET /ask did not ask for that, after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from helix.answering import Inquiry
from helix.errors import HelixError
from helix.query_engine import AnswerStream
from helix.sse import citations_frame, event_frame, token_frame

_logger = logging.getLogger(__name__)


async def plain_frames(inquiry: Inquiry, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """Tokens, then citations, then a verdict if the client asked for one.

    It just ends, without a citations frame, if the model fails, or where what the answer was made
    from was replaced or deleted meanwhile.
    """
    async with aclosing(stream), inquiry.watch:
        try:
            async for delta in stream:
                yield token_frame(delta)
            done = await inquiry.end(stream)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)
            return
        finishing = inquiry.finishing(done)
        yield citations_frame(done.short_citations)
        if inquiry.tells_verdict and not inquiry.verdict:
            return  # it is judged for the receipt alone: nobody is to wait for that
        done = await asyncio.shield(finishing)
        if inquiry.verdict:
            yield event_frame("verdict", done.verdict_json())


async def typed_frames(inquiry: Inquiry, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """Token events, citations, a verdict if there is to be one, and done.

    Or an error, and none of these three.
    """
    async with aclosing(stream), inquiry.watch:
        try:
            async for delta in stream:
                yield event_frame("token", {"t": delta})
            done = await inquiry.end(stream)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)
            yield event_frame("error", {"error": str(error)})
            return
        finishing = inquiry.finishing(done)
        yield event_frame("citations", done.citations)
        done = await asyncio.shield(finishing)
        if inquiry.tells_verdict:
            yield event_frame("verdict", done.verdict_json())
        yield event_frame("done", inquiry.end_json(done, whole=False))
