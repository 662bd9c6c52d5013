"""Closing of Gemini's streams: the socket closes when the stream's reader goes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from anyio import create_task_group
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index_instrumentation import get_dispatcher

from helix.errors import UpstreamError
from helix.providers.base import LanguageModel
from helix.providers.gemini.llm import gemini_llm
from helix.providers.retries import RetryPolicy
from helix.settings import load_settings
from tests.support.busy_machine import bound
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Hang, Reply, unavailable

KEY = "AIza-not-a-real-key-0123456789"
FAST = RetryPolicy(attempts=4, first_wait=0.01, longest_wait=0.5, budget=1.0)
MESSAGES = [ChatMessage(role=MessageRole.USER, content="q")]


@pytest.fixture
async def llm(wire: GeminiWire) -> AsyncIterator[LanguageModel]:
    made = gemini_llm(load_settings(database_url="embedded", gemini_api_key=KEY), policy=FAST)
    yield made
    await made.aclose()


async def _stream(llm: LanguageModel) -> list[str | None]:
    return [response.delta async for response in await llm.model.astream_chat(MESSAGES)]


def _endless() -> Answer:
    return Answer(deltas=("word ",) * 2000, delay=0.1)


async def _closed_within_a_second(wire: GeminiWire) -> bool:
    return await asyncio.to_thread(
        wire.wait_until, lambda w: w.open_streams == 0 and w.abandoned == 1, bound(1.0)
    )


async def test_aclose_closes_the_upstream(wire: GeminiWire, llm: LanguageModel) -> None:
    wire.script(_endless())
    gc.disable()  # what closes only at a collection does not close
    try:
        stream = await llm.model.astream_chat(MESSAGES)
        await anext(stream)
        assert wire.open_streams == 1
        await stream.aclose()
        assert await _closed_within_a_second(wire)
    finally:
        gc.enable()


class KeepsEvents(BaseEventHandler):
    """An observer as tracing installs it: it keeps what it is told, tracebacks included."""

    kept: list[BaseEvent] = []  # noqa: RUF012

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.kept.append(event)


async def test_aclose_closes_the_upstream_though_an_observer_keeps_the_stream_alive(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    observer, root = KeepsEvents(), get_dispatcher()
    wire.script(_endless())
    root.add_event_handler(observer)
    try:
        stream = await llm.model.astream_chat(MESSAGES)
        await anext(stream)
        await stream.aclose()
        assert await _closed_within_a_second(wire)
    finally:
        root.event_handlers.remove(observer)
    assert "LLMChatStartEvent" in [event.class_name() for event in observer.kept]
    assert KEY not in str([event.model_dump() for event in observer.kept])


async def test_breaking_out_closes_the_upstream(wire: GeminiWire, llm: LanguageModel) -> None:
    wire.script(_endless())
    gc.disable()
    try:
        async for _ in await llm.model.astream_chat(MESSAGES):
            break
        assert await _closed_within_a_second(wire)
    finally:
        gc.enable()


@pytest.mark.parametrize("reply", [_endless(), Answer(deltas=("a",), then="hang"), Hang()])
async def test_cancelling_the_reader_closes_the_upstream(
    wire: GeminiWire, llm: LanguageModel, reply: Reply
) -> None:
    wire.script(reply)
    task = asyncio.create_task(_stream(llm))
    assert await asyncio.to_thread(wire.wait_until, lambda w: w.requests != [])
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _closed_within_a_second(wire)


async def test_a_cancelled_scope_closes_the_upstream(wire: GeminiWire, llm: LanguageModel) -> None:
    """Web frameworks cancel in this way: every further await in the scope is cancelled too."""
    wire.script(_endless())

    async def read() -> None:
        stream = await llm.model.astream_chat(MESSAGES)
        try:
            async for _ in stream:
                group.cancel_scope.cancel()
                await asyncio.sleep(0)  # cancelled here, outside the stream's own awaits
        finally:
            await stream.aclose()

    gc.disable()
    try:
        async with create_task_group() as group:
            group.start_soon(read)
        assert await _closed_within_a_second(wire)
    finally:
        gc.enable()


async def test_an_unread_stream_asks_nothing(wire: GeminiWire, llm: LanguageModel) -> None:
    stream = await llm.model.astream_chat(MESSAGES)
    await stream.aclose()
    assert wire.requests == []


async def test_two_hundred_streams_at_once(wire: GeminiWire, llm: LanguageModel) -> None:
    wire.script(*[Answer(deltas=("a", "b", "c"), delay=0.05)] * 200)
    answers = await asyncio.gather(*[_stream(llm) for _ in range(200)])
    assert answers == [["a", "b", "c", ""]] * 200
    assert len(wire.requests) == 200


async def test_the_synchronous_stream_keeps_the_same_promises(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    wire.script(unavailable(), Answer(deltas=("a", "b")), Answer(deltas=("Half",), finish=None))

    def read() -> None:
        assert [r.delta for r in llm.model.stream_chat(MESSAGES)] == ["a", "b", ""]
        with pytest.raises(UpstreamError, match="ended before"):
            list(llm.model.stream_chat(MESSAGES))
        wire.script(_endless())
        stream = llm.model.stream_chat(MESSAGES)
        next(stream)
        stream.close()

    await asyncio.to_thread(read)
    assert await _closed_within_a_second(wire)
