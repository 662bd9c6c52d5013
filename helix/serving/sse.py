"""Answers as the frames and the JSON of the wire contract.

A frame is bytes ready to send: one `data:` line of JSON, for JSON has no raw line break and so
nothing a model writes can break a frame. The receipt is written while the citations are being sent,
and before the stream ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing

import anyio
from fastapi import Request
from fastapi.responses import Response
from starlette.responses import JSONResponse

from helix.answering.events import typed_events
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.answering.stream import AnswerStream
from helix.domain.contract import Citation, json_bytes
from helix.errors import BadRequest, HelixError
from helix.overload.entry import place_for
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected

_MOST_BYTES = 4096  # that are made before the client is sent them
_CLOSE_SECONDS = 2
_logger = logging.getLogger(__name__)


def token_frame(text: str) -> bytes:
    """One token frame. Lone surrogates, which UTF-8 cannot carry, travel as JSON escapes."""
    return _frame("", {"t": text})


def citations_frame(citations: Sequence[Citation]) -> bytes:
    """The one citations frame that ends a whole answer."""
    return _frame("event: citations\n", list(citations))


def event_frame(event: str, payload: object) -> bytes:
    """A frame of a typed stream: one event by that name."""
    return _frame(f"event: {event}\n", payload)


def comment_frame(name: str, payload: object) -> bytes:
    """A comment line, which clients of server-sent events pass over."""
    return f": {name} ".encode() + json_bytes(payload) + b"\n\n"


def _frame(head: str, payload: object) -> bytes:
    return f"{head}data: ".encode() + json_bytes(payload) + b"\n\n"


class TextJson(JSONResponse):
    """JSON of texts that people and models wrote: lone surrogates travel as escapes."""

    def render(self, content: object) -> bytes:
        """``content`` as the response's body."""
        return json_bytes(content)


async def joined(frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """``frames`` in their order: the first, then those of one turn of the event loop together.

    To send each costs as much as to make it. The first goes by itself, so that a reader sees it
    before the others are made.

    Raises:
        Exception: what ``frames`` raise, once all before it is sent.
    """
    ready = bytearray()
    came, taken = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        is_first = True
        async with aclosing(frames):
            async for frame in frames:
                ready.extend(frame)
                came.set()
                if is_first or len(ready) >= _MOST_BYTES:
                    is_first = False
                    taken.clear()
                    await taken.wait()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: came.set())
    try:
        while ready or not reading.done():
            await came.wait()
            came.clear()
            if ready:
                together = bytes(ready)
                ready.clear()
                taken.set()
                yield together
        reading.result()
    finally:
        reading.cancel()
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):  # else it is closed while it runs
            await asyncio.wait({reading})


def last_event_id(request: Request) -> int:
    """The number in ``Last-Event-ID``; 0 where there is none.

    Raises:
        BadRequest: it is no number.
    """
    text = request.headers.get("last-event-id", "").strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise BadRequest("Last-Event-ID is no id of an event of this stream")
    return int(text)


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
