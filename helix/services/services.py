"""The open services of a process, as values that its rooms are handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from helix.answering.engine import CitationQueryEngine
from helix.answering.pipeline import AnswerPipeline
from helix.conversations.ongoing_answers import OngoingAnswers
from helix.conversations.receipts.receipt import Configuration
from helix.conversations.receipts.receipt_store import Receipts
from helix.domain.scope import Scope
from helix.library.access import Library
from helix.library.prompt_versions import PromptBook
from helix.providers.base import LanguageModel, Lifetime
from helix.retrieval.passages import found_passages
from helix.sandbox.rendering.images import PageImages
from helix.settings import Settings
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
