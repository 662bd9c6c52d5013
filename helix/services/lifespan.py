"""The services of a process, and their lifespan: opened in the order of what they need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from helix.answering.engine import CitationQueryEngine
from helix.answering.pipeline import AnswerPipeline
from helix.conversations.ongoing_answers import OngoingAnswers
from helix.conversations.receipts.receipt import Configuration
from helix.conversations.receipts.receipt_store import Receipts
from helix.domain.context import count_tokens
from helix.domain.scope import Scope
from helix.library.access import Library, in_background
from helix.library.prompt_versions import PromptBook
from helix.library.run_counts import RunCounts
from helix.library.worker_processes import WorkerProcesses
from helix.providers.base import Embedder, LanguageModel, Lifetime
from helix.retrieval.passages import found_passages
from helix.retrieval.vector_space import fill_terms, open_store, spaces
from helix.sandbox.rendering.images import PageImages
from helix.services.answer_pipeline import open_answering
from helix.services.models import Models, closed_by, open_models
from helix.services.retriever import Retrieving, open_retriever
from helix.settings import Settings
from helix.settings.prompts import use_folder
from helix.storage.name_lookups import bound_name_lookups
from helix.storage.tenant_store import TenantStore
from helix.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from helix.study.services import StudyServices


@dataclass(frozen=True)
class Services:
    """Everything that a server needs, open.

    Args:
        answering: the pipeline that every question goes through.
        receipts: the store of receipts; None where none are kept (HELIX_RECEIPT_DAYS=0).
        configuration: the models and settings that answers are made with.
        llm: the model of HELIX_LLM.
        choices: the models that a question may choose, by name; ``llm`` first.
        prompts: the prompts of tenants; an answer reads none where its models are offline.
        study: the services of study; None where HELIX_STUDY is off.
        lifetimes: of the models that have a known one.
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
    choices: Mapping[str, LanguageModel]
    prompts: PromptBook
    study: StudyServices | None
    on_run_created: Callable[[], bool] = lambda: False
    metrics: Metrics = field(default_factory=Metrics)
    page_images: PageImages = field(default_factory=PageImages)
    lifetimes: tuple[Lifetime, ...] = ()
    turns: OngoingAnswers = field(default_factory=OngoingAnswers)

    async def passages(self, text: str, scope: Scope, limit: int) -> dict[str, Any]:
        """The passages of ``scope`` that fit ``text``; raises as ``found_passages``."""
        return await found_passages(self.engine.retriever, text, scope, limit)

    def models(self) -> dict[str, str | None]:
        """Embedder, llm, reranker and judge by their identity; None where there is none."""
        return self.configuration.models_in(self.engine.retriever.space.description)


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
            ceiling, or as use_folder does.
        StoreUnavailable, EmbedderMismatch: as open_store does.
    """
    use_folder(settings.prompts_folder)
    bound_name_lookups(asyncio.get_running_loop())
    async with AsyncExitStack() as stack:
        models = open_models(settings, stack, embedder, following, llm)
        search_spaces = spaces(settings, models.embedders)
        store = await stack.enter_async_context(
            open_store(TenantStore, settings, *models.embedders)
        )
        await asyncio.to_thread(count_tokens, "")  # loads the tokenizer, for the first question
        retrieving = await open_retriever(settings, models.llm, store, search_spaces, stack)
        await stack.enter_async_context(in_background(fill_terms(store)))
        metrics = await _watched(metrics or Metrics(), store, retrieving, stack)
        metrics.watch_models(models.lifetimes)
        yield await _services(settings, models, store, retrieving, metrics, stack)


async def _services(
    settings: Settings, models: Models, store: TenantStore, retrieving: Retrieving,
    metrics: Metrics, stack: AsyncExitStack,
) -> Services:  # fmt: skip
    library, prompts = Library(store), PromptBook(store)
    configuration = Configuration.of(
        settings, llm=models.llm.identity, judge=models.judge.identity, reranker=retrieving.reranker
    )
    receipts = Receipts(store, configuration) if settings.receipt_days else None
    workers = _workers(settings, stack)
    answering = open_answering(
        settings, models, retrieving.retriever, library, prompts, receipts, metrics, stack
    )
    return Services(
        settings=settings,
        store=store,
        engine=answering.engine,
        answering=answering,
        receipts=receipts,
        configuration=configuration,
        library=library,
        llm=models.llm,
        choices=models.choices,
        lifetimes=models.lifetimes,
        prompts=prompts,
        study=await _study(settings, library, models.llm, stack),
        on_run_created=workers.ensure,
        metrics=metrics,
        page_images=closed_by(stack, PageImages()),  # its process starts with the first image
        turns=closed_by(stack, OngoingAnswers()),
    )


async def _watched(
    metrics: Metrics, store: TenantStore, retrieving: Retrieving, stack: AsyncExitStack
) -> Metrics:
    """``metrics``, which read the store and the rewriter, and the figures of sibling processes."""
    metrics.watch(
        RunCounts(store.connections.url), store.connections.pool_stats, retrieving.rewriter
    )
    await stack.enter_async_context(in_background(metrics.keep_shared()))
    return metrics


def _workers(settings: Settings, stack: AsyncExitStack) -> WorkerProcesses:
    workers = WorkerProcesses(settings)
    stack.push_async_callback(workers.stop)
    return workers


async def _study(
    settings: Settings, library: Library, llm: LanguageModel, stack: AsyncExitStack
) -> StudyServices | None:
    if settings.study == "off":
        return None
    from helix.study.services import open_study  # whoever wants answers alone loads none of it

    return await stack.enter_async_context(open_study(settings, library, llm))
