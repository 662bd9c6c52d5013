"""CitationQueryEngine: retrieval, prompt, the model's stream, hygiene, citations."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import QueryBundle

from helix.answering.delta_filters import filtered
from helix.answering.form import BlockReader, FormChoice, WrongForm, with_form_rules
from helix.answering.gatherer import Assignment, Event, Gathering, NeedsModel
from helix.answering.guardrails import Hygiene
from helix.answering.images import ImagesNotSupported, UploadedImage, image_messages
from helix.answering.numbering import KnownMarkers, rewritten
from helix.answering.proof import prover_of_pieces
from helix.answering.statement_filter import StatementFilter, proven
from helix.answering.stream import AnswerStream, GatheringStream
from helix.answering.tool_answers import or_results, results_told
from helix.answering.turns import TurnReader, clarified
from helix.domain.attribution import attribute_citations
from helix.domain.citations import cite
from helix.domain.contract import GROUNDING_RULES, REFUSAL
from helix.domain.findings import Findings, findings
from helix.domain.followups import FollowUp, with_topic
from helix.domain.history import History
from helix.domain.input_text import judged
from helix.domain.intents import Intent, courtesy, intent_of, summary_topic
from helix.domain.prompt import FINDINGS, SAID, chat_messages
from helix.domain.retrieval import Retrieval
from helix.domain.scope import Scope
from helix.domain.turns import Turn
from helix.errors import UpstreamError
from helix.overload.long_work import off_loop_if_long
from helix.providers.base import LanguageModel, Usage, usage_of
from helix.providers.failures import model_failures
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

    @property
    def _reads_places(self) -> bool:
        return self._llm.reads_places

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
        gathering: Gathering | None = None,
        images: Sequence[UploadedImage] = (),
        marks: bool = False,
        writing: bool = False,
    ) -> AnswerStream:
        """Retrieve, gate, and start the answer; returns once its first delta has arrived.

        ``scope``, ``top_k`` and ``deep`` are as GatedRetriever.search has them. ``history`` is that
        of the question's conversation; None outside of one. With ``gathering`` its gatherer finds
        the sources in place of one search, and the method returns with the first event. A question
        with ``images`` is put to the model with them, and nothing is searched. ``marks``: a
        statement without a marker gets that of the source which bears it out, if one does.
        ``writing``: code and drafts are written from what the search finds. What is attached to
        the conversation is read alone where it answers; where the model finds no answer in it
        after all, it is read beside the library.

        Raises:
            UpstreamError: embedding or model failed before the first delta.
            StoreUnavailable, EmbedderMismatch: the search failed.
            ImagesNotSupported: there are ``images``, and the model takes none.
            NeedsModel: ``writing``, and there is no model.
        """
        if writing and self._llm.quotes_only:
            raise NeedsModel
        typed, question = question, judged(question)
        follow_up, turn = FollowUp(question), None
        if history is not None:
            follow_up, turn = await self._turns.read(question, history, searched=not images)
        if images:
            return await self._of_images(typed, images, turn)
        asked, within = follow_up.question, scope or Scope(self.retriever.store.tenant)
        intent = None if writing else await off_loop_if_long(len(asked), intent_of, asked)
        if intent is Intent.GREETING:
            return await self._reply(courtesy(asked), turn)
        if intent is Intent.DOCUMENTS:
            return await self._reply(await library_reply(self.retriever, within), turn)
        retrieval = None
        if not writing and (topic := summary_topic(asked)) is not None:
            retrieval = await overview(self.retriever, topic, within)
        if retrieval is None and gathering:
            before = turn.memory.before if turn else None
            assignment = Assignment(asked, typed, within, gathering.time_zone, follow_up, before)
            wording = typed if asked == question else asked
            found = gathering.gatherer.gather(assignment)
            return await self._gathered(found, wording, turn, marks=marks)
        wording = with_topic(follow_up) if self._reads_places else asked
        wording = typed if wording == question else wording
        if retrieval is not None:
            return await self.answer_from(wording, retrieval, turn, marks=marks)
        search = partial(self.retriever.search, asked, scope, top_k, deep=deep, follow_up=follow_up)
        answer = partial(
            self._from_search,
            wording=wording, asked=asked, history=history, turn=turn, marks=marks, writing=writing,
        )  # fmt: skip
        stream = await answer(await search())
        if not stream.retrieval.attached_alone or not await _refuses(stream):
            return stream
        return await answer(replace(await search(precedence=False), usages=stream.usages))

    async def _from_search(
        self,
        found: Retrieval,
        *,
        wording: str,
        asked: str,
        history: History | None,
        turn: Turn | None,
        marks: bool,
        writing: bool,
    ) -> AnswerStream:
        """The answer from what a search found, unless the turn has to be asked back."""
        if turn and found.stands_alone:
            turn = replace(turn, kind="standalone")
        if turn and history is not None:
            turn, found = await clarified(asked, history, turn, found)
        return await self.answer_from(wording, replace(found, writing=writing), turn, marks=marks)

    async def _gathered(
        self,
        found: AsyncGenerator[Event | Retrieval, None],
        asked: str,
        turn: Turn | None,
        *,
        marks: bool,
    ) -> AnswerStream:
        """The stream whose sources are being ``found``; returns with its first event."""
        nothing = bare_retrieval(self.retriever)
        prompts = await active_prompts()  # of this request: its stream is read outside of it
        stream = GatheringStream(
            found,
            lambda retrieval: self._written_from(asked, retrieval, turn, prompts, marks=marks),
            nothing,
            turn,
            asked,
        )
        await stream.prime()
        return stream

    async def _of_images(
        self, question: str, images: Sequence[UploadedImage], turn: Turn | None
    ) -> AnswerStream:
        """The model's answer about ``images``: nothing is searched, cited or proven."""
        if not self._llm.sees:
            raise ImagesNotSupported(self._llm.identity)
        await active_prompts()
        messages = image_messages(question, images, turn.memory.text if turn else "")
        used: list[Usage] = []
        deltas, hygiene = self._model_deltas(messages, used), None
        if self._hygienic:
            hygiene = Hygiene(())  # no source has links
            deltas = filtered(deltas, hygiene)
        retrieval = replace(bare_retrieval(self.retriever), is_reply=True)
        turn = turn and replace(turn, kind="image", understood_as=None)
        stream = AnswerStream(deltas, retrieval, hygiene, turn=turn, asked=question, used=used)
        await stream.prime()
        return stream

    async def _reply(self, text: str, turn: Turn | None) -> AnswerStream:
        """A fixed reply about Helix or the library: no model is called, and nothing is cited."""
        retrieval = replace(bare_retrieval(self.retriever), is_reply=True)
        turn = turn and replace(turn, kind="conversational", understood_as=None)
        stream = AnswerStream(_said(text), retrieval, turn=turn)
        await stream.prime()
        return stream

    async def answer_from(
        self,
        question: str,
        retrieval: Retrieval,
        turn: Turn | None = None,
        *,
        marks: bool = False,
    ) -> AnswerStream:
        """The answer from a finished ``retrieval``; returns once its first delta has arrived.

        ``turn`` is the question's place in its conversation; the prompt has the turn's memory.
        ``marks`` is as ``ask`` has it.

        Raises:
            UpstreamError: the model failed before the first delta.
        """
        prompts = await active_prompts()
        stream = self._written_from(question, retrieval, turn, prompts, marks=marks)
        await stream.prime()
        return stream

    def _beside(self, found: Findings, turn: Turn | None) -> dict[str, Any] | None:
        """The findings, and the conversation before a follow-up, for a model that reads them."""
        if not self._reads_places:
            return None
        said = turn.memory.text if turn and turn.kind == "dependent" else ""
        return {key: value for key, value in ((FINDINGS, found), (SAID, said)) if value}

    def _written_from(
        self,
        question: str,
        retrieval: Retrieval,
        turn: Turn | None,
        prompts: Prompts,
        *,
        marks: bool,
    ) -> AnswerStream:
        """The stream of ``answer_from``, before the model is called."""
        if retrieval.reason:
            return AnswerStream(_said(REFUSAL), retrieval, turn=turn, asked=question)
        places = [source.place for source in retrieval.sources] if self._reads_places else None
        before = turn.memory.before if turn else None
        found = findings(retrieval.calculations, retrieval.calls, retrieval.sources)
        messages = chat_messages(
            question,
            retrieval.sources,
            places,
            before,
            prompts.text("answering_style", {}),
            found.before,
            self._beside(found, turn),
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
            deltas = rewritten(deltas, markers)
        if results := results_told(question, retrieval.sources) if retrieval.gathered else "":
            deltas = or_results(deltas, results)
        if self._hygienic:
            hygiene = Hygiene(retrieval.sources)
            deltas = filtered(deltas, hygiene)
        statements = None
        if (self._withholds or marks) and not retrieval.writing:  # code is proven by its names
            prove = prover_of_pieces(retrieval.sources, retrieval.calculations, question)
            statements = StatementFilter(prove, withholds=self._withholds, cites=marks)
            deltas = proven(deltas, statements)
        sent = messages[-1].content
        stream = AnswerStream(deltas, retrieval, hygiene, sent, turn, question, markers, used)
        stream.statements = statements
        return stream

    async def still_holds(self, retrieval: Retrieval, scope: Scope | None = None) -> bool:
        """True if every source of an answer is still stored as it was retrieved.

        Otherwise its citations would name a version of the document that is gone.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        hits = [hit for source in retrieval.sources for hit in source.hits if not hit.tool]
        store = self.retriever.store.of(scope.tenant) if scope else self.retriever.store
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
        asked = self._model_deltas(with_form_rules(messages), used, options)
        begun = False
        async with aclosing(filtered(asked, BlockReader(sources))) as blocks:
            try:
                async for text in blocks:
                    begun = True
                    yield text
                return
            except UpstreamError as error:
                refused = error.about_input or isinstance(error, WrongForm)
                if begun or not (refused and self._form.may_fall_back):
                    raise
        async with aclosing(self._model_deltas(messages, used)) as deltas:
            async for delta in deltas:
                yield delta
        self._form.refused(self._llm)

    async def _model_deltas(
        self,
        messages: list[ChatMessage],
        used: list[Usage],
        options: dict[str, Any] | None = None,
    ) -> AsyncGenerator[str, None]:
        """The model's non-empty deltas; after the last of them ``used`` gets the call's usage.

        ``options`` go to the call besides.

        Raises:
            UpstreamError: the model failed, or its stream ended without a terminal finish reason.
        """
        model = stream_span("model", model=self._llm.identity)
        with model_failures(self._llm), model as model_span:
            with within(model_span):
                responses: Any = await self._llm.model.astream_chat(messages, **(options or {}))
            async with aclosing(responses):
                async for response in responses:
                    if response.delta:
                        yield response.delta
                    if usage := usage_of(response):
                        used.append(usage)
                        set_span_attributes(model_span, answered=usage.model, **usage.tokens)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            stream = await self.ask(query_bundle.query_str)
            nodes = as_nodes(stream.retrieval)
            return AsyncStreamingResponse(aiter(stream), source_nodes=nodes)
        stream = await self._read_answer(query_bundle.query_str)
        return _response(stream.answer, stream.retrieval)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        stream = self.retriever.store.connections.run_blocking(
            self._read_answer, query_bundle.query_str
        )
        return _response(stream.answer, stream.retrieval)

    async def _read_answer(self, question: str) -> AnswerStream:
        """The answer of ``ask``, read to its end."""
        stream = await self.ask(question)
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
