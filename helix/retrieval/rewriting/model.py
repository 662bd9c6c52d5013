"""ModelRewriter: one short call of the language model a question, at most; its answer is kept.

Questions that are asked at the same time share a call. A call that fails or takes too long is
closed upstream, and its question is searched as it is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.domain.contract import QUESTION_PREFIX
from helix.providers.base import LanguageModel
from helix.retrieval.rewriting.reply import LONGEST, search_terms
from helix.settings.prompts import active_prompts

TIMEOUT = 2.0
"""Seconds that a question waits for its terms by default."""
CACHE_SIZE = 1024
"""Questions whose terms are remembered by default."""

_ENOUGH = 2 * LONGEST
"""Characters of a reply after which it is not read on: markup may take some of them."""

_Key = tuple[str, str, str]
"""The model's identity, what it is told, and the question."""

_logger = logging.getLogger(__name__)


@dataclass
class _Call:
    """A call under way and how many wait for it."""

    task: asyncio.Task[str | None]
    askers: int = 0


class ModelRewriter:
    """A Rewriter by a language model, for one event loop.

    Args:
        llm: asked at most once for a question that it answered; its owner closes it.
        timeout: seconds that a question waits at most.
        cache_size: questions remembered, the least recently asked forgotten first; 0 is none.
        task: the prompt that says what to make of a question.

    ``calls`` counts the calls of the model, ``failures`` those that failed or took too long.
    """

    def __init__(
        self,
        llm: LanguageModel,
        *,
        timeout: float = TIMEOUT,
        cache_size: int = CACHE_SIZE,
        task: str = "search_terms",
    ) -> None:
        self.calls = 0
        self.failures = 0
        self._llm = llm
        self._task = task
        self._timeout = timeout
        self._cache_size = cache_size
        self._known: OrderedDict[_Key, str | None] = OrderedDict()
        self._under_way: dict[_Key, _Call] = {}

    async def terms(self, question: str) -> str | None:
        """The terms, as Rewriter has them. A cancelled caller leaves the call to the others."""
        key = (self._llm.identity, (await active_prompts()).text(self._task, {}), question)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        call = self._join(key)
        call.askers += 1
        try:
            await asyncio.wait({call.task}, timeout=self._timeout)
        except asyncio.CancelledError:
            if call.askers == 1:
                _stop(call.task)
            raise
        finally:
            call.askers -= 1
        if not call.task.done() or call.task.cancelled():
            return None
        return call.task.result()

    async def aclose(self) -> None:
        """Stop the calls under way; who waits for one searches the question alone."""
        tasks = [call.task for call in self._under_way.values()]
        for task in tasks:
            _stop(task)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _join(self, key: _Key) -> _Call:
        """The call for ``key`` that is under way, or a new one; one being stopped has no answer."""
        call = self._under_way.get(key)
        if call is None or call.task.cancelling() or call.task.done():
            call = _Call(asyncio.create_task(self._ask(key)))
            self._under_way[key] = call
            call.task.add_done_callback(lambda task: self._ended(key, task))
        return call

    def _ended(self, key: _Key, task: asyncio.Task[str | None]) -> None:
        call = self._under_way.get(key)
        if call and call.task is task:
            del self._under_way[key]

    async def _ask(self, key: _Key) -> str | None:
        identity, instructions, question = key
        self.calls += 1
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._reply(instructions, question)
        except Exception as error:  # noqa: BLE001 - whatever it was, the question can be searched
            self.failures += 1
            _logger.warning("rewriting by %s failed: %s", identity, type(error).__name__)
            return None
        found = search_terms(reply, question)
        self._known[key] = found
        while len(self._known) > self._cache_size:
            self._known.popitem(last=False)
        return found

    async def _reply(self, instructions: str, question: str) -> str:
        """The beginning of the model's reply; its stream is closed on return, however that is."""
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=instructions),
            ChatMessage(role=MessageRole.USER, content=f"{QUESTION_PREFIX}{question}"),
        ]
        responses: Any = await self._llm.model.astream_chat(messages, **self._llm.brief)
        reply = ""
        async with aclosing(responses):
            async for response in responses:
                reply += response.delta or ""
                if len(reply) >= _ENOUGH:
                    break
        return reply


def _stop(task: asyncio.Task[str | None]) -> None:
    """Cancel once: a second time would interrupt the closing of the stream."""
    if not task.cancelling():
        task.cancel()
