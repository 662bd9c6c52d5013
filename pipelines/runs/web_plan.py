"""The first step of a run over the web: fetch the pages of a site, or one page, and add them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from helix.errors import BadRequest
from helix.library.runs import RunRow, set_stage, stop_for_fault
from helix.library.storage_quota import Room
from helix.settings import Settings
from helix.store import ChunkStore
from pipelines.crawler.fetch import FetchLimits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.plan import import_url, plan_crawl
from pipelines.crawler.results import (
    FinishedPage,
    Ignored,
    PageToRead,
    Result,
    StoredPages,
)
from pipelines.crawler.urls import origin_of
from pipelines.files.recipe import ChunkSizes
from pipelines.outages import in_database, through_outages
from pipelines.runs.page_places import PagePlaces, RightLost
from pipelines.runs.path_plan import RunCancelled, add_files_to_run
from pipelines.runs.planned_files import PlannedFile


async def plan_web(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Fetch the pages of a run of kind ``crawl`` or ``url`` and add them to it, one by one.

    A run of kind ``url`` may name several, as ``urls``.

    Raises:
        RunCancelled, StoreUnavailable: as they say.
    """

    async def add(places: PagePlaces, file: PlannedFile) -> None:
        try:
            file, is_own = await in_database(store, places.placed, file)
        except RightLost as lost:
            await in_database(store, stop_for_fault, run.id, str(lost))
            raise RunCancelled from lost
        if file.media and not await in_database(store, room.take, file.source_uri, len(file.data)):
            file, is_own = PlannedFile(file.source_uri, reason=room.reason), False
        given = run.options if is_own else {}
        await through_outages(
            lambda: asyncio.to_thread(
                add_files_to_run, store, run.id, [file], given.get("tags"),
                metadata=given.get("metadata"),
            )
        )  # fmt: skip

    ignored = 0
    room = await in_database(store, Room, settings, run.tenant)
    recipe = ChunkSizes.of(settings).recipe
    limits = FetchLimits(largest=settings.max_file_mb * 2**20)
    for url in run.options.get("urls") or [run.options.get("url")]:
        places = PagePlaces.of(run, str(url or "url"))
        try:
            options = CrawlOptions.from_dict({**run.options, "url": url})
        except BadRequest as problem:
            await add(places, PlannedFile(str(url or "url"), reason=str(problem)))
            continue
        options = options.allowing(settings.allow_hosts)
        stored_pages = await in_database(store, places.stored_pages, origin_of(options.url), recipe)
        async with aclosing(_results(run, options, stored_pages, limits)) as results:
            async for result in results:
                if isinstance(result, Ignored):
                    ignored += 1
                else:
                    await add(places, _file_to_plan(result))
    await in_database(store, set_stage, run.id, "scan", ignored)


async def _results(
    run: RunRow, options: CrawlOptions, stored_pages: StoredPages, limits: FetchLimits
) -> AsyncGenerator[Result, None]:
    if run.kind == "url":
        yield await import_url(options, stored_pages, limits=limits)
        return
    async with aclosing(plan_crawl(options, stored_pages, limits=limits)) as results:
        async for result in results:
            yield result


def _file_to_plan(result: PageToRead | FinishedPage) -> PlannedFile:
    if isinstance(result, FinishedPage):
        unchanged = result.status == "unchanged"
        return PlannedFile(result.source_uri, reason=result.reason, unchanged=unchanged)
    content_hash = hashlib.sha256(result.data).hexdigest()
    return PlannedFile(
        result.source_uri, result.data, result.media, result.title, content_hash, result.origin
    )
