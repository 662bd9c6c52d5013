"""CitationQueryEngine: retrieval, prompt, the model's stream, hygiene, citations."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import QueryBundle

from helix.answering.guardrails import Hygiene
from helix.answering.turns import TurnReader, clarified
from helix.contract import REFUSAL, Citation
from helix.domain.attribution import attribute_citations
from helix.domain.citations import cite, is_refusal
from helix.domain.followups import FollowUp
from helix.domain.history import History
from helix.domain.intents import Intent, courtesy, intent_of, summary_topic
from helix.domain.prompt import chat_messages
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval
from helix.domain.scope import Scope
from helix.domain.turns import Turn
from helix.errors import HelixError, UpstreamError
from helix.providers.base import LanguageModel
from helix.retrieval.gated_retriever import GatedRetriever, as_node, as_nodes
from helix.retrieval.overview import bare_retrieval, library_reply, overview
from helix.telemetry.tracing import stream_span, within

_logger = logging.getLogger(__name__)


class AnswerStream:
    """One answer as it arrives: iterate for its deltas, then read ``citations``.

    Closing it, or leaving an ``async with aclosing(stream)``, closes the model's stream.

    ``hygiene`` is the filter that the ``deltas`` come through. ``prompt`` is the user's turn that
    the model was sent; None where the model was not asked. ``turn`` is what the question is in its
    conversation; ``asked`` the wording that was put to the model, where it is another.
    """

    def __init__(
        self,
        deltas: AsyncGenerator[str, None],
        retrieval: Retrieval,
        hygiene: Hygiene | None = None,
        prompt: str | None = None,
        turn: Turn | None = None,
        asked: str | None = None,
    ) -> None:
        self.retrieval = retrieval
        self.turn = turn
        self.asked = asked
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
        # the model's time alone, without the time that the reader of the stream takes
        with self.retrieval.trace.stage("model", spanned=False):
            return await anext(self._deltas, None)

    async def aclose(self) -> None:
        """Close the model's stream, whether or not it has ended."""
        await self._deltas.aclose()

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def removed(self) -> int:
        """How many links and images hygiene took out so far."""
        return self._hygiene.removed if self._hygiene else 0

    @property
    def citations(self) -> list[Citation]:
        """The citations of the whole answer; may only be read when the stream has ended."""
        assert self._ended, "an answer has its citations when it has ended"
        return cite(self.answer, self.cited)

    @property
    def cited(self) -> list[Hit]:
        """For source n, at index n - 1: the chunk that a citation of the source names."""
        return attribute_citations(self.answer, self.retrieval.sources)

    @property
    def reason(self) -> Reason | None:
        """Why nothing was answered; None for an answer. Known when the stream has ended."""
        if self.retrieval.reason:
            return self.retrieval.reason
        return "model_refused" if is_refusal(self.answer) else None


class CitationQueryEngine(BaseQueryEngine):
    """Grounded answers whose markers map to chunks, or the refusal.

    ``ask`` is what Helix's adapters call. ``query`` and ``aquery`` give LlamaIndex code the same
    answer as a Response (or, with ``streaming``, an AsyncStreamingResponse), whose source nodes
    are the cited ones, in the order of ``metadata["citations"]``.

    ``streaming``: ``aquery`` returns the answer as a stream. ``hygiene``: the answer passes
    through helix.answering.guardrails.Hygiene. ``turns`` reads the questions of conversations.
    """

    def __init__(
        self,
        retriever: GatedRetriever,
        llm: LanguageModel,
        *,
        streaming: bool = False,
        hygiene: bool = False,
        turns: TurnReader | None = None,
    ) -> None:
        super().__init__(callback_manager=None)
        self.retriever = retriever
        self._llm = llm
        self._streaming = streaming
        self._hygienic = hygiene
        self._turns = turns or TurnReader()
        self._reads_places = llm.reads_places

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    async def ask(
        self,
        question: str,
        scope: Scope | None = None,
        top_k: int | None = None,
        *,
        deep: bool = False,
        history: History | None = None,
    ) -> AnswerStream:
        """Retrieve, gate, and start the answer; its first delta is in hand on return.

        ``scope``, ``top_k`` and ``deep`` are as GatedRetriever.search has them. ``history`` is what
        came before in the question's conversation; None where it is asked outside of one.

        Raises:
            UpstreamError: embedding or model failed before the first delta.
            StoreUnavailable, EmbedderMismatch: the search failed.
        """
        follow_up, turn = FollowUp(question), None
        if history is not None:
            follow_up, turn = await self._turns.read(question, history)
        asked, within = follow_up.question, scope or Scope(self.retriever.store.tenant)
        intent = intent_of(asked)
        if intent is Intent.GREETING:
            return await self._reply(courtesy(asked), turn)
        if intent is Intent.DOCUMENTS:
            return await self._reply(await library_reply(self.retriever, within), turn)
        retrieval = None
        if (topic := summary_topic(asked)) is not None:
            retrieval = await overview(self.retriever, topic, within)
        if retrieval is None:
            retrieval = await self.retriever.search(
                asked, scope, top_k, deep=deep, follow_up=follow_up
            )
            if turn and history is not None:
                turn, retrieval = clarified(asked, history, turn, retrieval)
        return await self.answer_from(asked, retrieval, turn)

    async def _reply(self, text: str, turn: Turn | None) -> AnswerStream:
        """What Helix says of itself and the library: no model is asked, and nothing is claimed."""
        retrieval = replace(bare_retrieval(self.retriever), is_reply=True)
        turn = turn and replace(turn, kind="conversational", understood_as=None)
        stream = AnswerStream(_said(text), retrieval, turn=turn)
        await stream.prime()
        return stream

    async def answer_from(
        self, question: str, retrieval: Retrieval, turn: Turn | None = None
    ) -> AnswerStream:
        """The answer from a finished ``retrieval``; its first delta is in hand on return.

        ``turn`` is what ``question`` is in its conversation, whose memory the model is shown.

        Raises:
            UpstreamError: the model failed before the first delta.
        """
        hygiene, prompt = None, None
        if retrieval.reason:
            deltas = _said(REFUSAL)
        else:
            places = [source.place for source in retrieval.sources] if self._reads_places else None
            before = turn.memory.before if turn else None
            messages = chat_messages(question, retrieval.sources, places, before)
            prompt = messages[-1].content
            deltas = self._model_deltas(messages)
            if self._hygienic:
                hygiene = Hygiene(retrieval.sources)
                deltas = _filtered(deltas, hygiene)
        stream = AnswerStream(deltas, retrieval, hygiene, prompt, turn, question)
        await stream.prime()
        return stream

    async def still_holds(self, retrieval: Retrieval, scope: Scope | None = None) -> bool:
        """Whether every source of an answer is still stored as it was retrieved.

        Otherwise its citations would name a version of the document that is gone.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        hits = [hit for source in retrieval.sources for hit in source.hits]
        store = self.retriever.store.of(scope.tenant) if scope else self.retriever.store
        own = [hit for hit in hits if not hit.attached]
        if own and not await store.holds(own):
            return False
        attached = [hit for hit in hits if hit.attached]
        if not attached or scope is None or scope.attached is None:
            return not attached
        return await store.of(scope.attached).holds(attached)

    async def _model_deltas(self, messages: list[ChatMessage]) -> AsyncGenerator[str, None]:
        """The model's non-empty deltas.

        Raises:
            UpstreamError: the model failed, or its stream ended without a terminal finish reason.
        """
        try:
            with stream_span("model", model=self._llm.identity) as model_span:
                with within(model_span):
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
        if self._streaming:
            stream = await self.ask(query_bundle.query_str)
            nodes = as_nodes(stream.retrieval)
            return AsyncStreamingResponse(aiter(stream), source_nodes=nodes)  # type: ignore[arg-type]
        stream = await self._read_answer(query_bundle.query_str)
        return _response(stream.answer, stream.retrieval)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        stream = self.retriever.store.run_blocking(self._read_answer, query_bundle.query_str)
        return _response(stream.answer, stream.retrieval)

    async def _read_answer(self, question: str) -> AnswerStream:
        """The answer of ``ask``, read to its end."""
        stream = await self.ask(question)
        async for _ in stream:
            continue
        return stream


async def _said(text: str) -> AsyncGenerator[str, None]:
    yield text


async def _filtered(
    deltas: AsyncGenerator[str, None], hygiene: Hygiene
) -> AsyncGenerator[str, None]:
    """The text of ``deltas`` that ``hygiene`` lets through, in non-empty deltas."""
    async with aclosing(deltas):
        async for delta in deltas:
            if passed := hygiene.feed(delta):
                yield passed
        if passed := hygiene.end():
            yield passed


def _response(answer: str, retrieval: Retrieval) -> Response:
    hits = attribute_citations(answer, retrieval.sources)
    citations = cite(answer, hits)
    nodes = [as_node(hits[citation["n"] - 1]) for citation in citations]
    return Response(answer, source_nodes=nodes, metadata={"citations": citations})
