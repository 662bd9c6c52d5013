"""/v1/library: what there is, counted; which documents match; and when something changes."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from helix.errors import HelixError
from helix.library.access import Row
from helix.library.change_feed import changes
from helix.library.document_list import matching_ids, summarise
from helix.overload.entry import asker
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.disconnects import event_stream
from helix.serving.document_filters import KNOWN_PARAMETERS, Narrowed

_MOST_IDS = 10_000
LOOK_SECONDS = 2.0
"""Time between two looks at what the follower of a library may read."""
_EVENTS = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'event: library\ndata: {"documents":12,"version":"81…","runs":[7]}\n\n'
)}}  # fmt: skip

_logger = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/library", tags=["documents"], route_class=ApiRoute)


@router.get("", summary="What there is, counted")
async def library(caller: CurrentCaller) -> Row:
    """Documents by status, label, kind and format; and what this server takes in."""
    settings = caller.services.settings
    return {
        **await summarise(caller.library),
        "web_imports": settings.web_imports,
        "max_file_mb": settings.max_file_mb,
    }


@router.get("/ids", summary="All that match", dependencies=[KNOWN_PARAMETERS])
async def ids(caller: CurrentCaller, wanted: Narrowed) -> dict[str, list[int]]:
    """The ids of the documents that match, at most 10,000: what a batch can be asked for."""
    return {"ids": await matching_ids(caller.library, wanted, _MOST_IDS)}


@router.get(
    "/events",
    summary="Follow the library",
    response_class=Response,
    responses={200: {"description": "`library` events", "content": _EVENTS}},
)
async def events(
    request: Request,
    caller: CurrentCaller,
    most: Annotated[int | None, Query(ge=1, description="Events after which it ends")] = None,
) -> Response:
    """Send the state of the library now, and again after each change, whoever makes it.

    `version` differs where any document does; `runs` are those under way. The stream ends where the
    caller may read or change other spaces than at its beginning: follow it again.
    """
    follower = asker(request).follower()
    events = changes(caller.library)
    first = await anext(events)  # while there can still be an error instead of a stream
    following = _while_readable(caller, events)

    async def release() -> None:
        await following.aclose()
        await events.aclose()

    return event_stream(_frames(first, following, most), release, follower=follower)


async def _while_readable(
    caller: Caller, events: AsyncGenerator[Row, None]
) -> AsyncGenerator[Row, None]:
    """``events``, until the caller may read or change something else than when they began."""
    coming: asyncio.Task[Row] | None = None
    try:
        while True:
            coming = coming or asyncio.create_task(anext(events))
            done, _ = await asyncio.wait((coming,), timeout=LOOK_SECONDS)
            if not await caller.reaches_the_same():
                return
            if done:
                yield coming.result()
                coming = None
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def _frames(
    first: Row, events: AsyncGenerator[Row, None], most: int | None
) -> AsyncIterator[ServerSentEvent]:
    """``events`` as frames; where looking fails, the stream ends."""
    yield _frame(first)
    count = 1
    try:
        while most is None or count < most:
            yield _frame(await anext(events))
            count += 1
    except StopAsyncIteration:
        return
    except HelixError as error:
        _logger.warning("stream cut: %s", error)


def _frame(data: Row) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(data, separators=(",", ":")), event="library", sep="\n")
