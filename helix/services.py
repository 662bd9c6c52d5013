"""What a process of Helix holds open: database, models, and the engine over them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from db.errors import DatabaseError
from db.migrate import check_schema, migrate
from db.url import is_embedded, open_database
from helix.errors import SettingsError, StoreUnavailable
from helix.providers import build_embedder, build_llm
from helix.providers.base import Embedder, LanguageModel
from helix.query_engine import CitationQueryEngine
from helix.retriever import GatedRetriever
from helix.settings import HOW, Settings
from helix.store import ChunkStore


@dataclass(frozen=True)
class Services:
    """Everything that answering needs, open."""

    settings: Settings
    store: ChunkStore
    engine: CitationQueryEngine


@asynccontextmanager
async def open_store(settings: Settings, embedder: Embedder) -> AsyncIterator[ChunkStore]:
    """The store behind ``DATABASE_URL``, ready and filled by ``embedder`` or by none.

    The embedded database gets its schema here: it has nobody else to apply it.

    Raises:
        StoreUnavailable: database down or without schema.
        EmbedderMismatch: another embedder filled it.
    """
    async with AsyncExitStack() as stack:
        try:
            database = open_database(settings.database_url)
            url = await asyncio.to_thread(database.__enter__)
            stack.push(database.__exit__)
            prepare = migrate if is_embedded(settings.database_url) else check_schema
            await asyncio.to_thread(prepare, url)
        except DatabaseError as error:
            raise StoreUnavailable(str(error)) from error
        store = ChunkStore(
            url, embedder.identity, ef_search=settings.ef_search, pool_size=settings.pool_size
        )
        stack.push_async_callback(store.close)
        await store.check()
        yield store


@asynccontextmanager
async def open_services(
    settings: Settings,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
) -> AsyncIterator[Services]:
    """Open all of it; ``embedder`` and ``llm`` stand in for the ones the settings name.

    Raises:
        SettingsError: as build_embedder and build_llm do, or the gate has no ceiling.
        StoreUnavailable, EmbedderMismatch: as open_store does.
    """
    async with AsyncExitStack() as stack:
        embedder = embedder or build_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        llm = llm or build_llm(settings)
        stack.push_async_callback(llm.aclose)
        max_distance = gate_ceiling(settings, embedder)
        store = await stack.enter_async_context(open_store(settings, embedder))
        retriever = GatedRetriever(
            store, embedder, max_distance=max_distance, top_k=settings.retrieval_top_k
        )
        yield Services(settings, store, CitationQueryEngine(retriever, llm))


def gate_ceiling(settings: Settings, embedder: Embedder) -> float:
    """``RETRIEVAL_MAX_DISTANCE``, else the embedder's calibrated default.

    Raises:
        SettingsError: neither is there; a guess would refuse or let through at random.
    """
    if settings.retrieval_max_distance is not None:
        return settings.retrieval_max_distance
    if embedder.max_distance is not None:
        return embedder.max_distance
    raise SettingsError(
        f"RETRIEVAL_MAX_DISTANCE is not set, and {embedder.identity} has no calibrated default:"
        f" {HOW['RETRIEVAL_MAX_DISTANCE']}"
    )
