"""A plugin's embedder held to a time: each call ends, in a vector or in TimeoutError."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

MOST_THREADS = 32
"""Calls of one embedder that block at once; more wait, and as long as any call may take."""
_R = TypeVar("_R")


class BoundedEmbedding(BaseEmbedding):
    """Another embedding, each of whose calls raises TimeoutError after ``seconds``.

    One that has no way of its own to embed texts beside other work, only LlamaIndex's that blocks,
    is called in threads: in the event loop it would hold up every question, and nothing ends it.
    Any other is called in an event loop of its own: the connections that its client keeps belong to
    the loop that made them, and Helix asks from several.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _seconds: float = PrivateAttr()
    _blocks: bool = PrivateAttr()
    _threads: _Threads = PrivateAttr()
    _loop: _OwnLoop = PrivateAttr()

    def __init__(self, inner: BaseEmbedding, seconds: float) -> None:
        super().__init__(model_name=inner.model_name, embed_batch_size=inner.embed_batch_size)
        self._inner, self._seconds = inner, seconds
        self._threads, self._loop = _Threads(MOST_THREADS), _OwnLoop()
        own = (type(inner)._aget_text_embedding, type(inner)._aget_text_embeddings)
        self._blocks = own == (
            BaseEmbedding._aget_text_embedding,
            BaseEmbedding._aget_text_embeddings,
        )

    @classmethod
    def class_name(cls) -> str:
        return "BoundedEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._waited(self._inner.get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._waited(self._inner.get_text_embedding, text)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._waited(self._inner.get_text_embedding_batch, texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        inner = self._inner
        return await self._awaited(inner.get_query_embedding, inner.aget_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        inner = self._inner
        batch, abatch = inner.get_text_embedding_batch, inner.aget_text_embedding_batch
        return await self._awaited(batch, abatch, texts)

    def _waited(self, call: Callable[[Any], _R], given: Any) -> _R:
        answer = self._threads.begin(call, given)
        try:
            return answer.result(self._seconds)
        finally:
            answer.cancel()  # where it still waits for a thread

    async def _awaited(
        self, call: Callable[[Any], _R], acall: Callable[[Any], Awaitable[_R]], given: Any
    ) -> _R:
        begin = (
            partial(self._threads.begin, call) if self._blocks else partial(self._loop.begin, acall)
        )
        async with asyncio.timeout(self._seconds):
            return await asyncio.wrap_future(begin(given))

    async def aclosed_by(self, close: Callable[[], Awaitable[None]]) -> None:
        """Run ``close``, which closes the other embedding, where its calls ran; end their loop."""
        try:
            if self._loop.runs:
                async with asyncio.timeout(self._seconds):
                    await asyncio.wrap_future(self._loop.begin(close))
            else:
                await close()
        finally:
            self._loop.end()


class _Threads:
    """At most ``most`` threads, begun as calls need them; none keeps a program from its exit."""

    def __init__(self, most: int) -> None:
        self._most, self._running = most, 0
        self._waiting: OrderedDict[Future[Any], Callable[[], Any]] = OrderedDict()
        self._changing = threading.Lock()

    def begin(self, call: Callable[[Any], _R], given: Any) -> Future[_R]:
        """The answer to come; a caller that cancels it before its call has begun takes it back."""
        answer: Future[_R] = Future()
        with self._changing:
            if self._running < self._most:
                threading.Thread(target=self._work, daemon=True).start()
                self._running += 1
            self._waiting[answer] = partial(copy_context().run, call, given)
        answer.add_done_callback(self._forget)
        return answer

    def _forget(self, answer: Future[Any]) -> None:
        with self._changing:
            self._waiting.pop(answer, None)

    def _work(self) -> None:
        while (taken := self._taken()) is not None:
            answer, call = taken
            if answer.set_running_or_notify_cancel():
                _answer(answer, call)
            del taken, answer, call  # texts, which would be kept until the next ones

    def _taken(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._changing:
            if self._waiting:
                return self._waiting.popitem(last=False)
            self._running -= 1
            return None


def _answer(answer: Future[Any], call: Callable[[], Any]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001  whatever it is, the waiting caller has it
        answer.set_exception(error)


class _OwnLoop:
    """An event loop in a thread of its own, begun with the first call."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changing = threading.Lock()

    @property
    def runs(self) -> bool:
        """True from the first call to the end."""
        return self._loop is not None

    def begin(self, acall: Callable[..., Awaitable[_R]], *given: Any) -> Future[_R]:
        """The answer to come; a caller that cancels it cancels the call."""

        async def answered() -> _R:
            return await acall(*given)

        with self._changing:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run, args=(self._loop,), daemon=True).start()
            return asyncio.run_coroutine_threadsafe(answered(), self._loop)

    def end(self) -> None:
        """Let the loop end after what it does now; a later call begins another."""
        with self._changing:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
