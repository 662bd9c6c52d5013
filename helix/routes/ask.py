"""GET /ask: a question in, token frames and one citations frame out."""

from __future__ import annotations

import asyncio
import logging
import unicodedata
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Send
from starlette.types import Scope as ASGIScope

from helix.errors import BadRequest, HelixError
from helix.query_engine import AnswerStream, CitationQueryEngine
from helix.routes.asker import Asker
from helix.scope import Scope
from helix.sse import citations_frame, token_frame

PING_SECONDS = 15
SEND_TIMEOUT_SECONDS = 30
"""A client that takes no byte for this long is gone, whatever its socket says."""
DRAIN_SECONDS = 20
"""How long a stream may go on after SIGTERM before it is cut."""
_CLIENT_CLOSED_REQUEST = 499  # nobody is left to read it; it is for the log
_LARGEST_ID = 2**63 - 1
_NO_ID = "document_id must be a document's id, a whole number"

_logger = logging.getLogger(__name__)
router = APIRouter()

_STREAM = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'data: {"t":"Refunds are accepted within 30 days. [1]"}\n\nevent: citations\n'
    'data: [{"n":1,"chunk_id":42,"document_title":"Refund Policy","snippet":"Refunds are…"}]\n\n'
)}}  # fmt: skip


class _AnswerResponse(EventSourceResponse):
    """An event stream whose stalled client is one line in the log, not a traceback."""

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            _logger.warning("stream cut: the client took nothing for %d s", SEND_TIMEOUT_SECONDS)


@router.get(
    "/ask",
    summary="Ask the documents",
    response_class=Response,
    responses={
        200: {"description": "Token frames, then one citations frame", "content": _STREAM},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "`q` is missing, blank or too long, or `document_id` is no id"},
        503: {"description": "Database or model failed before the first token"},
    },
)
async def ask(
    request: Request,
    asker: Asker,
    q: Annotated[str | None, Query(description="The question")] = None,
    document_id: Annotated[
        str | None, Query(description="Answer from this document only (documents.id)")
    ] = None,
) -> Response:
    """Stream a grounded answer, or the exact refusal. A stream without a citations frame is cut."""
    held = asker.services
    question = question_of(q, held.settings.max_question_chars)
    scope = Scope(asker.tenant, document_ids=_document_ids(document_id))
    try:
        stream = await _unless_gone(request, held.engine.ask(question, scope))
    except HelixError as error:
        if error.status < 503:
            raise
        _logger.warning("no first token: %s", error)
        return JSONResponse({"error": str(error)}, status_code=503)
    if stream is None:
        return Response(status_code=_CLIENT_CLOSED_REQUEST)
    return _AnswerResponse(
        _frames(held.engine, stream, scope),
        sep="\n",
        headers={"Cache-Control": "no-cache"},
        ping=PING_SECONDS,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
        send_timeout=SEND_TIMEOUT_SECONDS,
        shutdown_event=anyio.Event(),
        shutdown_grace_period=DRAIN_SECONDS,
    )


async def _frames(
    engine: CitationQueryEngine, stream: AnswerStream, scope: Scope
) -> AsyncGenerator[bytes, None]:
    """The frames of ``stream``; it just ends, without a citations frame, if the model fails.

    So it does where what it was made from was replaced or deleted meanwhile.
    """
    async with aclosing(stream):
        try:
            async for delta in stream:
                yield token_frame(delta)
            holds = await engine.still_holds(stream.retrieval, scope)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)
            return
        if holds:
            yield citations_frame(stream.citations)
        else:
            _logger.warning("stream cut: a source was changed meanwhile")


async def _unless_gone(
    request: Request, asking: Coroutine[Any, Any, AnswerStream]
) -> AnswerStream | None:
    """Await the first token, but give up, and so close the model's stream, if the client leaves."""
    work = asyncio.ensure_future(asking)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    except asyncio.CancelledError:
        if work.done() and not work.cancelled() and not work.exception():
            await work.result().aclose()
        raise
    finally:
        unfinished = [task for task in (work, gone) if not task.done()]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


def question_of(q: str | None, limit: int) -> str:
    """The question as it was sent.

    Raises:
        BadRequest: it is missing, has nothing visible in it, or is longer than ``limit``.
    """
    if q is None or all(unicodedata.category(c)[0] in "ZC" for c in q):
        raise BadRequest("q is missing or blank: ask with /ask?q=your%20question")
    if len(q) > limit:
        raise BadRequest(f"q has {len(q)} characters; the limit is {limit}")
    return q


def _document_ids(text: str | None) -> tuple[int] | None:
    if text is None:
        return None
    digits = text.lstrip("0") or text[:1]
    # the length first: Python itself refuses to read a number of thousands of digits
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise BadRequest(_NO_ID)
    if (number := int(digits)) > _LARGEST_ID:
        raise BadRequest(_NO_ID)
    return (number,)
