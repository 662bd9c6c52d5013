"""An answer as server-sent frames: the plain ones of GET /ask, the typed ones of POST /v1/query.

The receipt is written while the citations are being sent, and before the stream ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from fastapi import Request
from fastapi.responses import Response

from helix.answering.events import typed_events
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.answering.stream import AnswerStream
from helix.errors import HelixError
from helix.overload.entry import place_for
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected
from helix.serving.sse import citations_frame, comment_frame, event_frame, joined, token_frame

_logger = logging.getLogger(__name__)


def answer_headers(question: Question) -> dict[str, str]:
    """The headers by which the answer is found again."""
    return {"X-Answer-Id": question.answer_id, "X-Trace-Id": question.trace_id}


async def streamed(
    request: Request,
    answering: AnswerRequest,
    frames: Callable[[AnswerStream], AsyncGenerator[bytes, None]],
    headers: Mapping[str, str],
) -> Response:
    """The answer as ``frames`` tell it, begun when its first delta is there.

    A client that leaves closes the model's stream.

    Raises:
        Overloaded, LimitReached: there is no place for it.
        UpstreamError, StoreUnavailable, EmbedderMismatch: as AnswerRequest.start does.
    """
    with place_for(request) as place:
        start = place.run(answering.start)
        stream = await run_unless_disconnected(request, start, AnswerStream.aclose)
        if stream is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        close = place.until(stream.aclose)
    return event_stream(joined(frames(stream)), close, headers)


async def plain_frames(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """Token frames, the citations frame, and a verdict frame if the client asked for one.

    Where every answer is judged, a client that did not ask is told the verdict in a comment line:
    the contract has no other event for it.

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
            answer = await asyncio.shield(finishing)
            if request.verdict:
                yield event_frame("verdict", answer.verdict_json())
            elif request.has_verdict:
                yield comment_frame("verdict", answer.verdict_json())


async def typed_frames(request: AnswerRequest, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
    """The frames of ``typed_events``."""
    async with aclosing(typed_events(request, stream)) as events:
        async for name, payload in events:
            yield event_frame(name, payload)
