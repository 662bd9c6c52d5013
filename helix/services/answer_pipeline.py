"""The answering path of a process: engine, judge, receipts and agent as one pipeline."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW

from helix.agent.agent import Agent, Drive, follow_plan
from helix.agent.gathering import Bounds, Gathering
from helix.agent.offline.planner import OfflinePlanner
from helix.agent.tools import all_tools
from helix.answering.answerers import Answerer, Answerers
from helix.answering.engine import CitationQueryEngine
from helix.answering.form import FormChoice
from helix.answering.pipeline import AnswerPipeline
from helix.answering.question import TurnReader
from helix.conversations.receipts.receipt_store import Receipts
from helix.domain.history import Budget
from helix.library.access import Library
from helix.library.prompt_versions import PromptBook
from helix.library.tenant_models import TenantModels
from helix.providers.answer_length import answer_tokens
from helix.providers.base import LanguageModel
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.rewriting import build_rewriter
from helix.retrieval.understanding import Understanding
from helix.services.models import Models, closed_by
from helix.settings import Settings
from helix.telemetry.metrics import Metrics

_SOURCE_TOKENS, _OTHER_TOKENS = 650, 1024
"""Of a prompt: a source by any tokenizer (the splitter's are 500 by its own), and the rules with
the question."""
_CHARS_A_TOKEN = 3
"""Fewer than the 4 of English prose, so that a conversation in another language fits too."""


def history_room(settings: Settings, context: int) -> int:
    """Characters for the conversation in a prompt of a model with ``context`` tokens, at least 0.

    It is HELIX_HISTORY_CHARS where the context holds them beside sources and answer, or is not
    known: then LlamaIndex has a default of its own for it.
    """
    if context == DEFAULT_CONTEXT_WINDOW:
        return settings.history_chars
    asked = _OTHER_TOKENS + _SOURCE_TOKENS * settings.retrieval_top_k
    left = context - asked - answer_tokens(settings, context)
    return min(settings.history_chars, max(0, left * _CHARS_A_TOKEN))


def open_answering(
    settings: Settings, models: Models, retriever: GatedRetriever, library: Library,
    prompts: PromptBook, receipts: Receipts | None, metrics: Metrics, stack: AsyncExitStack,
) -> AnswerPipeline:  # fmt: skip
    """The pipeline over ``retriever``; it and what it opens are closed with ``stack``."""
    # whichever model a question chooses, its conversation fits
    room = min(
        history_room(settings, each.model.metadata.context_window)
        for each in models.choices.values()
    )
    engine = _engine(settings, retriever, models.llm, room, stack)
    answerers = {
        name: Answerer(
            engine.answering_by(llm), build_agent(settings, llm, retriever, library), name
        )
        for name, llm in models.choices.items()
    }  # fmt: skip
    first = next(iter(answerers.values()))
    pipeline = AnswerPipeline(
        first.engine, models.judge, frozenset(settings.guards), settings.withhold == "answer",
        receipts,
        metrics=metrics, prompts=prompts, agent=first.agent,
        answerers=Answerers(answerers, TenantModels(library.store)),
    )  # fmt: skip
    return closed_by(stack, pipeline)


def _engine(
    settings: Settings, retriever: GatedRetriever, llm: LanguageModel, room: int,
    stack: AsyncExitStack,
) -> CitationQueryEngine:  # fmt: skip
    budget = Budget(room, settings.history_messages)
    return CitationQueryEngine(
        retriever, llm, hygiene="hygiene" in settings.guards,
        turns=TurnReader(_understanding(settings, llm, stack), budget),
        form=FormChoice(settings.answer_form),
        withholds=settings.withhold == "sentence",
    )  # fmt: skip


def _understanding(
    settings: Settings, llm: LanguageModel, stack: AsyncExitStack
) -> Understanding | None:
    """The reader of turns as HELIX_HISTORY_RETRIEVAL has it; ``stack`` closes its rewriter."""
    if settings.history_retrieval == "off":
        return None
    rewriter = build_rewriter(
        llm, enabled=settings.history_retrieval == "model", timeout=settings.rewrite_timeout,
        task="standalone_question",
    )  # fmt: skip
    if rewriter:
        closed_by(stack, rewriter)
    return Understanding(rewriter)


def build_agent(
    settings: Settings, llm: LanguageModel, retriever: GatedRetriever, library: Library
) -> Agent:
    """The agent over ``retriever``, within the bounds of ``settings``."""
    bounds = Bounds(settings.agent_steps, settings.agent_seconds, settings.agent_tokens)
    return Agent(_drive_of(llm), retriever, library, settings, bounds, all_tools())


def _drive_of(llm: LanguageModel) -> Drive:
    if not llm.model.metadata.is_function_calling_model:
        return partial(follow_plan, planner=OfflinePlanner())

    async def choose(gathering: Gathering) -> None:
        # here, because LlamaIndex's agents take 0.3 s to load
        from helix.agent.model_driver import drive_by_model

        await drive_by_model(llm, gathering)

    return choose
