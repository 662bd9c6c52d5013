"""Runs that make a study set: by the model of HELIX_LLM, or by rule where that is offline."""

from __future__ import annotations

import asyncio

from helix.errors import SettingsError
from helix.library.access import Library
from helix.library.runs import RunRow, set_stage
from helix.settings import Settings
from helix.settings.prompts import use_folder
from helix.store import ChunkStore
from pipelines.outages import in_database


async def carry_out_study(settings: Settings, store: ChunkStore, run: RunRow) -> bool:
    """Make the set that the run names, or what is left of it; False where it is to stop.

    Raises:
        UpstreamError: the model's service failed several times in a row.
        NothingMade: there is no item at the end.
        SettingsError: HELIX_STUDY is off, HELIX_LLM names no model that can be opened, or as
            use_folder does.
    """
    if settings.study == "off":
        raise SettingsError("study is off (HELIX_STUDY): on, a set that is ordered again is made")
    use_folder(settings.prompts_folder)
    from helix.providers.factories import build_llm  # here, for most runs ask no model
    from helix.study.generation import make
    from helix.study.model_maker import build_maker

    llm = await asyncio.to_thread(build_llm, settings)

    async def going_on(stage: str) -> bool:
        return await in_database(store, set_stage, run.id, stage)

    try:
        maker = build_maker(settings, llm)
        return await make(Library(store), int(run.options["set_id"]), maker, going_on)
    finally:
        await llm.aclose()
