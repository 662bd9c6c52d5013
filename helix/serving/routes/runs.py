"""/v1/runs: what is being brought in, how far it is, and stopping it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import ServerSentEvent

from helix.domain.contract import RunStatus
from helix.errors import HelixError
from helix.library.access import Row
from helix.library.run_progress import Event, follow, get_run, list_runs, stop_run
from helix.overload.entry import asker
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.disconnects import event_stream
from helix.serving.sse import last_event_id

_EVENTS = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'id: 812\nevent: file\ndata: {"n":0,"status":"reading","stage":"read page 3 of 47"}\n\n'
    'id: 813\nevent: run\ndata: {"id":7,"status":"running","counts":{"reading":1}}\n\n'
)}}  # fmt: skip

_logger = logging.getLogger(__name__)
router = APIRouter(prefix="/v1", tags=["runs"], route_class=ApiRoute)


@router.get("/runs", summary="List runs")
async def runs(
    caller: CurrentCaller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
    status: Annotated[RunStatus | None, Query()] = None,
) -> JSONResponse:
    """A page of the runs, newest first."""
    return JSONResponse(await list_runs(caller.library, limit, after, status))


@router.get(
    "/runs/{run_id}",
    summary="How far a run is",
    response_class=Response,
    responses={200: {"description": "The run", "content": {"application/json": {}, **_EVENTS}}},
)
async def run(
    request: Request,
    caller: CurrentCaller,
    run_id: int,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """The run and a page of its files, failed ones first; asked for an event stream, its events."""
    if "text/event-stream" in request.headers.get("accept", ""):
        return await events(request, caller, run_id)
    return JSONResponse(await get_run(caller.library, run_id, limit, after))


@router.get(
    "/runs/{run_id}/events",
    summary="Follow a run",
    response_class=Response,
    responses={200: {"description": "`file` and `run` events", "content": _EVENTS}},
)
async def events(request: Request, caller: CurrentCaller, run_id: int) -> Response:
    """Each change as it comes, after `Last-Event-ID`; ends with a `run` that has ended."""
    follower = asker(request).follower()
    changes = follow(caller.library, run_id, last_event_id(request))
    first = await anext(changes)  # while there can still be an error instead of a stream
    return event_stream(_frames(first, changes), release=changes.aclose, follower=follower)


async def _frames(
    first: Event, changes: AsyncGenerator[Event, None]
) -> AsyncIterator[ServerSentEvent]:
    """``changes`` as frames; where reading them fails, the stream ends before the run has."""
    yield _frame(first)
    try:
        async for event in changes:
            yield _frame(event)
    except HelixError as error:
        _logger.warning("stream cut: %s", error)


def _frame(event: Event) -> ServerSentEvent:
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(data, event=event.name, id=str(event.id), sep="\n")


@router.post("/runs/{run_id}/cancel", summary="Stop a run")
async def cancel(caller: CurrentCaller, run_id: int) -> Row:
    """A queued run is `cancelled` at once, a running one `cancelling` until it has stopped."""
    return {"id": run_id, "status": await stop_run(caller.library, run_id)}
