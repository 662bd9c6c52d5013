"""CitationQueryEngine: prompt, stream, hygiene, citations. The one answering path of Helix."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
)
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import QueryBundle

from helix.citations import cite, is_refusal
from helix.contract import REFUSAL, Citation
from helix.errors import HelixError, UpstreamError
from helix.guardrails import Hygiene
from helix.pointing import pointed
from helix.prompt import chat_messages
from helix.providers.base import LanguageModel
from helix.records import Hit
from helix.retrieval import Reason, Retrieval
from helix.retriever import GatedRetriever, as_node, as_nodes
from helix.scope import Scope
from helix.telemetry.tracing import LongSpan

_logger = logging.getLogger(__name__)


class AnswerStream:
    """One answer as it arrives: iterate for its deltas, then read ``citations``.

    Closing it, or leaving an ``async with aclosing(stream)``, closes the model's stream.
    ``hygiene`` is the filter that the deltas have come through, if there is one; ``prompt`` is the
    user's turn that the model was sent, None where it was not asked.
    """

    def __init__(
        self,
        deltas: AsyncGenerator[str, None],
        retrieval: Retrieval,
        hygiene: Hygiene | None = None,
        prompt: str | None = None,
    ) -> None:
        self.retrieval = retrieval
        self.prompt = prompt
        self._hygiene = hygiene
        self._deltas = deltas
        self._parts: list[str] = []
        self._first: str | None = None
        self._ended = False

    async def prime(self) -> None:
        """Wait for the first delta, so that a failure before it is still an error, not a stream."""
        try:
            self._first = await self._next()
        except BaseException:
            await self.aclose()
            raise

    async def __aiter__(self) -> AsyncIterator[str]:
        if self._first is not None:
            self._parts.append(self._first)
            yield self._first
            while (delta := await self._next()) is not None:
                self._parts.append(delta)
                yield delta
        self._ended = True

    async def _next(self) -> str | None:
        with self.retrieval.trace.stage("model", spanned=False):  # not what its reader takes
            return await anext(self._deltas, None)

    async def aclose(self) -> None:
        """Stop: the model's stream is closed, whatever it had left to say."""
        await self._deltas.aclose()

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def removed(self) -> int:
        """How many passages hygiene took out so far."""
        return self._hygiene.removed if self._hygiene else 0

    @property
    def citations(self) -> list[Citation]:
        """What the whole answer cites; asking before its end is a mistake of the caller."""
        assert self._ended, "an answer has its citations when it has ended"
        return cite(self.answer, self.cited)

    @property
    def cited(self) -> list[Hit]:
        """By its number, from 1: the chunk that a citation of each source names."""
        return pointed(self.answer, self.retrieval.sources)

    @property
    def reason(self) -> Reason | None:
        """Why nothing was answered; None for an answer. Known when it has ended."""
        if self.retrieval.reason:
            return self.retrieval.reason
        return "model_refused" if is_refusal(self.answer) else None


class CitationQueryEngine(BaseQueryEngine):
    """Grounded answers whose markers map to chunks, or the refusal.

    ``ask`` is what Helix's adapters call. ``query`` and ``aquery`` give LlamaIndex code the same
    answer as a Response (or, with ``streaming``, an AsyncStreamingResponse), whose source nodes
    are the cited ones, in the order of ``metadata["citations"]``. With ``hygiene`` what the model
    says comes through helix.guardrails.Hygiene.
    """

    def __init__(
        self,
        retriever: GatedRetriever,
        llm: LanguageModel,
        *,
        streaming: bool = False,
        hygiene: bool = False,
    ) -> None:
        super().__init__(callback_manager=None)
        self.retriever = retriever
        self._llm = llm
        self._streaming = streaming
        self._hygienic = hygiene

    @property
    def model_identity(self) -> str:
        """The model that answers."""
        return self._llm.identity

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    async def ask(
        self,
        question: str,
        scope: Scope | None = None,
        top_k: int | None = None,
        *,
        deep: bool = False,
    ) -> AnswerStream:
        """Retrieve, gate, and start the answer; its first delta is in hand on return.

        ``scope``, ``top_k`` and ``deep`` are as GatedRetriever.search has them.

        Raises:
            UpstreamError: embedding or model failed before the first delta.
            StoreUnavailable, EmbedderMismatch: the search failed.
        """
        retrieval = await self.retriever.search(question, scope, top_k, deep=deep)
        return await self.answer_from(question, retrieval)

    async def answer_from(self, question: str, retrieval: Retrieval) -> AnswerStream:
        """The answer from what was retrieved already; its first delta is in hand on return.

        Raises:
            UpstreamError: the model failed before the first delta.
        """
        hygiene, prompt = None, None
        if retrieval.reason:
            deltas = _refusal()
        else:
            messages = chat_messages(question, retrieval.sources)
            prompt = messages[-1].content
            deltas = self._model_deltas(messages)
            if self._hygienic:
                hygiene = Hygiene(retrieval.sources)
                deltas = _clean(deltas, hygiene)
        stream = AnswerStream(deltas, retrieval, hygiene, prompt)
        await stream.prime()
        return stream

    async def still_holds(self, retrieval: Retrieval, scope: Scope | None = None) -> bool:
        """Whether all that an answer was made from is still stored as it was.

        An answer is not to be certified by citations of a version that was replaced meanwhile.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        hits = [hit for source in retrieval.sources for hit in source.hits]
        store = self.retriever.store.of(scope.tenant) if scope else self.retriever.store
        return not hits or await store.holds(hits)

    async def _model_deltas(self, messages: list[ChatMessage]) -> AsyncGenerator[str, None]:
        """The model's non-empty deltas.

        Raises:
            UpstreamError: the model failed, or its stream ended without its saying so.
        """
        try:
            with LongSpan("model", model=self._llm.identity) as asking:
                with asking.within():
                    responses: Any = await self._llm.model.astream_chat(messages)
                async with aclosing(responses):
                    async for response in responses:
                        if response.delta:
                            yield response.delta
        except HelixError:
            raise
        except Exception as error:
            _logger.warning("model %s failed: %s", self._llm.identity, type(error).__name__)
            raise UpstreamError(
                f"the model's service failed ({type(error).__name__}); try again"
            ) from error

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        stream = await self.ask(query_bundle.query_str)
        if self._streaming:
            nodes = as_nodes(stream.retrieval)
            return AsyncStreamingResponse(aiter(stream), source_nodes=nodes)  # type: ignore[arg-type]
        async for _ in stream:
            continue
        return _response(stream.answer, stream.retrieval)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        retrieval = self.retriever.search_blocking(query_bundle.query_str)
        if retrieval.reason:
            return _response(REFUSAL, retrieval)
        reply = self._llm.model.chat(chat_messages(query_bundle.query_str, retrieval.sources))
        answer = reply.message.content or ""
        if self._hygienic:
            hygiene = Hygiene(retrieval.sources)
            answer = hygiene.feed(answer) + hygiene.end()
        return _response(answer, retrieval)


async def _refusal() -> AsyncGenerator[str, None]:
    yield REFUSAL


async def _clean(deltas: AsyncGenerator[str, None], hygiene: Hygiene) -> AsyncGenerator[str, None]:
    """The non-empty deltas that ``hygiene`` lets through."""
    async with aclosing(deltas):
        async for delta in deltas:
            if clean := hygiene.feed(delta):
                yield clean
        if clean := hygiene.end():
            yield clean


def _response(answer: str, retrieval: Retrieval) -> Response:
    hits = pointed(answer, retrieval.sources)
    citations = cite(answer, hits)
    nodes = [as_node(hits[citation["n"] - 1]) for citation in citations]
    return Response(answer, source_nodes=nodes, metadata={"citations": citations})
