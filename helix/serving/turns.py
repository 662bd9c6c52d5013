"""Turns over HTTP: begun where there is a place, told as events or waited for as one JSON."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

from fastapi import HTTPException, Request
from fastapi.responses import Response

from helix.conversations.liveness import MessageEvent, MessageRow
from helix.conversations.names import Busy
from helix.conversations.ongoing_answer import OngoingAnswer
from helix.conversations.questions import Asking, Conversing
from helix.domain.scope import scope_of_stored
from helix.errors import HelixError
from helix.overload.admission import Place
from helix.overload.entry import place_for
from helix.serving.caller import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected
from helix.serving.sse import TextJson, event_frame

_logger = logging.getLogger(__name__)
WAIT_SECONDS = 120.0
"""Longest that a question waits for the one before it in its conversation."""
_LOOK_SECONDS = 0.1
_OF_CONVERSATIONS = ("message", "memory")
"""Events that POST /v1/query does not tell."""


async def answer_turn(request: Request, caller: Caller, asking: Asking) -> Response:
    """Begin the turn and tell it; it goes on when the client leaves.

    Raises:
        Busy: another question of the conversation is being answered, and was not waited for.
        NotFound: there is no such conversation or message.
        HelixError: the answer could not be begun, or not be finished in one piece.
    """
    turn = await start_turn(request, caller, asking)
    waiting = turn.started() if asking.stream else turn.whole()
    if await run_unless_disconnected(request, waiting) is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    told = turn.first[1]
    headers = {"X-Answer-Id": told["answer_id"], "X-Trace-Id": told["trace_id"]}
    if asking.stream:
        return turn_stream(caller, turn.row, 0, headers, with_ids=asking.with_ids)
    if "answer_id" not in turn.response:
        raise HTTPException(409, "the answer was stopped: ask again")
    return TextJson(turn.response, headers=headers)


def turn_stream(
    caller: Caller,
    row: MessageRow,
    after: int,
    headers: dict[str, str] | None = None,
    *,
    with_ids: bool = True,
) -> Response:
    """The events of a message after number ``after``, then those to come.

    Where reading them fails the stream ends without its last: whoever has their numbers comes back.
    Without numbers it ends with ``error``.
    """
    events, right = caller.services.turns.follow(row, after), caller.right

    async def frames() -> AsyncGenerator[bytes, None]:
        try:
            async for event in events:
                if right:
                    await right.require(())
                if with_ids or event.name not in _OF_CONVERSATIONS:
                    yield event_bytes(event, numbered=with_ids)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)
            if not with_ids:
                yield event_frame("error", {"error": str(error)})

    return event_stream(frames(), events.aclose, headers)


def event_bytes(event: MessageEvent, *, numbered: bool = True) -> bytes:
    """An event as it is sent, the same bytes each time."""
    number = f"id: {event.n}\n" if numbered else ""
    return f"{number}event: {event.name}\ndata: {event.data}\n\n".encode()


async def start_turn(request: Request, caller: Caller, asking: Asking) -> OngoingAnswer:
    """The turn, which goes on by itself; raises as ``answer_turn`` does before there is one."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WAIT_SECONDS
    while True:
        try:
            with place_for(request) as place:

                async def begin(place: Place = place) -> OngoingAnswer:
                    return await _held(caller, asking, place)

                turn = await run_unless_disconnected(request, place.run(begin))
            if turn is None:
                raise HTTPException(CLIENT_CLOSED_REQUEST, "the client left")
            caller.note("question_asked")
            caller.note("question_scoped", 1 if asking.scope else 0)
            return turn
        except Busy:
            if not asking.wait or loop.time() > deadline:
                raise
            await asyncio.sleep(_LOOK_SECONDS)


async def _held(caller: Caller, asking: Asking, place: Place) -> OngoingAnswer:
    """Begin the turn, which leaves its place itself; it is begun where its client left too."""
    services = caller.services
    conversing = Conversing(services.turns, services.answering, services.settings)

    async def leave() -> None:
        place.leave()

    turn = await services.turns.hold(
        conversing.begin(caller.library, asking, scope_of_stored, leave, caller.right)
    )
    place.until(leave)
    return turn
