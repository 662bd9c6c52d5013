"""The embedder that the database has now, among those of a process: the old one or the new one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from helix.domain.retrieval import Fusion, SearchSpace
from helix.errors import HelixError, SettingsError
from helix.providers.base import Embedder
from helix.settings import HOW, Settings
from helix.storage.database import open_url
from helix.storage.tenant_store import TenantStore

Store = TypeVar("Store", bound=TenantStore)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Space:
    """A vector space that questions can be asked in.

    ``max_distance`` is the gate's ceiling there, a cosine distance from 0 to 2; ``fusion`` how BM25
    joins the distances, None for not at all; ``lexical`` whether an exact match passes the gate.
    """

    embedder: Embedder
    max_distance: float
    fusion: Fusion | None = None
    lexical: bool = False

    @property
    def has_weak_vectors(self) -> bool:
        """True for an embedder of this machine at its own ceiling: the distance alone refuses too
        much there, above all in small libraries, which have nothing that is near.
        """
        return self.embedder.local and self.max_distance == self.embedder.max_distance

    @property
    def description(self) -> SearchSpace:
        """The space as a ``Retrieval`` carries it."""
        return SearchSpace(self.embedder.vector_space, self.max_distance, self.fusion, self.lexical)


async def current_embedder(store: TenantStore, embedders: Sequence[Embedder]) -> Embedder:
    """The one of ``embedders`` that filled the database; the first, where none did.

    Take it anew for each document: ``pipelines.reembed`` may change the database at any time, and
    a write by the other one then raises EmbedderMismatch and stores nothing. Write with
    ``store.session(embedder.vector_space)``.

    Raises:
        StoreUnavailable: the database did not answer.
        EmbedderMismatch: it was filled by none of them.
    """
    stored = await store.stored_identity()
    for embedder in embedders:
        await adopt_width(store, embedder, stored or "")
        if embedder.vector_space == stored:
            return embedder
    await store.session(embedders[0].vector_space).check()
    return embedders[0]


async def adopt_width(store: TenantStore, embedder: Embedder, stored: str) -> None:
    """Hold ``embedder`` to the width of the vectors that were stored under its name, if any are.

    A space that was named before widths were has that of its vectors, and keeps its name.
    """
    named, _, numbers = stored.rpartition("/")
    held = embedder.width
    if held is None or embedder.identity not in (stored, named) or _is_settled(embedder, stored):
        return
    width = await asyncio.to_thread(store.stored_width)
    if width is not None and embedder.identity == stored:
        held.adopt(width, named=False)
    elif width is not None and numbers.isdecimal():
        held.adopt(int(numbers), named=True)


async def learn_space(store: TenantStore, embedder: Embedder) -> None:
    """Have ``embedder`` know its width, and go by the name that its vectors are stored under."""
    await embedder.learn_width()
    await adopt_width(store, embedder, await store.stored_identity() or "")


def _is_settled(embedder: Embedder, stored: str) -> bool:
    """True if nothing that is stored could tell more of the embedder's width."""
    known = embedder.width is None or embedder.width.numbers is not None
    return known and (embedder.vector_space == stored or embedder.identity != stored)


def spaces(settings: Settings, embedders: Sequence[Embedder]) -> list[Space]:
    """The spaces that questions are asked in, HELIX_EMBEDDER's first.

    Raises:
        SettingsError: one of them has no ceiling.
    """
    return [
        Space(
            embedder,
            # a distance that was set means nothing in another space than the first
            gate_ceiling(settings, embedder)
            if number == 0 or embedder.max_distance is None
            else embedder.max_distance,
            fusion_of(settings, embedder),
            settings.gate_lexical,
        )
        for number, embedder in enumerate(embedders)
    ]


def fusion_of(settings: Settings, embedder: Embedder) -> Fusion | None:
    """The fusion of the settings, else the one that suits the embedder; None: by distance alone."""
    if settings.retrieval == "dense":
        return None
    weight: float | None = None
    if settings.fusion != "rrf":
        weight = embedder.dense_weight if settings.fusion is None else settings.fusion
    return Fusion(weight, settings.rrf_k, settings.k_vec, settings.k_fts)


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
            url, embedder.vector_space, ef_search=settings.ef_search, pool_size=settings.pool_size,
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
