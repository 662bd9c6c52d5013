"""The embedding step: batches within the provider's limit, and none of what is stored."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

from helix.cache_rows import Floats
from helix.embedding_cache import CachedEmbedding, cache_key
from helix.errors import UpstreamError
from helix.providers.base import Embedder
from helix.records import EMBEDDING_KEY
from pipelines.outages import through_outages

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Floats]]]
Party = tuple[Sequence[str], "asyncio.Future[Sequence[Floats]]"]
RunBatch = Callable[[int, Callable[[], Awaitable[None]]], Awaitable[None]]


_ANY_NUMBER = 1_000_000


async def _just_run(_: int, embed: Callable[[], Awaitable[None]]) -> None:
    await embed()


class EmbedNodes(TransformComponent):
    """Give each node that needs one the vector of its embedded text, and the key of that.

    Args:
        embedder: batches are as large as its requests may be.
        on_batch: hears the number of nodes done: first those that are known, then each batch.
        known: embedding key by node id of what is stored (``ChunkStore.known_nodes``); such a node
            keeps ``embedding`` None, which ``ChunkStore.write`` takes and an IngestionPipeline's
            own vector store would drop.
        run_batch: runs each batch, by its index from 0, through the function given to it. It need
            not call that where it did in an earlier life: the vectors then come from the cache,
            and what is not there (any more, or as there is no cache) is embedded again.
        limit: held while a request is under way.
        embed: makes vectors in place of ``embedder``, such as a Coalescer's ``embed``.

    Vectors are arrays of float32, 6 KB each; assigned the usual way, LlamaIndex's validation would
    turn each into a list of 49 KB.
    """

    _embedder: Embedder = PrivateAttr()
    _on_batch: Callable[[int], None] = PrivateAttr()
    _known: Mapping[str, str] = PrivateAttr()
    _run_batch: RunBatch = PrivateAttr()
    _embed: Embed = PrivateAttr()

    def __init__(
        self,
        embedder: Embedder,
        on_batch: Callable[[int], None],
        *,
        known: Mapping[str, str] | None = None,
        run_batch: RunBatch = _just_run,
        limit: asyncio.Semaphore | None = None,
        embed: Embed | None = None,
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self._on_batch = on_batch
        self._known = known or {}
        self._run_batch = run_batch
        self._embed = embed or requests_of(embedder, limit)

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        return asyncio.run(self.acall(nodes, **kwargs))

    async def acall(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        needing = [node for node in nodes if self._keyed(node) != self._known.get(node.node_id)]
        if known := len(nodes) - len(needing):
            self._on_batch(known)
        size = self._embedder.max_batch
        for index, start in enumerate(range(0, len(needing), size)):
            batch = needing[start : start + size]

            async def embed(batch: list[BaseNode] = batch) -> None:
                texts = [node.get_content(MetadataMode.EMBED) for node in batch]
                for node, vector in zip(batch, await self._embed(texts), strict=True):
                    vars(node)["embedding"] = vector

            await self._run_batch(index, embed)
            if any(node.embedding is None for node in batch):
                await embed()
            self._on_batch(len(batch))
        return nodes

    def _keyed(self, node: BaseNode) -> str:
        """The embedding key of ``node``, which is written into it too."""
        if EMBEDDING_KEY not in node.excluded_embed_metadata_keys:
            node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, EMBEDDING_KEY]
        if EMBEDDING_KEY not in node.excluded_llm_metadata_keys:
            node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, EMBEDDING_KEY]
        text = node.get_content(MetadataMode.EMBED)
        key = cache_key(self._embedder.identity, "document", text)
        node.metadata[EMBEDDING_KEY] = key
        return key


def requests_of(embedder: Embedder, limit: asyncio.Semaphore | None = None) -> Embed:
    """``embedder`` as a function of texts to vectors of float32, ``limit`` held meanwhile."""
    model = embedder.model

    async def embed(texts: Sequence[str]) -> Sequence[Floats]:
        if isinstance(model, CachedEmbedding):
            # of the database only the look into the cache fails, which comes before the request
            return await through_outages(lambda: model.embed(texts))
        vectors = await model.aget_text_embedding_batch(list(texts))
        return [np.asarray(vector, dtype=np.float32) for vector in vectors]

    async def limited(texts: Sequence[str]) -> Sequence[Floats]:
        if limit is None:
            return await embed(texts)
        async with limit:
            return await embed(texts)

    return limited


class Coalescer:
    """Makes one request of what many small files ask for at the same time.

    A request is put together when it is its turn, of all that waits by then.

    Args:
        embed: one request; its errors go to everybody whose texts were in it. Where the content
            was refused, each asks again alone, so that one file's text fails that file only.
        most: texts a request may carry.
        wait: seconds that the first to come waits for others, at most.
        parties: how many there are who may come; where all of them wait, nobody else will.
        limit: held while a request is put together and under way.

    All of it belongs to one event loop.
    """

    def __init__(
        self,
        embed: Embed,
        most: int,
        wait: float = 0.01,
        parties: Callable[[], float] = lambda: math.inf,
        limit: asyncio.Semaphore | None = None,
    ) -> None:
        self._embed = embed
        self._most = most
        self._wait = wait
        self._parties = parties
        self._limit = limit or asyncio.Semaphore(_ANY_NUMBER)
        self._waiting: deque[Party] = deque()
        self._came = asyncio.Event()
        self._first_came = 0.0
        self._turns: set[asyncio.Task[None]] = set()

    async def embed(self, texts: Sequence[str]) -> Sequence[Floats]:
        """A vector a text, in order; ``texts`` are at most ``most``."""
        answer: asyncio.Future[Sequence[Floats]] = asyncio.get_running_loop().create_future()
        if not self._waiting:
            self._first_came = time.monotonic()
        self._waiting.append((texts, answer))
        self._came.set()
        # A turn for each who comes: whose texts went with another's turn leaves it to others.
        turn = asyncio.create_task(self._turn())
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        return await answer

    async def _turn(self) -> None:
        async with self._limit:
            await self._gather()
            if parties := self._taken():
                await self._request(parties)

    async def _gather(self) -> None:
        """Return when a request is full, nobody else will come, or the first has waited enough."""
        while self._waiting and not self._is_enough():
            left = self._first_came + self._wait - time.monotonic()
            if left <= 0:
                return
            self._came.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), left)

    def _is_enough(self) -> bool:
        texts = sum(len(texts) for texts, _ in self._waiting)
        return texts >= self._most or len(self._waiting) >= self._parties()

    def _taken(self) -> list[Party]:
        """Those who fit into one request, in the order they came, and still want an answer."""
        taken: list[Party] = []
        count = 0
        while self._waiting and count + len(self._waiting[0][0]) <= self._most:
            texts, answer = self._waiting.popleft()
            if not answer.done():
                taken.append((texts, answer))
                count += len(texts)
        self._first_came = time.monotonic()
        return taken

    async def _request(self, waiting: Sequence[Party]) -> None:
        try:
            vectors = await self._embed([text for texts, _ in waiting for text in texts])
        except Exception as error:  # noqa: BLE001
            if isinstance(error, UpstreamError) and error.about_input and len(waiting) > 1:
                await asyncio.gather(*(self._request([one]) for one in waiting))
                return
            for _, answer in waiting:
                if not answer.done():
                    answer.set_exception(error)
            return
        except asyncio.CancelledError:
            for _, answer in waiting:
                answer.cancel()
            raise
        start = 0
        for texts, answer in waiting:
            if not answer.done():
                answer.set_result(vectors[start : start + len(texts)])
            start += len(texts)
