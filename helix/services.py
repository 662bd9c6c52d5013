"""What a process of Helix holds open: database, models, the engine, and how answers end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from helix.answering import Answering
from helix.calibration import build_calibration
from helix.context import count_tokens
from helix.database import open_url
from helix.embedding_cache import with_cache
from helix.errors import HelixError, SettingsError
from helix.judging import Judge, build_judge
from helix.library.access import Library
from helix.next_embedder import Space, current_embedder, gate_ceiling, spaces
from helix.providers import build_embedder, build_llm, build_next_embedder
from helix.providers.base import Embedder, LanguageModel
from helix.query_engine import CitationQueryEngine
from helix.receipts.receipt import Marks, settings_of
from helix.receipts.stored import Receipts
from helix.reranking import build_reranker
from helix.reranking.stage import Reranking
from helix.retriever import GatedRetriever
from helix.rewriting import build_rewriter
from helix.settings import Settings
from helix.store import ChunkStore
from helix.telemetry.metrics import Metrics
from helix.workers import WorkerProcesses

__all__ = ["Services", "gate_ceiling", "open_services", "open_store", "open_url"]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """Everything that a server needs, open.

    ``answering`` is what questions go to; ``receipts`` is None where none are kept, and ``marks``
    says what they are told of this process.
    ``on_run_created`` is called when a run was committed that nobody may be there to carry out;
    it returns whether it had to start somebody.
    """

    settings: Settings
    store: ChunkStore
    engine: CitationQueryEngine
    answering: Answering
    receipts: Receipts | None
    marks: Callable[[], Marks]
    library: Library
    llm: LanguageModel
    on_run_created: Callable[[], bool] = lambda: False
    metrics: Metrics = field(default_factory=Metrics)

    def models(self) -> dict[str, str | None]:
        """Embedder, llm, reranker and judge by their identity; None where there is none."""
        return dict(self.marks().models)


@asynccontextmanager
async def open_store(
    settings: Settings, embedder: Embedder, following: Embedder | None = None
) -> AsyncIterator[ChunkStore]:
    """The store behind ``DATABASE_URL``, ready and filled by ``embedder`` or by none.

    ``following`` is the embedder of HELIX_EMBEDDER_NEXT, which may have filled it instead.

    Raises:
        StoreUnavailable: as open_url does.
        EmbedderMismatch: another embedder filled it.
    """
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(open_url(settings))
        store = ChunkStore(
            url, embedder.identity, ef_search=settings.ef_search, pool_size=settings.pool_size
        )
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
    """Open all of it; what is given stands in for what the settings name.

    ``following`` is the embedder of HELIX_EMBEDDER_NEXT.

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
        asked_in = spaces(settings, known)
        store = await stack.enter_async_context(open_store(settings, *known))
        first, *others = (_cached(space, store, settings) for space in asked_in)
        reranking = await _reranking(settings, first, stack)
        rewriter = build_rewriter(llm, enabled=settings.rewrite, timeout=settings.rewrite_timeout)
        if rewriter:
            stack.push_async_callback(rewriter.aclose)
        await asyncio.to_thread(count_tokens, "")  # the tokenizer, or the first question waits
        retriever = GatedRetriever(
            store, first, top_k=settings.retrieval_top_k, following=others, rewriter=rewriter,
            reranking=reranking, calibration=build_calibration(settings),
        )  # fmt: skip
        filling = asyncio.create_task(_fill_terms(store))
        stack.callback(filling.cancel)
        workers = WorkerProcesses(settings)
        stack.callback(workers.stop)
        engine = CitationQueryEngine(retriever, llm, hygiene="hygiene" in settings.guards)
        judge = await _judge(settings, llm, stack)
        marks = _marks(settings, engine, judge, reranking)
        receipts = Receipts(store, marks) if settings.receipt_days else None
        metrics = metrics or Metrics()
        metrics.watch(store.url, store.pool_stats, rewriter)
        answering = Answering(
            engine, judge, frozenset(settings.guards), settings.withhold, receipts, metrics=metrics
        )
        stack.push_async_callback(answering.aclose)
        yield Services(
            settings, store, engine, answering, receipts, marks, Library(store), llm,
            workers.ensure, metrics,
        )  # fmt: skip


async def _judge(settings: Settings, llm: LanguageModel, stack: AsyncExitStack) -> Judge:
    """What HELIX_JUDGE names, closed with ``stack``; else the judge of the model that answers."""
    if settings.judge is not None:
        try:
            llm = build_llm(settings.model_copy(update={"llm": settings.judge}))
        except SettingsError as error:
            raise SettingsError(str(error).replace("HELIX_LLM", "HELIX_JUDGE")) from None
        stack.push_async_callback(llm.aclose)
    return build_judge(settings, llm)


def _marks(
    settings: Settings, engine: CitationQueryEngine, judge: Judge, reranking: Reranking | None
) -> Callable[[], Marks]:
    """What receipts say of this process; the space may be another once the embedder changed."""
    fixed = {
        "llm": engine.model_identity,
        "reranker": reranking.reranker.identity if reranking else None,
        "judge": judge.identity,
    }

    def marks() -> Marks:
        space = engine.retriever._side[0]  # the one that answered last
        weight = space.fusion.dense_weight if space.fusion else None
        fusion = "rrf" if space.fusion and weight is None else weight
        models = {"embedder": space.embedder.identity, **fixed}
        return Marks(models, settings_of(settings, fusion))

    return marks


async def _reranking(settings: Settings, space: Space, stack: AsyncExitStack) -> Reranking | None:
    """What HELIX_RERANKER names, closed with ``stack``; raises as build_reranker does."""
    keys = {"COHERE_API_KEY": settings.cohere_api_key, "VOYAGE_API_KEY": settings.voyage_api_key}
    reranker = await asyncio.to_thread(
        build_reranker, settings.reranker, keys=keys, timeout=settings.rerank_timeout,
        min_score=settings.rerank_min_score,
    )  # fmt: skip
    if reranker is None:
        return None
    stack.push_async_callback(reranker.aclose)
    return Reranking(reranker, settings.rerank_timeout, space.fusion)


async def _fill_terms(store: ChunkStore) -> None:
    """Terms for the chunks of an older release, while questions are answered already."""
    try:
        if filled := await store.fill_terms():
            _logger.info("BM25 terms written for %d chunks that had none", filled)
    except HelixError as error:
        _logger.warning("BM25 terms are still missing for some chunks: %s", error)


def _cached(space: Space, store: ChunkStore, settings: Settings) -> Space:
    """``space`` behind the cache; what embeds questions sooner than that answers needs none."""
    if space.embedder.local:
        return space
    return replace(space, embedder=with_cache(space.embedder, store, settings.embed_cache_mb))
