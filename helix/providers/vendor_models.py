"""LlamaIndex's integrations held to Helix's rules: vectors, and answers that end whole.

LlamaIndex ends a cut or blocked answer as it ends a whole one; here an answer without a finish
reason that ends it whole is an UpstreamError.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import httpx
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock
from pydantic import PrivateAttr

from helix.domain.usage import KEY, Usage
from helix.errors import UpstreamError
from helix.providers.base import collecting_responses
from helix.providers.retries import INTERACTIVE, RetryPolicy
from helix.providers.thoughts import ThoughtFilter
from helix.providers.vectors import RawWidth, unit_vectors
from helix.providers.vendor_errors import requested_delay, upstream_errors
from helix.telemetry.usage_meter import count_call

ONE_ATTEMPT = RetryPolicy(attempts=1)

LENGTH_REASONS = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
"""The finish reasons, over all vendors, of an answer that met a limit."""
CALL_REASONS = frozenset({"tool_calls", "tool_use", "function_call"})
"""The finish reasons, over all vendors, of an answer that calls tools."""


class PaddedEmbedding(BaseEmbedding):
    """Another embedding whose vectors come out 1536 wide, with zeros at the end, and of length 1.

    Padding and scaling change no cosine. Raises SettingsError where the vectors are wider, and
    UpstreamError where the other embedding fails as often as ``policy`` lets it or gives no usable
    vector, and EmbedderMismatch where one has another width than those before.
    """

    _inner: BaseEmbedding
    _policy: RetryPolicy
    _width: RawWidth

    def __init__(self, inner: BaseEmbedding, name: str, policy: RetryPolicy = ONE_ATTEMPT) -> None:
        super().__init__(model_name=name, embed_batch_size=inner.embed_batch_size)
        self._inner = inner
        self._policy = policy
        self._width = RawWidth()

    @property
    def width(self) -> RawWidth:
        """The width of the other embedding's own vectors."""
        return self._width

    def _padded(self, rows: Sequence[Sequence[float]], count: int) -> list[list[float]]:
        return unit_vectors(rows, count, self.model_name, self._width)

    @classmethod
    def class_name(cls) -> str:
        return "PaddedEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        retrying = self._policy.retrying(requested_delay, "vendor")
        with upstream_errors(self.model_name):
            row = retrying(self._inner.get_query_embedding, query)
        return self._padded([row], 1)[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        retrying = self._policy.retrying_async(requested_delay, "vendor")
        with upstream_errors(self.model_name):
            row: list[float] = await retrying(self._inner.aget_query_embedding, query)
        return self._padded([row], 1)[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        retrying = self._policy.retrying(requested_delay, "vendor")
        with upstream_errors(self.model_name):
            rows = retrying(self._inner.get_text_embedding_batch, texts)
        return self._padded(rows, len(texts))

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        retrying = self._policy.retrying_async(requested_delay, "vendor")
        with upstream_errors(self.model_name):
            rows: list[list[float]] = await retrying(self._inner.aget_text_embedding_batch, texts)
        return self._padded(rows, len(texts))


class AnswerEnd:
    """The end of one answer, which may come in many responses.

    ``finish_reason`` and ``usage`` read it from a response's ``raw``; ``whole`` are the reasons of
    an answer that nothing cut; ``name`` is the model in messages, after its kind and a colon. An
    answer that may call tools (``may_call``) may end in calls, and without text.
    """

    def __init__(
        self,
        name: str,
        finish_reason: Callable[[Any], str | None],
        usage: Callable[[Any], Usage | None],
        whole: frozenset[str],
        *,
        may_call: bool = False,
    ) -> None:
        self.name = name
        self.usage = Usage(name.partition(":")[2])
        self._finish_reason = finish_reason
        self._read_usage = usage
        self._whole = whole | CALL_REASONS if may_call else whole
        self._may_call = may_call
        self._reason: str | None = None
        self._began = self._has_text = False
        self._counted = False

    def take(self, response: ChatResponse, text: str | None) -> None:
        # The last one that says: a chunk of token counts may follow it.
        self._began = True
        self._reason = self._finish_reason(response.raw) or self._reason
        self._has_text = self._has_text or bool(text)
        self.usage = self.usage.updated(self._read_usage(response.raw))

    def counted(self) -> Usage:
        """The answer's usage, counted in the metrics: once, however the answer ended."""
        if not self._counted:
            self._counted = True
            count_call(self.usage.model, self.usage.tokens)
        return self.usage

    def check(self) -> None:
        """Raise UpstreamError unless there was text, and a reason that means that it is all."""
        reason = self._reason
        if not self._began:
            raise UpstreamError(f"{self.name} sent no answer: check the address of its server")
        if not reason:
            raise UpstreamError(f"{self.name} ended its answer before it was finished: try again")
        if reason in LENGTH_REASONS:
            problem = f"{self.name}'s answer was cut at its length limit ({reason})"
            remedy = "ask for less at once, or raise HELIX_ANSWER_TOKENS"
            raise UpstreamError(f"{problem}: {remedy}", transient=False)
        if reason not in self._whole:
            problem = f"{self.name} broke off its answer ({reason})"
            raise UpstreamError(f"{problem}: ask in other words", transient=False)
        if not (self._has_text or self._may_call):
            raise UpstreamError(f"{self.name} finished without an answer: try again")


def _delay_before_answer(error: Exception) -> float | None:
    """``requested_delay``, but None for an answer that broke off: it was begun, and is paid for."""
    broke_off = isinstance(error, httpx.RemoteProtocolError | httpx.ReadError)
    return None if broke_off else requested_delay(error)


class WholeAnswers(BaseLLM):
    """Put before a vendor's class: the chats that Helix calls fail as ours, and end whole or fail.

    What fails before its first word is tried again by INTERACTIVE alone, a silence never: the
    vendor's client and LlamaIndex are told to make one attempt, or they would multiply.

    The last response of an answer carries its ``Usage``; a stream has one more for it.

    Nothing here implements an abstract method: ``super()`` is the vendor's class.
    """

    _new_end: Callable[..., AnswerEnd] = PrivateAttr()

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        end = self._new_end(may_call=bool(kwargs.get("tools")))
        ask = super().chat  # type: ignore[safe-super]
        with upstream_errors(end.name, of_chat=True):
            retrying = INTERACTIVE.retrying(_delay_before_answer, "vendor")
            response = _without_thoughts(retrying(ask, messages, **kwargs))
            end.take(response, response.message.content)
        response.additional_kwargs[KEY] = end.counted()
        end.check()
        return response

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        end = self._new_end(may_call=bool(kwargs.get("tools")))
        ask = super().achat  # type: ignore[safe-super]
        with upstream_errors(end.name, of_chat=True):
            retrying = INTERACTIVE.retrying_async(_delay_before_answer, "vendor")
            response = _without_thoughts(await retrying(ask, messages, **kwargs))
            end.take(response, response.message.content)
        response.additional_kwargs[KEY] = end.counted()
        end.check()
        return response

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        end = self._new_end(may_call=bool(kwargs.get("tools")))
        ask = super().astream_chat  # type: ignore[safe-super]
        return _ending_whole(partial(ask, messages, **kwargs), end)


def _without_thoughts(response: ChatResponse) -> ChatResponse:
    """``response`` without the thoughts in front of its text."""
    for block in response.message.blocks:
        if isinstance(block, TextBlock):
            block.text = ThoughtFilter().feed(block.text)
    return response


async def _ending_whole(
    ask: Callable[[], Awaitable[AsyncGenerator[ChatResponse, None]]], end: AnswerEnd
) -> AsyncGenerator[ChatResponse, None]:
    last, thoughts = None, ThoughtFilter()
    answer = _Attempted(ask, end.name)
    try:
        while (response := await answer.next()) is not None:
            response.delta = thoughts.feed(response.delta or "")
            end.take(response, response.delta)
            yield (last := response)
    finally:
        if last:  # cut off, it has cost what its service has told so far
            end.counted()
        await answer.aclose()
    end.check()
    if last:
        yield ChatResponse(
            message=_without_thoughts(last).message,
            delta="",
            raw=last.raw,
            additional_kwargs={KEY: end.counted()},
        )


class _Attempted:
    """A stream of the model ``name``, asked for anew while it fails before its first response."""

    def __init__(
        self, ask: Callable[[], Awaitable[AsyncGenerator[ChatResponse, None]]], name: str
    ) -> None:
        self._ask, self._name = ask, name
        self._stream: AsyncGenerator[ChatResponse, None] | None = None
        self._responses: list[httpx.Response] = []

    async def next(self) -> ChatResponse | None:
        """The next response, None at the end.

        Raises:
            UpstreamError: the vendor's client failed, as often as it may.
        """
        with upstream_errors(self._name, of_chat=True), collecting_responses(self._responses):
            if self._stream is not None:
                return await anext(self._stream, None)
            return await INTERACTIVE.retrying_async(_delay_before_answer, "vendor")(self._first)

    async def _first(self) -> ChatResponse | None:
        await self.aclose()  # of the attempt before; some clients ask here, others with anext
        self._stream = await self._ask()
        return await anext(self._stream, None)

    async def aclose(self) -> None:
        """Close the stream and its connection."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()
        while self._responses:
            await self._responses.pop().aclose()
