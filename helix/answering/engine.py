"""CitationQueryEngine: retrieval, prompt, the model's stream, hygiene, citations."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import copy
from dataclasses import replace
from time import monotonic
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import QueryBundle

from helix.answering.form import FormChoice, WrongForm, block_texts, with_form_rules
from helix.answering.gatherer import Gatherer, NeedsModel
from helix.answering.guardrails import Hygiene
from helix.answering.images import ImagesNotSupported, image_messages
from helix.answering.numbering import KnownMarkers
from helix.answering.proof import prover_of_pieces
from helix.answering.question import Question, ReadQuestion, TurnReader, clarified
from helix.answering.statement_filter import StatementFilter, proven
from helix.answering.stream import AnswerStream, GatheringStream, filtered
from helix.answering.tool_answers import or_results, results_told
from helix.domain.citations import attribute_citations, cite
from helix.domain.contract import GROUNDING_RULES, REFUSAL
from helix.domain.prompt import Beside, chat_messages, findings
from helix.domain.question_analysis import Intent, courtesy, intent_of, summary_topic
from helix.domain.retrieval import Retrieval
from helix.domain.scope import Scope
from helix.errors import UpstreamError
from helix.overload.fairness import off_loop_if_long
from helix.providers.base import LanguageModel, Usage, model_failures, usage_of
from helix.retrieval.gated_retriever import GatedRetriever, as_node, as_nodes
from helix.retrieval.overview import bare_retrieval, library_reply, overview
from helix.settings.prompts import Prompts, active_prompts
from helix.telemetry.tracing import set_span_attributes, stream_span, within


class CitationQueryEngine(BaseQueryEngine):
    """Grounded answers whose markers map to chunks, or the refusal.

    ``ask`` is what Helix's adapters call. ``query`` and ``aquery`` give LlamaIndex code the same
    answer as a Response (or, with ``streaming``, an AsyncStreamingResponse), whose source nodes
    are the cited ones, in the order of ``metadata["citations"]``.

    ``streaming``: ``aquery`` returns the answer as a stream. ``hygiene``: the answer passes
    through helix.answering.guardrails.Hygiene. ``turns`` reads the questions of conversations.
    ``form``: which form the model is asked for; plain text where none is given.
    ``withholds``: statements that no source bears out are left out before they are sent.
    """

    def __init__(
        self,
        retriever: GatedRetriever,
        llm: LanguageModel,
        *,
        streaming: bool = False,
        hygiene: bool = False,
        turns: TurnReader | None = None,
        form: FormChoice | None = None,
        withholds: bool = False,
    ) -> None:
        super().__init__(callback_manager=None)
        self.retriever = retriever
        self._llm = llm
        self._streaming = streaming
        self._hygienic = hygiene
        self._turns = turns or TurnReader()
        self._form = form or FormChoice("text")
        self._withholds = withholds

    @property
    def llm(self) -> LanguageModel:
        """The model that answers."""
        return self._llm

    def answering_by(self, llm: LanguageModel) -> CitationQueryEngine:
        """This engine with another model that answers; all else is shared."""
        other = copy(self)
        other._llm = llm
        return other

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    async def ask(self, asked: Question, gatherer: Gatherer | None = None) -> AnswerStream:
        """Retrieve, gate, and start the answer; returns once its first delta has arrived.

        A ``gatherer`` finds the sources in place of one search, and the method returns with the
        first event. A question with images is put to the model with them, and nothing is searched.
        What is attached to the conversation is read alone where it answers; where the model finds
        no answer in it after all, it is read beside the library.

        Raises:
            UpstreamError: embedding or model failed before the first delta.
            StoreUnavailable, EmbedderMismatch: the search failed.
            ImagesNotSupported: there are images, and the model takes none.
            NeedsModel: code or a draft is asked for, and there is no model.
        """
        if asked.mode == "write" and self._llm.quotes_only:
            raise NeedsModel
        question = await self._turns.read(asked)
        if asked.images:
            return await self._of_images(question)
        if asked.mode != "write":
            intent = await off_loop_if_long(len(question.text), intent_of, question.text)
            if intent is Intent.GREETING:
                return await self._reply(question, courtesy(question.text))
            if intent is Intent.DOCUMENTS:
                told = await library_reply(self.retriever, asked.scope)
                return await self._reply(question, told)
            if (topic := summary_topic(question.text)) is not None:
                found = await overview(self.retriever, topic, asked.scope)
                if found is not None:
                    return await self.answer_from(question, found)
        if gatherer:
            return await self._gathered(question, gatherer)
        stream = await self._searched(question)
        if not stream.retrieval.attached_alone or not await _refuses(stream):
            return stream
        return await self._searched(question, precedence=False, usages=stream.usages)

    async def _searched(
        self, question: ReadQuestion, *, precedence: bool = True, usages: tuple[Usage, ...] = ()
    ) -> AnswerStream:
        """The answer from what one search finds, unless the turn has to be asked back."""
        asked = question.asked
        found = await self.retriever.search(
            question.text, asked.scope, asked.top_k, deep=asked.debug,
            follow_up=question.follow_up, precedence=precedence,
        )  # fmt: skip
        if question.turn and found.stands_alone:
            question = replace(question, turn=replace(question.turn, kind="standalone"))
        question, found = await clarified(question, replace(found, usages=usages))
        return await self.answer_from(question, replace(found, writing=asked.mode == "write"))

    async def _gathered(self, question: ReadQuestion, gatherer: Gatherer) -> AnswerStream:
        """The stream whose sources are being gathered; returns with its first event."""
        prompts = await active_prompts()  # of this request: its stream is read outside of it
        stream = GatheringStream(
            gatherer.gather(question),
            lambda retrieval: self._written_from(question, retrieval, prompts),
            bare_retrieval(self.retriever),
            question.turn,
            question.asked.text,
        )
        await stream.prime()
        return stream

    async def _of_images(self, question: ReadQuestion) -> AnswerStream:
        """The model's answer about images: nothing is searched, cited or proven."""
        if not self._llm.sees:
            raise ImagesNotSupported(self._llm.identity)
        await active_prompts()
        asked, turn = question.asked, question.turn
        messages = image_messages(asked.text, asked.images, turn.memory.text if turn else "")
        used: list[Usage] = []
        deltas, hygiene = self._model_deltas(messages, used), None
        if self._hygienic:
            hygiene = Hygiene(())  # no source has links
            deltas = filtered(deltas, hygiene)
        retrieval = replace(bare_retrieval(self.retriever), is_reply=True)
        turn = turn and replace(turn, kind="image", understood_as=None)
        stream = AnswerStream(deltas, retrieval, hygiene, turn=turn, asked=asked.text, used=used)
        await stream.prime()
        return stream

    async def _reply(self, question: ReadQuestion, text: str) -> AnswerStream:
        """A fixed reply about Helix or the library: no model is called, and nothing is cited."""
        retrieval = replace(bare_retrieval(self.retriever), is_reply=True)
        turn = question.turn and replace(question.turn, kind="conversational", understood_as=None)
        stream = AnswerStream(_said(text), retrieval, turn=turn)
        await stream.prime()
        return stream

    async def answer_from(self, question: ReadQuestion, retrieval: Retrieval) -> AnswerStream:
        """The answer from a finished ``retrieval``; returns once its first delta has arrived.

        The prompt has the memory of the question's turn.

        Raises:
            UpstreamError: the model failed before the first delta.
        """
        prompts = await active_prompts()
        stream = self._written_from(question, retrieval, prompts)
        await stream.prime()
        return stream

    def _written_from(
        self, question: ReadQuestion, retrieval: Retrieval, prompts: Prompts
    ) -> AnswerStream:
        """The stream of ``answer_from``, before the model is called."""
        wording, turn = question.asked.text, question.turn
        if retrieval.reason:
            return AnswerStream(_said(REFUSAL), retrieval, turn=turn, asked=wording)
        found = findings(retrieval.calculations, retrieval.calls, retrieval.sources)
        beside = None
        if self._llm.reads_beside:
            is_dependent = turn is not None and turn.kind == "dependent"
            said = turn.memory.text if turn and is_dependent else ""
            follows = question.follow_up.before if is_dependent else ""
            sources = tuple((source.content, source.place) for source in retrieval.sources)
            beside = Beside(wording, sources, found, said, follows)
        messages = chat_messages(
            wording,
            retrieval.sources,
            question.before,
            prompts.text("answering_style", {}),
            found.before,
            beside,
            prompts.text("writing", {"refusal": REFUSAL}) if retrieval.writing else GROUNDING_RULES,
        )
        used: list[Usage] = []
        options = None
        if not retrieval.writing:  # code keeps its line ends and indentation in plain text alone
            options = self._form.schema_options(self._llm, len(retrieval.sources))
        if options is None:
            deltas = self._model_deltas(messages, used)
        else:
            deltas = self._block_deltas(messages, used, options, len(retrieval.sources))
        hygiene, markers = None, None
        if retrieval.gathered:  # its reader knows the numbers, and nobody knows another
            markers = KnownMarkers(len(retrieval.sources))
            deltas = filtered(deltas, markers)
        if results := results_told(wording, retrieval.sources) if retrieval.gathered else "":
            deltas = or_results(deltas, results)
        if self._hygienic:
            hygiene = Hygiene(retrieval.sources)
            deltas = filtered(deltas, hygiene)
        statements, marks = None, question.asked.marks
        if (self._withholds or marks) and not retrieval.writing:  # code is proven by its names
            prove = prover_of_pieces(retrieval.sources, retrieval.calculations, wording)
            statements = StatementFilter(prove, withholds=self._withholds, cites=marks)
            deltas = proven(deltas, statements)
        sent = messages[-1].content
        stream = AnswerStream(deltas, retrieval, hygiene, sent, turn, wording, markers, used)
        stream.statements = statements
        return stream

    async def still_holds(self, retrieval: Retrieval, scope: Scope | None = None) -> bool:
        """True if every source of an answer is still stored as it was retrieved.

        Otherwise its citations would name a version of the document that is gone.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        hits = [hit for source in retrieval.sources for hit in source.hits if not hit.tool]
        store = self.retriever.store.within(scope) if scope else self.retriever.store
        own = [hit for hit in hits if not hit.attached]
        if own and not await store.holds(own):
            return False
        attached = [hit for hit in hits if hit.attached]
        if not attached or scope is None or scope.attached is None:
            return not attached
        return await store.of(scope.attached).holds(attached)

    async def _block_deltas(
        self,
        messages: list[ChatMessage],
        used: list[Usage],
        options: dict[str, Any],
        sources: int,
    ) -> AsyncGenerator[str, None]:
        """The text of an answer in blocks; of plain text, where the server does not know schemas.

        Raises:
            UpstreamError: as ``_model_deltas``, or the answer has another form.
        """
        asked, begun = monotonic(), False
        answered = self._model_deltas(with_form_rules(messages), used, options)
        async with aclosing(block_texts(answered, sources)) as blocks:
            try:
                async for text in blocks:
                    begun = True
                    yield text
                self._form.held(self._llm)
                return
            except UpstreamError as error:
                surely = error.about_input or isinstance(error, WrongForm)
                if begun or not ((surely or error.broke) and self._form.may_fall_back):
                    raise
        async with aclosing(self._model_deltas(messages, used)) as deltas:
            async for delta in deltas:
                yield delta
        if surely:
            self._form.refused(self._llm)
        else:
            self._form.broke(self._llm, asked)

    async def _model_deltas(
        self,
        messages: list[ChatMessage],
        used: list[Usage],
        options: dict[str, Any] | None = None,
    ) -> AsyncGenerator[str, None]:
        """The model's non-empty deltas; after the last of them ``used`` gets the call's usage.

        ``options`` go to the call besides.

        Raises:
            UpstreamError: the model failed, or its stream ended without a terminal finish reason
                or without a word.
        """
        model = stream_span("model", model=self._llm.identity)
        with model_failures(self._llm), model as model_span:
            with within(model_span):
                responses = await self._llm.stream(messages, **(options or {}))
            async with aclosing(responses):
                begun = False
                async for response in responses:
                    if response.delta:
                        begun = True
                        yield response.delta
                    if usage := usage_of(response):
                        used.append(usage)
                        set_span_attributes(model_span, answered=usage.model, **usage.tokens)
            if not begun:
                raise UpstreamError(f"{self._llm.identity} finished without an answer: try again")

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            stream = await self.ask(self._plain(query_bundle.query_str))
            nodes = as_nodes(stream.retrieval)
            return AsyncStreamingResponse(aiter(stream), source_nodes=nodes)
        stream = await self._read_answer(query_bundle.query_str)
        return _response(stream.answer, stream.retrieval)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        stream = self.retriever.store.connections.run_blocking(
            self._read_answer, query_bundle.query_str
        )
        return _response(stream.answer, stream.retrieval)

    def _plain(self, question: str) -> Question:
        return Question(question, Scope(self.retriever.store.tenant))

    async def _read_answer(self, question: str) -> AnswerStream:
        """The answer of ``ask``, read to its end."""
        stream = await self.ask(self._plain(question))
        async for _ in stream:
            continue
        return stream


async def _refuses(stream: AnswerStream) -> bool:
    """True where ``stream`` is a refusal, which is then closed; raises as its model fails."""
    try:
        refuses = await stream.refuses()
    except BaseException:
        await stream.aclose()
        raise
    if refuses:
        await stream.aclose()
    return refuses


async def _said(text: str) -> AsyncGenerator[str, None]:
    yield text


def _response(answer: str, retrieval: Retrieval) -> Response:
    hits = attribute_citations(answer, retrieval.sources)
    citations = cite(answer, hits)
    nodes = [as_node(hits[citation["n"] - 1]) for citation in citations]
    return Response(answer, source_nodes=nodes, metadata={"citations": citations})
