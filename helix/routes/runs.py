"""/v1/runs: what is being brought in, how far it is, and stopping it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import ServerSentEvent

from helix.errors import BadRequest, HelixError
from helix.library.access import Row
from helix.library.following import Event, follow, get_run, list_runs, stop_run
from helix.routes.asker import Asker
from helix.routes.leaving import event_stream

_EVENTS = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'id: 812\nevent: file\ndata: {"n":0,"status":"reading","stage":"read page 3 of 47"}\n\n'
    'id: 813\nevent: run\ndata: {"id":7,"status":"running","counts":{"reading":1}}\n\n'
)}}  # fmt: skip

_logger = logging.getLogger(__name__)
router = APIRouter(prefix="/v1", tags=["runs"])

RunStatus = Literal["queued", "running", "done", "failed", "cancelling", "cancelled"]


@router.get("/runs", summary="List runs")
async def runs(
    asker: Asker,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
    status: Annotated[RunStatus | None, Query()] = None,
) -> JSONResponse:
    """A page of the runs, newest first."""
    return JSONResponse(await list_runs(asker.library, limit, after, status))


@router.get(
    "/runs/{run_id}",
    summary="How far a run is",
    response_class=Response,
    responses={200: {"description": "The run", "content": {"application/json": {}, **_EVENTS}}},
)
async def run(
    request: Request,
    asker: Asker,
    run_id: int,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """The run and a page of its files, failed ones first; asked for an event stream, its events."""
    if "text/event-stream" in request.headers.get("accept", ""):
        return await events(request, asker, run_id)
    return JSONResponse(await get_run(asker.library, run_id, limit, after))


@router.get(
    "/runs/{run_id}/events",
    summary="Follow a run",
    response_class=Response,
    responses={200: {"description": "`file` and `run` events", "content": _EVENTS}},
)
async def events(request: Request, asker: Asker, run_id: int) -> Response:
    """Each change as it comes, after `Last-Event-ID`; ends with a `run` that has ended."""
    changes = follow(asker.library, run_id, _last_event_id(request))
    first = await anext(changes)  # while there can still be an error instead of a stream
    return event_stream(_frames(first, changes), drain_seconds=0)


async def _frames(
    first: Event, changes: AsyncGenerator[Event, None]
) -> AsyncIterator[ServerSentEvent]:
    """The frames of ``changes``; they just end, without a run that has ended, when it fails."""
    async with aclosing(changes):
        yield _frame(first)
        try:
            async for event in changes:
                yield _frame(event)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)


def _frame(event: Event) -> ServerSentEvent:
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(data, event=event.name, id=str(event.id), sep="\n")


def _last_event_id(request: Request) -> int:
    text = request.headers.get("last-event-id", "").strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise BadRequest("Last-Event-ID is no id of an event of this stream")
    return int(text)


@router.post("/runs/{run_id}/cancel", summary="Stop a run")
async def cancel(asker: Asker, run_id: int) -> Row:
    """A queued run is `cancelled` at once, a running one `cancelling` until it has stopped."""
    return {"id": run_id, "status": await stop_run(asker.library, run_id)}
