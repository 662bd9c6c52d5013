"""A plugin's embedder held to a time: each call ends, in a vector or in TimeoutError."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

_P = ParamSpec("_P")
_R = TypeVar("_R")


class BoundedEmbedding(BaseEmbedding):
    """Another embedding, each of whose calls raises TimeoutError after ``seconds``.

    One that has no way of its own to embed texts beside other work, only LlamaIndex's that blocks,
    is called in threads: in the event loop it would hold up every question, and nothing ends it.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _seconds: float = PrivateAttr()
    _blocks: bool = PrivateAttr()

    def __init__(self, inner: BaseEmbedding, seconds: float) -> None:
        super().__init__(model_name=inner.model_name, embed_batch_size=inner.embed_batch_size)
        self._inner, self._seconds = inner, seconds
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

    def _waited(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return _begun(call, *args, **kwargs).result(self._seconds)

    async def _awaited(
        self, call: Callable[[Any], _R], acall: Callable[[Any], Awaitable[_R]], given: Any
    ) -> _R:
        async with asyncio.timeout(self._seconds):
            if self._blocks:
                return await asyncio.wrap_future(_begun(call, given))
            return await acall(given)


def _begun(call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
    """The call in a thread of its own: one that hangs keeps neither a pool nor the exit."""
    answer: Future[_R] = Future()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(call(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  whatever it is, the waiting caller has it
            answer.set_exception(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    return answer
