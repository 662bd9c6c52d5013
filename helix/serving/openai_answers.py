"""An answer in either of OpenAI's formats: streamed, in one piece, or in a form of the client's."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.answering.events import Event, typed_events
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.answering.stream import AnswerStream
from helix.answering.structured_output import filled_form
from helix.domain.context import Source, count_tokens
from helix.domain.history import History
from helix.errors import BadRequest, UpstreamError
from helix.overload.entry import asker, place_for
from helix.protocols.messages import ClientTask, question_of_messages, task_in
from helix.protocols.openai_chat import chunks, completion, whole_chunks
from helix.protocols.openai_responses import response, response_events, whole_events
from helix.protocols.openai_text import (
    ResponseOptions,
    ResponseText,
    Sources,
    form_text,
    whole_text,
)
from helix.providers.base import LanguageModel, model_failures
from helix.serving.addresses import base_of
from helix.serving.caller import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.openai_forms import InvalidParameter, check_model
from helix.serving.openai_request import AskingRequest
from helix.serving.pasted_text import LastMessage, last_message, without_pasted
from helix.serving.sse import TextJson, answer_headers, streamed

Told = tuple[ResponseText, Sequence[Source]]
_logger = logging.getLogger(__name__)
_LONGEST = 20_000  # characters of a reply


@dataclass(frozen=True)
class WireFormat:
    """The ways to send an answer in one of the two formats: frames, one piece, or whole frames."""

    frames: Callable[
        [AsyncGenerator[Event, None], ResponseOptions, Sources], AsyncGenerator[bytes, None]
    ]
    whole: Callable[[ResponseOptions, ResponseText, Sequence[Source]], dict[str, Any]]
    at_once: Callable[[ResponseOptions, ResponseText, Sequence[Source]], bytes]


CHAT = WireFormat(chunks, completion, whole_chunks)
RESPONSES = WireFormat(response_events, response, whole_events)


async def respond(
    request: Request, caller: Caller, body: AskingRequest, wire_format: WireFormat
) -> Response:
    """The answer to the last message of ``body``, or what a client asks for in the background."""
    caller = caller.for_tenant(body.tenant_id)
    settings = caller.services.settings
    messages = body.messages_said()
    task = task_in(messages)
    last, scope = LastMessage(""), body.scope(caller.tenant, settings).within(caller.reach.spaces)
    history: History | None = None
    if task is None:
        try:
            text, history = question_of_messages(messages)
            history = without_pasted(history, settings.max_question_chars)
            last = await last_message(request, caller, text)
        except BadRequest as error:
            raise InvalidParameter(str(error), body.question_key) from None
    question = Question(
        last.question, last.within(scope), body.top_k, history,
        mode=body.mode(settings), time_zone=body.time_zone or "UTC",
        model=body.answering_model(settings),
    )  # fmt: skip
    answering = AnswerRequest(
        caller.services.answering, question, extra=last.extra, right=caller.right
    )
    options = ResponseOptions(
        body.model, base_of(request, settings), question.answer_id, int(time.time()),
        body.stops, body.citation_links, body.tells_usage,
        settings.mark_unproven,
    )  # fmt: skip
    headers = answer_headers(question)
    schema = None if task else body.schema_asked()
    if schema is not None:
        check_model((await answering.pipeline.answerer_of(question)).llm, body.form[1])
    if body.stream and schema is None and task is None:

        def frames(stream: AnswerStream) -> AsyncGenerator[bytes, None]:
            events = typed_events(answering, stream)
            return wire_format.frames(events, options, lambda: stream.retrieval.sources)

        return await streamed(request, answering, frames, headers)

    async def work() -> Told:
        if task is not None:
            return await _done(request, caller, answering, task), ()
        return await _whole(answering, options, schema, settings.model_timeout)

    with place_for(request) as place:
        told = await run_unless_disconnected(request, place.run(work))
    if told is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if body.stream:
        sent = wire_format.at_once(options, *told)
        return Response(sent, headers=headers, media_type="text/event-stream")
    return TextJson(wire_format.whole(options, *told), headers=headers)


async def _whole(
    answering: AnswerRequest,
    options: ResponseOptions,
    schema: dict[str, Any] | None,
    seconds: float,
) -> Told:
    """The text of a whole answer, in the form of ``schema`` if there is one, and its sources."""
    with answering.outcome:
        answer = await answering.run()
    told = answering.response(answer, with_verdict=answering.has_verdict)
    sources = answer.retrieval.sources
    if schema is None:
        return whole_text(options, told), sources
    llm = answer.llm or answering.pipeline.engine.llm
    return form_text(told, await filled_form(llm, schema, answer, told, seconds)), sources


async def _done(
    request: Request, caller: Caller, answering: AnswerRequest, task: ClientTask
) -> ResponseText:
    """The reply to a client's background task: the model's, or the plain one without a model or
    where it fails."""
    question = answering.question
    llm = (await answering.pipeline.answerer_of(question)).llm
    reply = None
    if not llm.quotes_only:
        try:
            seconds = caller.services.settings.model_timeout
            reply = await direct_reply(llm, task.prompt, seconds)
        except UpstreamError as error:
            _logger.warning("a client's %s was made without the model: %s", task.kind, error)
        asker(request).answered(count_tokens(task.prompt) + count_tokens(reply or ""))
    reply = task.plain_reply() if reply is None else reply
    return ResponseText(reply, (), {"answer": reply, "answer_id": question.answer_id})


async def direct_reply(llm: LanguageModel, text: str, seconds: float) -> str:
    """The reply of ``llm`` to ``text``, a client's own prompt: no document is searched.

    It has at most the first 20,000 characters.
    Raises:
        UpstreamError: the model's service failed, or took longer than ``seconds``.
    """
    messages = [ChatMessage(role=MessageRole.USER, content=text)]
    try:
        async with asyncio.timeout(seconds):
            with model_failures(llm):
                return (await llm.beginning(messages, _LONGEST, **llm.brief))[:_LONGEST]
    except TimeoutError:
        raise UpstreamError(
            f"{llm.identity} took longer than {seconds:g} seconds: try again, or raise"
            " HELIX_MODEL_TIMEOUT"
        ) from None
