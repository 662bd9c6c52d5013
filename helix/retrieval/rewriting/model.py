"""ModelRewriter: one short call of the language model a question, at most; its answer is kept.

Questions that are asked at the same time share a call. A call that fails or takes too long is
closed upstream, and its question is searched as it is.
"""

from __future__ import annotations

import asyncio
import logging
import re
import unicodedata
from collections import OrderedDict
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.domain.contract import QUESTION_PREFIX
from helix.errors import problem_of
from helix.language.terms import terms
from helix.providers.base import LanguageModel
from helix.settings.prompts import active_prompts

TIMEOUT = 2.0
"""Seconds that a question waits for its terms by default."""
CACHE_SIZE = 1024
"""Questions whose terms are remembered by default."""

LONGEST = 300
"""Characters of search terms at most."""
_ENOUGH = 2 * LONGEST
"""Characters of a reply after which it is not read on: markup may take some of them."""

_Key = tuple[str, str, str]
"""The model's identity, what it is told, and the question."""

_logger = logging.getLogger(__name__)
_MARKUP = re.compile(r"[\"“”„‟«»`]|\*\*|__+|\[\d{1,4}\]")
_LIST_MARKER = re.compile(r"(?<!\s)\s*(?:[-*+•>]|#{1,6}|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"(?<!\s)\s*(?:search|query|queries|keywords?)(?: \w{1,12})?\s*+:\s*", re.IGNORECASE
)
_REFUSING = re.compile(
    r"(?:(?:i'm|i am|we're|we are) )?(?:(?:so|very) )?sorry\b"
    r"|i(?: can't| cannot| can not| won't| will not| don't have| do not have| must decline)\b"
    r"|(?:i'm|i am) (?:unable|not able|not allowed|an? (?:ai|language))\b"
    r"|as an? (?:ai|artificial|large|language)\b"
    r"|unfortunately\b",
    re.IGNORECASE,
)
_ENDS = " \t'‘’‚‛,;:"


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
            _logger.warning("rewriting by %s failed: %s", identity, problem_of(error))
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
        return await self._llm.beginning(messages, _ENOUGH, **self._llm.brief)


def _stop(task: asyncio.Task[str | None]) -> None:
    """Cancel once: a second time would interrupt the closing of the stream."""
    if not task.cancelling():
        task.cancel()


def search_terms(reply: str, question: str) -> str | None:
    """The words of ``reply`` on one line of 1 to 300 characters without markup.

    None where they would find nothing new: no words, a refusal in English, or the question's own
    terms (function words and endings aside).
    """
    line = _one_line(reply)
    if _REFUSING.match(line.replace("’", "'")):
        return None
    line = _cut(line)
    found = set(terms(line))
    return line if found and found != set(terms(question)) else None


def _one_line(reply: str) -> str:
    """The reply's words; control, format and unassigned characters count as spaces."""
    lines = []
    for line in reply.splitlines():
        visible = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in line)
        lines.append(_LABEL.sub("", _LIST_MARKER.sub("", visible, 1), 1))
    return " ".join(_MARKUP.sub(" ", " ".join(lines)).split()).strip(_ENDS)


def _cut(line: str) -> str:
    """At most 300 characters, whole words where there are spaces."""
    if len(line) <= LONGEST:
        return line
    end = line.rfind(" ", 1, LONGEST + 1)
    return line[: end if end > 0 else LONGEST].strip(_ENDS)
