"""The store of a process, checked when it opens: its vectors are those of the embedder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from helix.errors import HelixError
from helix.providers.base import Embedder
from helix.retrieval.vector_space import current_embedder
from helix.settings import Settings
from helix.storage.database import open_url
from helix.storage.tenant_store import TenantStore

Store = TypeVar("Store", bound=TenantStore)
_logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_store(
    kind: type[Store], settings: Settings, embedder: Embedder, following: Embedder | None = None
) -> AsyncIterator[Store]:
    """The store of DATABASE_URL, ready; its vectors are those of ``embedder``, or it has none.

    ``kind`` is TenantStore, or ChunkStore where LlamaIndex is to write to it. ``following`` is the
    embedder of HELIX_EMBEDDER_NEXT, which the vectors may be of instead.

    Raises:
        StoreUnavailable: as open_url does.
        EmbedderMismatch: the vectors are another embedder's.
    """
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(open_url(settings))
        pooler = settings.database_pooler_url
        store = kind(
            url, embedder.identity, ef_search=settings.ef_search, pool_size=settings.pool_size,
            replica_urls=[url.get_secret_value() for url in settings.database_replica_urls],
            pooler_url=pooler.get_secret_value() if pooler else None,
        )  # fmt: skip
        store.connections.keep_versions_days = settings.keep_versions_days
        stack.push_async_callback(store.close)
        await asyncio.to_thread(store.connections.check_role)
        await current_embedder(store, [embedder, following] if following else [embedder])
        yield store


async def fill_terms(store: TenantStore) -> None:
    """Write the BM25 terms of chunks that have none, while questions are answered already."""
    try:
        if filled := await store.fill_terms():
            _logger.info("BM25 terms written for %d chunks that had none", filled)
    except HelixError as error:
        _logger.warning("BM25 terms are still missing for some chunks: %s", error)
