"""A server's background work: workers, old receipts, files to a bucket, suggestions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from helix.conversations.maintenance import forget_removed, maintain_conversations
from helix.conversations.pasted_text import old_spaces
from helix.conversations.receipts.erasure import erase_space
from helix.conversations.receipts.receipt_store import (
    delete_expired,
    delete_old_feedback,
    forget_deleted_documents,
)
from helix.errors import HelixError
from helix.language.text_cache import forget_texts
from helix.library.access import in_background
from helix.library.audit import delete_old_events
from helix.library.people.browser_sessions import delete_old_sessions
from helix.library.privacy.contacts import counting
from helix.library.runs import delete_ended_runs
from helix.library.usage import delete_old_counts
from helix.library.usage_days import delete_old_usage
from helix.services import Services
from helix.serving.mcp_endpoint import McpEndpoint
from helix.serving.request_state import request_state
from helix.serving.suggested_questions import suggest
from helix.settings import Settings
from helix.storage.file_moves import delete_loose_objects, move_next_file
from helix.storage.garbage_collection import settle
from helix.storage.statements.moments import DROP_OLD
from helix.storage.statements.removals import ANY_NEW
from helix.storage.tenant_store import TenantStore
from helix.telemetry.logs import where

_WARM_SECONDS = 0.5  # that the first requests have for themselves
_LOOK_SECONDS, _LONGEST_SECONDS = 5.0, 120.0
_TIDY_SECONDS = 600.0
_FILES_SECONDS = 30.0
_FORGET_SECONDS = 20.0

_logger = logging.getLogger(__name__)


@asynccontextmanager
async def background_tasks(services: Services) -> AsyncIterator[None]:
    """Run the background work while the block lasts; it has ended when the block is left."""
    async with (
        in_background(
            _keep_workers(services),
            _drop_receipts(services),
            _forget(services),
            _keep_files(services),
            suggest(services),
        ),
        counting(services.store, "serving"),
    ):
        yield


async def _keep_workers(services: Services) -> None:
    """Keep workers warm from soon after the start on: one takes seconds to load what it needs.

    A worker at rest waits to be notified. One that was killed is replaced; one that ends at once,
    because of a setting say, is started less and less.
    """
    await asyncio.sleep(_WARM_SECONDS)
    wait = _LOOK_SECONDS
    while True:
        wait = min(wait * 2, _LONGEST_SECONDS) if services.on_run_created() else _LOOK_SECONDS
        await asyncio.sleep(wait)


async def _drop_receipts(services: Services) -> None:
    """Drop receipts that were kept long enough, and what they say of documents deleted since."""

    async def drop() -> None:
        await asyncio.to_thread(tidy, services.store, services.settings.receipt_days)
        dropped = await asyncio.to_thread(drop_old, services.store, services.settings)
        if any(dropped.values()):
            _logger.info("kept long enough and dropped: %s", dropped)

    await _repeat(drop, _TIDY_SECONDS, "receipts were not looked through")


async def _forget(services: Services) -> None:
    """Take out what deletions left of documents; of this process, the texts and images it keeps."""

    async def forget() -> None:
        if await asyncio.to_thread(forget_in_database, services.store):
            services.page_images.clear()
            forget_texts()

    await _repeat(forget, _FORGET_SECONDS, "what is left of deleted documents was not taken out")


def forget_in_database(store: TenantStore) -> bool:
    """Take out what the deletions of the last hour left; True if one was in the last minute."""
    with store.connection() as connection:
        forget_removed(connection)
        row = connection.execute(ANY_NEW).fetchone()
    return bool(row and row[0])


async def _keep_files(services: Services) -> None:
    """Move original files to the bucket of HELIX_FILES, and delete unused objects there."""
    if (address := services.settings.files) is None:
        return

    async def keep() -> None:
        while await asyncio.to_thread(move_next_file, services.store, address):
            pass
        while await asyncio.to_thread(delete_loose_objects, services.store, address):
            pass

    await _repeat(keep, _FILES_SECONDS, "files stay where they are")


async def _repeat(work: Callable[[], Awaitable[None]], seconds: float, failing: str) -> None:
    """Do ``work`` now and every ``seconds``; a failure is logged, and the next round tries again.

    At the start too: there may have been no server for a long time.
    """
    while True:
        try:
            await work()
        except HelixError as error:
            _logger.warning("%s: %s", failing, error)
        except Exception as error:  # noqa: BLE001  the next round tries again
            _logger.warning("%s: %s", failing, where(error))
        await asyncio.sleep(seconds)


def tidy(store: TenantStore, days: int) -> None:
    """One round over the receipts and conversations of all tenants."""
    with store.connection() as connection:
        dropped = delete_expired(connection, days)
        forgotten = forget_deleted_documents(connection) + maintain_conversations(connection)
        for space in old_spaces(connection):
            with connection.transaction():
                erase_space(connection, space)
    if dropped or forgotten:
        _logger.info(
            "receipts: %d dropped; answers without a deleted document: %d", dropped, forgotten
        )


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[dict[str, Any]]:
    """The state of requests, while the server's background work goes on."""
    settle()
    state = request_state(services)
    async with (
        background_tasks(services),
        in_background(state["health"].watch()),
        state["recorder"].writing(services.store),
        McpEndpoint(services) as mcp_endpoint,
    ):
        yield {**state, "mcp": mcp_endpoint}


def drop_old(store: TenantStore, settings: Settings) -> dict[str, int]:
    """Delete what is older than the settings keep it, of all tenants; how many rows of which.

    Each batch is a transaction of its own, so that nobody waits long for a row.
    """
    dropped: dict[str, int] = {}
    with store.connection() as connection:
        if settings.feedback_days:
            dropped["feedback"] = delete_old_feedback(connection, settings.feedback_days)
        if settings.run_days:
            dropped["runs"] = delete_ended_runs(connection, settings.run_days)
        dropped["audit_events"] = delete_old_events(connection, settings.audit_days)
        if settings.progress == "off":
            from helix.study.progress.storage import forget_everybody

            dropped["progress"] = forget_everybody(connection)
        dropped["versions"] = connection.execute(DROP_OLD, (settings.keep_versions_days,)).rowcount
        dropped["sessions"] = delete_old_sessions(connection)
        dropped["usage_counts"] = delete_old_counts(connection)
        dropped["usage_days"] = delete_old_usage(connection, settings.usage_days)
    return dropped
