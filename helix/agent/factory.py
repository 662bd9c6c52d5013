"""The agent of a process: a model chooses the tools where it can, else a plan does."""

from __future__ import annotations

from functools import partial

from helix.agent.agent import Agent, Drive
from helix.agent.gathering import Bounds, Gathering
from helix.agent.offline.planner import OfflinePlanner
from helix.agent.plan_driver import follow_plan
from helix.agent.tools import all_tools
from helix.library.access import Library
from helix.providers.base import LanguageModel
from helix.retrieval.gated_retriever import GatedRetriever
from helix.settings import Settings


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
