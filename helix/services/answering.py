"""The answering path of a process: engine, judge, receipts and agent as one pipeline."""

from __future__ import annotations

from contextlib import AsyncExitStack

from helix.agent.building import build_agent
from helix.answering.engine import CitationQueryEngine
from helix.answering.pipeline import AnswerPipeline
from helix.answering.turns import TurnReader
from helix.domain.memory import Budget
from helix.library.access import Library
from helix.library.prompt_versions import PromptBook
from helix.providers.base import LanguageModel
from helix.receipts.receipt_store import Receipts
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.rewriting import build_rewriter
from helix.retrieval.understanding import Understanding
from helix.services.closing import closed_by
from helix.services.models import Models
from helix.settings import Settings
from helix.telemetry.metrics import Metrics


def open_answering(
    settings: Settings, models: Models, retriever: GatedRetriever, library: Library,
    prompts: PromptBook, receipts: Receipts | None, metrics: Metrics, stack: AsyncExitStack,
) -> AnswerPipeline:  # fmt: skip
    """The pipeline over ``retriever``; it and what it opens are closed with ``stack``."""
    pipeline = AnswerPipeline(
        _engine(settings, retriever, models.llm, stack),
        models.judge, frozenset(settings.guards), settings.withhold, receipts,
        metrics=metrics, prompts=None if models.offline else prompts,
        agent=build_agent(settings, models.llm, retriever, library),
    )  # fmt: skip
    return closed_by(stack, pipeline)


def _engine(
    settings: Settings, retriever: GatedRetriever, llm: LanguageModel, stack: AsyncExitStack
) -> CitationQueryEngine:
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
        closed_by(stack, rewriter)
    return Understanding(rewriter)
