"""What a run of the web is to bring in: a site, or one page."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from helix.errors import BadRequest
from helix.library.runs import set_stage
from helix.settings import Settings
from helix.store import ChunkStore
from pipelines.crawler.fetch import Limits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.plan import import_url, plan_crawl
from pipelines.crawler.results import Ignored, Known, KnownPages, Planned, Result, Settled
from pipelines.crawler.urls import origin_of
from pipelines.outages import through_outages
from pipelines.planning import Found, add_found
from pipelines.recipe import RECIPE
from pipelines.rows import RunRow

# A page of an older recipe is read again, so its bytes are needed: it does not count as known.
_KNOWN = """
SELECT source_uri, content_hash, origin FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND recipe = %(recipe)s
    AND (starts_with(origin ->> 'url', %(site)s) OR starts_with(source_uri, %(site)s))
"""


async def plan_web(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Fetch the pages of a run of kind ``crawl`` or ``url`` and add them to it, one by one.

    Raises:
        StopWanted, StoreUnavailable: as they say.
    """
    try:
        options = CrawlOptions.from_dict(run.options).allowing(settings.allow_hosts)
    except BadRequest as problem:
        reason = str(problem)
        await _add(store, run, _failed(run, reason))
        return
    limits = Limits(largest=settings.max_file_mb * 2**20)
    site = origin_of(options.url)
    known = await through_outages(lambda: asyncio.to_thread(known_pages, store, site))
    ignored = 0
    async with aclosing(_results(run, options, known, limits)) as results:
        async for result in results:
            if isinstance(result, Ignored):
                ignored += 1
                continue
            await _add(store, run, _found(result))
    await through_outages(lambda: asyncio.to_thread(_tell_ignored, store, run.id, ignored))


def known_pages(store: ChunkStore, site: str) -> KnownPages:
    """What the database has of the pages of ``site`` (scheme and host), by their addresses.

    All of it at once: a crawl asks as it goes, in the event loop.
    """
    pages: dict[str, Known] = {}
    with store.connection() as connection:
        wanted = {"tenant": store.tenant, "site": f"{site}/", "recipe": RECIPE}
        rows = connection.execute(_KNOWN, wanted).fetchall()
    for source_uri, content_hash, origin in rows:
        known = Known.from_origin(source_uri, content_hash, origin)
        pages.setdefault(source_uri, known)
        pages[str(origin.get("url") or source_uri)] = known
    return pages.get


async def _results(
    run: RunRow, options: CrawlOptions, known: KnownPages, limits: Limits
) -> AsyncGenerator[Result, None]:
    if run.kind == "url":
        yield await import_url(options, known, limits=limits)
        return
    async with aclosing(plan_crawl(options, known, limits=limits)) as results:
        async for result in results:
            yield result


async def _add(store: ChunkStore, run: RunRow, found: Found) -> None:
    if (tags := run.options.get("tags")) is not None:
        found = replace(found, tags=tuple(tags))
    await through_outages(lambda: asyncio.to_thread(add_found, store, run.id, [found]))


def _tell_ignored(store: ChunkStore, run_id: int, ignored: int) -> None:
    with store.connection() as connection:
        set_stage(connection, run_id, "scan", ignored=ignored)


def _found(result: Planned | Settled) -> Found:
    if isinstance(result, Settled):
        return Found(
            result.source_uri, reason=result.reason, unchanged=result.status == "unchanged"
        )
    return Found(
        result.source_uri,
        result.data,
        result.media,
        result.title,
        hashlib.sha256(result.data).hexdigest(),
        result.origin,
    )


def _failed(run: RunRow, reason: str) -> Found:
    return Found(str(run.options.get("url") or "url"), reason=reason)
