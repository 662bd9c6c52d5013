"""Turns over HTTP: begun where there is a place, told as events or waited for as one JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from helix.answering.answer import Question
from helix.answering.memory import next_summary
from helix.answering.pipeline import AnswerRequest
from helix.conversations.errors import Busy
from helix.conversations.liveness import MessageEvent, MessageRow
from helix.conversations.production import Production
from helix.conversations.tree import Begun, NewMessage
from helix.conversations.turns import Turn
from helix.domain.history import History
from helix.library.access import Connected
from helix.serving.admission import Place, place_for
from helix.serving.authentication import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected
from helix.serving.query_request import scope_of_stored
from helix.serving.sse import TextJson
from helix.settings import Settings

WAIT_SECONDS = 120.0
"""Longest that a question waits for the one before it in its conversation."""
_LOOK_SECONDS = 0.1
_OF_CONVERSATIONS = ("message", "memory")
"""Events that POST /v1/query does not tell."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question for a conversation, and how it is to be answered.

    ``add`` adds the message inside a transaction, and says what is asked. ``with_ids``: the
    response and the stream name conversation and message, as those of conversations do.
    """

    conversation_id: str
    add: Callable[[Connected, NewMessage], tuple[NewMessage, Begun]]
    question: str = ""
    scope: dict[str, Any] | None = None
    top_k: int | None = None
    debug: bool = False
    verdict: bool = False
    stream: bool = True
    wait: bool = False
    with_ids: bool = True
    named: str = ""


async def answer_turn(request: Request, caller: Caller, asking: Asking) -> Response:
    """Begin the turn and tell it; it goes on when the client leaves.

    Raises:
        Busy: another question of the conversation is being answered, and was not waited for.
        NotFound: there is no such conversation or message.
        HelixError: the answer could not be begun, or not be finished in one piece.
    """
    turn = await _begun(request, caller, asking)
    waiting = turn.begun() if asking.stream else turn.whole()
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
    """The events of a message after number ``after``, then those to come."""
    events = caller.services.turns.follow(row, after)

    async def frames() -> AsyncGenerator[bytes, None]:
        async for event in events:
            if with_ids or event.name not in _OF_CONVERSATIONS:
                yield event_bytes(event, numbered=with_ids)

    return event_stream(frames(), events.aclose, headers, drain_seconds=0)


def event_bytes(event: MessageEvent, *, numbered: bool = True) -> bytes:
    """An event as it is sent, the same bytes each time."""
    number = f"id: {event.n}\n" if numbered else ""
    return f"{number}event: {event.name}\ndata: {event.data}\n\n".encode()


async def _begun(request: Request, caller: Caller, asking: Asking) -> Turn:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WAIT_SECONDS
    while True:
        try:
            with place_for(request, caller.tenant) as place:

                async def begin(place: Place = place) -> Turn:
                    return await caller.services.turns.hold(_begin(caller, asking, place))

                turn = await run_unless_disconnected(request, place.run(begin))
            if turn is None:
                raise HTTPException(CLIENT_CLOSED_REQUEST, "the client left")
            return turn
        except Busy:
            if not asking.wait or loop.time() > deadline:
                raise
            await asyncio.sleep(_LOOK_SECONDS)


async def _begin(caller: Caller, asking: Asking, place: Place) -> Turn:
    """Add the message and begin its answer; whoever asked may have left by now."""
    services, library = caller.services, caller.library
    question = Question(asking.question)
    new = NewMessage(
        asking.question, question.answer_id, services.turns.owner, asking.scope, asking.top_k,
        services.llm.identity,
    )  # fmt: skip
    new, begun = await library.change(lambda connection: asking.add(connection, new))
    question = replace(
        question, text=new.question, scope=scope_of_stored(begun.scope, library.tenant),
        top_k=new.top_k, history=begun.history,
    )  # fmt: skip
    ids: dict[str, Any] = {"conversation_id": asking.named or asking.conversation_id}
    if asking.with_ids:
        ids |= {"message_id": begun.message_id, "parent_id": begun.parent_id}
    answering = AnswerRequest(
        services.answering, question, debug=asking.debug, verdict=asking.verdict, extra=ids
    )
    production = Production(answering)
    row = MessageRow(library, asking.conversation_id, begun.message_id, services.turns.owner)

    async def sum_up(response: dict[str, Any]) -> None:
        answer = response.get("answer") or ""
        summary = await next_summary(
            services.llm, begun.history, new.question, answer,
            asks=_is_half_full(begun.history, services.settings),
        )  # fmt: skip
        await row.keep_summary(summary, begun.history.summarised + 1)

    first = ids | {"answer_id": question.answer_id, "trace_id": question.trace_id}
    turn = Turn(
        row,
        production.streamed if asking.stream else production.whole,
        ("message", first | {"question": new.question}),
        lambda: production.documents,
        after=sum_up,
        leave=place.until(_nothing),
    )
    services.turns.start(turn)
    return turn


def _is_half_full(history: History, settings: Settings) -> bool:
    """Whether turns will soon be left out of the prompt: before that nobody reads a summary."""
    chars = sum(len(turn.question) + len(turn.answer) for turn in history.turns)
    return 2 * chars > settings.history_chars or 4 * len(history.turns) > settings.history_messages


async def _nothing() -> None:
    return
