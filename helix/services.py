"""What a process of Helix holds open: database, models, engine and answer pipeline."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

from helix.agent.building import build_agent
from helix.answering.engine import CitationQueryEngine
from helix.answering.judging import Judge, build_judge
from helix.answering.pipeline import AnswerPipeline
from helix.answering.turns import TurnReader
from helix.conversations.turns import Turns
from helix.domain.context import count_tokens
from helix.domain.memory import Budget
from helix.errors import HelixError, SettingsError
from helix.library.access import Library
from helix.library.background import in_background
from helix.library.prompt_versions import PromptBook
from helix.library.worker_processes import WorkerProcesses
from helix.progress.log import ProgressLog
from helix.providers import build_embedder, build_llm, build_next_embedder
from helix.providers.base import Embedder, LanguageModel
from helix.receipts.receipt import Configuration
from helix.receipts.receipt_store import Receipts
from helix.rendering.images import PageImages
from helix.retrieval.calibration import build_calibration
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.reranking import build_reranker
from helix.retrieval.reranking.stage import Reranking
from helix.retrieval.rewriting import build_rewriter
from helix.retrieval.understanding import Understanding
from helix.retrieval.vector_space import Space, current_embedder, gate_ceiling, spaces
from helix.settings import Settings
from helix.storage.database import open_url
from helix.storage.tenant_store import TenantStore
from helix.telemetry.metrics import Metrics
from helix.voice.transcribing import Transcriber, build_transcriber

__all__ = ["Services", "gate_ceiling", "open_services", "open_store", "open_url"]

_Store = TypeVar("_Store", bound=TenantStore)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """Everything that a server needs, open.

    Args:
        answering: the pipeline that every question goes through.
        receipts: where receipts are stored; None where none are (HELIX_RECEIPT_DAYS=0).
        configuration: the models and settings that answers are made with.
        prompts: the prompts of tenants; an answer reads none where its models are offline.
        progress: where it is noted what learners do.
        transcriber: makes text of speech; None where nothing here does.
        on_run_created: is called when a run was committed for which there may be no worker;
            returns whether it started one.
    """

    settings: Settings
    store: TenantStore
    engine: CitationQueryEngine
    answering: AnswerPipeline
    receipts: Receipts | None
    configuration: Configuration
    library: Library
    llm: LanguageModel
    prompts: PromptBook
    progress: ProgressLog
    transcriber: Transcriber | None
    on_run_created: Callable[[], bool] = lambda: False
    metrics: Metrics = field(default_factory=Metrics)
    page_images: PageImages = field(default_factory=PageImages)
    turns: Turns = field(default_factory=Turns)

    def models(self) -> dict[str, str | None]:
        """Embedder, llm, reranker and judge by their identity; None where there is none."""
        return self.configuration.models_in(self.engine.retriever.space.description)


@asynccontextmanager
async def open_store(
    kind: type[_Store], settings: Settings, embedder: Embedder, following: Embedder | None = None
) -> AsyncIterator[_Store]:
    """The store of DATABASE_URL, ready; its vectors are those of ``embedder``, or it has none.

    ``kind`` is TenantStore, or ChunkStore where LlamaIndex is to write to it. ``following`` is the
    embedder of HELIX_EMBEDDER_NEXT, which the vectors may be of instead.

    Raises:
        StoreUnavailable: as open_url does.
        EmbedderMismatch: the vectors are another embedder's.
    """
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(open_url(settings))
        pooler = settings.database_pooler_url
        store = kind(
            url, embedder.identity, ef_search=settings.ef_search, pool_size=settings.pool_size,
            replica_urls=[url.get_secret_value() for url in settings.database_replica_urls],
            pooler_url=pooler.get_secret_value() if pooler else None,
        )  # fmt: skip
        stack.push_async_callback(store.close)
        await store.check_role()
        await current_embedder(store, [embedder, following] if following else [embedder])
        yield store


@asynccontextmanager
async def open_services(
    settings: Settings,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
    following: Embedder | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[Services]:
    """Open the services of ``settings``; each argument stands in for what the settings name.

    ``following`` stands in for the embedder of HELIX_EMBEDDER_NEXT. They are closed in reverse
    order when the block ends, and whatever they were doing has ended then.

    Raises:
        SettingsError: as build_embedder and build_llm do, HELIX_JUDGE's too, or the gate has no
            ceiling.
        StoreUnavailable, EmbedderMismatch: as open_store does.
    """
    async with AsyncExitStack() as stack:
        embedder = embedder or build_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        if following := following or build_next_embedder(settings):
            stack.push_async_callback(following.aclose)
        llm = llm or build_llm(settings)
        stack.push_async_callback(llm.aclose)
        known = [embedder, following] if following else [embedder]
        search_spaces = spaces(settings, known)
        store = await stack.enter_async_context(open_store(TenantStore, settings, *known))
        reranking = await _reranking(settings, stack)
        rewriter = build_rewriter(llm, enabled=settings.rewrite, timeout=settings.rewrite_timeout)
        if rewriter:
            stack.push_async_callback(rewriter.aclose)
        await asyncio.to_thread(count_tokens, "")  # loads the tokenizer, for the first question
        first, *others = (_cached(space, store, settings) for space in search_spaces)
        retriever = GatedRetriever(
            store, first, top_k=settings.retrieval_top_k, following=others, rewriter=rewriter,
            reranking=reranking, calibration=build_calibration(settings),
        )  # fmt: skip
        engine = _engine(settings, retriever, llm, stack)
        await stack.enter_async_context(in_background(_fill_terms(store)))
        workers = WorkerProcesses(settings)
        stack.push_async_callback(workers.stop)
        judge = await _judge(settings, llm, stack)
        configuration = Configuration.of(
            settings, llm=llm.identity, judge=judge.identity,
            reranker=reranking.reranker.identity if reranking else None,
        )  # fmt: skip
        receipts = Receipts(store, configuration) if settings.receipt_days else None
        metrics = metrics or Metrics()
        metrics.watch(store.url, store.pool_stats, rewriter)
        await stack.enter_async_context(in_background(metrics.keep_shared()))
        prompts = PromptBook(store)
        offline = {_kind(llm.identity), _kind(judge.identity)} <= {"offline"}
        library = Library(store)
        answering = AnswerPipeline(
            engine, judge, frozenset(settings.guards), settings.withhold, receipts,
            metrics=metrics, prompts=None if offline else prompts,
            agent=build_agent(settings, llm, retriever, library),
        )  # fmt: skip
        stack.push_async_callback(answering.aclose)
        progress = ProgressLog(
            library, timedelta(seconds=settings.study_idle_seconds), kept=settings.progress == "on"
        )
        stack.push_async_callback(progress.write)  # what was noted in the last second
        await stack.enter_async_context(in_background(progress.keep()))
        if transcriber := build_transcriber(settings, llm):
            stack.push_async_callback(transcriber.aclose)
        page_images = PageImages()  # its process starts with the first image
        stack.push_async_callback(page_images.aclose)
        turns = Turns()
        stack.push_async_callback(turns.aclose)
        yield Services(
            settings, store, engine, answering, receipts, configuration, library, llm,
            prompts, progress, transcriber, workers.ensure, metrics, page_images, turns,
        )  # fmt: skip


def _kind(identity: str) -> str:
    return identity.partition(":")[0]


def _engine(
    settings: Settings, retriever: GatedRetriever, llm: LanguageModel, stack: AsyncExitStack
) -> CitationQueryEngine:
    """The engine over ``retriever``; what it opens is closed with ``stack``."""
    budget = Budget(settings.history_chars, settings.history_messages)
    return CitationQueryEngine(
        retriever, llm, hygiene="hygiene" in settings.guards,
        turns=TurnReader(_understanding(settings, llm, stack), budget),
    )  # fmt: skip


def _understanding(
    settings: Settings, llm: LanguageModel, stack: AsyncExitStack
) -> Understanding | None:
    """As HELIX_HISTORY_RETRIEVAL has it; its rewriter is closed with ``stack``."""
    if settings.history_retrieval == "off":
        return None
    rewriter = build_rewriter(
        llm, enabled=settings.history_retrieval == "model", timeout=settings.rewrite_timeout,
        task="standalone_question",
    )  # fmt: skip
    if rewriter:
        stack.push_async_callback(rewriter.aclose)
    return Understanding(rewriter)


async def _judge(settings: Settings, llm: LanguageModel, stack: AsyncExitStack) -> Judge:
    """The judge of HELIX_JUDGE, closed with ``stack``; else that of the model that answers."""
    if settings.judge is not None:
        try:
            llm = build_llm(settings.model_copy(update={"llm": settings.judge}))
        except SettingsError as error:
            raise SettingsError(str(error).replace("HELIX_LLM", "HELIX_JUDGE")) from None
        stack.push_async_callback(llm.aclose)
    return build_judge(settings, llm)


async def _reranking(settings: Settings, stack: AsyncExitStack) -> Reranking | None:
    """The reranker of HELIX_RERANKER, closed with ``stack``; raises as build_reranker does."""
    keys = {"COHERE_API_KEY": settings.cohere_api_key, "VOYAGE_API_KEY": settings.voyage_api_key}
    reranker = await asyncio.to_thread(
        build_reranker, settings.reranker, keys=keys, timeout=settings.rerank_timeout,
        min_score=settings.rerank_min_score,
    )  # fmt: skip
    if reranker is None:
        return None
    stack.push_async_callback(reranker.aclose)
    return Reranking(reranker, settings.rerank_timeout)


async def _fill_terms(store: TenantStore) -> None:
    """Write the BM25 terms of chunks that have none, while questions are answered already."""
    try:
        if filled := await store.fill_terms():
            _logger.info("BM25 terms written for %d chunks that had none", filled)
    except HelixError as error:
        _logger.warning("BM25 terms are still missing for some chunks: %s", error)


def _cached(space: Space, store: TenantStore, settings: Settings) -> Space:
    """``space`` with its embedder behind the cache, but for one that is faster than the cache."""
    if space.embedder.local:
        return space
    return replace(space, embedder=with_cache(space.embedder, store, settings.embed_cache_mb))
