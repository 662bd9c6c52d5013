"""The embedding step: batches within the provider's limit, and none of what is stored."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

from helix.domain.records import EMBEDDING_KEY, KNOWN
from helix.errors import UpstreamError
from helix.providers.base import Embedder
from helix.retrieval.embedding_cache import CachedEmbedding, cache_key
from helix.storage.cache_rows import Floats
from pipelines.outages import through_outages

EmbedTexts = Callable[[Sequence[str]], Awaitable[Sequence[Floats]]]
"""One request: texts to vectors of 1536 float32 each, in order."""
RunBatch = Callable[[int, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Runs batch ``index``, counted from 0, through the function given to it."""
Progress = Callable[[int, int], Awaitable[None]]
"""Hears (batches done, batches in all)."""
_Call = tuple[Sequence[str], "asyncio.Future[Sequence[Floats]]"]
"""The texts of one caller, and where its vectors go."""


async def _run_at_once(_: int, embed: Callable[[], Awaitable[None]]) -> None:
    await embed()


async def _tell_nobody(done: int, total: int) -> None:
    return None


class EmbedNodes(TransformComponent):
    """Give each node that needs one the vector of its embedded text, and the key of that text.

    Args:
        embedder: batches are as large as its requests may be.
        embed: makes the vectors of one batch; a request of ``embedder`` if none.
        known: embedding key by node id of what is stored (``ChunkStore.known_nodes``); such a node
            is marked KNOWN.
        run_batch: runs each batch. It need not call the function where it did so in an earlier life
            of the process: the vectors then come from the cache, and what is not there (any more,
            or as there is no cache) is embedded again.
        progress: hears of the start and of each batch.

    Called again with the same texts, as after a write that failed, it embeds none of them again.
    Vectors are arrays of float32, 6 KB each; assigned the usual way, LlamaIndex's validation would
    turn each into a list of 49 KB.
    """

    _embedder: Embedder = PrivateAttr()
    _embed: EmbedTexts = PrivateAttr()
    _known: Mapping[str, str] = PrivateAttr()
    _run_batch: RunBatch = PrivateAttr()
    _progress: Progress = PrivateAttr()
    _vectors: dict[str, Floats] = PrivateAttr(default_factory=dict)

    def __init__(
        self,
        embedder: Embedder,
        embed: EmbedTexts | None = None,
        *,
        known: Mapping[str, str] | None = None,
        run_batch: RunBatch = _run_at_once,
        progress: Progress = _tell_nobody,
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self._embed = embed or requests_of(embedder)
        self._known = known or {}
        self._run_batch = run_batch
        self._progress = progress

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        return asyncio.run(self.acall(nodes, **kwargs))

    async def acall(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        needing: dict[str, list[BaseNode]] = {}  # by embedding key: the same text is embedded once
        # in a thread: of thousands of nodes it would be noticed by the other files
        keys_of = await asyncio.to_thread(lambda: [self._set_key(node) for node in nodes])
        for node, key in zip(nodes, keys_of, strict=True):
            if self._known.get(node.node_id) == key:
                vars(node)["embedding"] = KNOWN
            elif key not in self._vectors:
                needing.setdefault(key, []).append(node)
        size = self._embedder.max_batch
        total, done = -(-len(nodes) // size), len(nodes) - len(needing)
        await self._progress(0, total)
        keys = list(needing)
        for index, start in enumerate(range(0, len(keys), size)):
            batch = keys[start : start + size]

            async def embed(batch: list[str] = batch) -> None:
                texts = [needing[key][0].get_content(MetadataMode.EMBED) for key in batch]
                self._vectors.update(zip(batch, await self._embed(texts), strict=True))

            await self._run_batch(index, embed)
            if any(key not in self._vectors for key in batch):
                await embed()
            done += len(batch)
            await self._progress(total if start + size >= len(keys) else done // size, total)
        for node in nodes:
            if node.embedding is None:
                vars(node)["embedding"] = self._vectors[node.metadata[EMBEDDING_KEY]]
        return nodes

    def _set_key(self, node: BaseNode) -> str:
        """Write the embedding key of ``node`` into it, where neither model nor embedder sees it."""
        for excluded in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
            if EMBEDDING_KEY not in excluded:
                excluded.append(EMBEDDING_KEY)
        text = node.get_content(MetadataMode.EMBED)
        key = cache_key(self._embedder.vector_space, "document", text)
        node.metadata[EMBEDDING_KEY] = key
        return key


def requests_of(embedder: Embedder) -> EmbedTexts:
    """The function that makes requests of ``embedder``."""
    model = embedder.model

    async def embed(texts: Sequence[str]) -> Sequence[Floats]:
        if isinstance(model, CachedEmbedding):
            # of the database only the look into the cache fails, which comes before the request
            return await through_outages(lambda: model.embed(texts))
        vectors = await model.aget_text_embedding_batch(list(texts))
        return [np.asarray(vector, dtype=np.float32) for vector in vectors]

    return embed


class Coalescer:
    """Makes one request of what many small files ask for at the same time.

    A request is put together when it is its turn, of all that waits by then.

    Args:
        embed: one request; its errors go to every caller whose texts were in it. Where the content
            was refused, each asks again alone, so that one file's text fails that file only.
        most: texts a request may carry.
        wait: seconds that the first caller waits for others, at most.
        callers: how many there are who may ask; where all of them wait, nobody else will.
        limit: held while a request is put together and under way.

    All of it belongs to one event loop.
    """

    def __init__(
        self,
        embed: EmbedTexts,
        most: int,
        wait: float = 0.01,
        callers: Callable[[], float] = lambda: math.inf,
        limit: AbstractAsyncContextManager[None] | None = None,
    ) -> None:
        self._embed = embed
        self._most = most
        self._wait = wait
        self._callers = callers
        self._limit = limit or nullcontext()
        self._waiting: deque[_Call] = deque()
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
        # A turn for each caller: one whose texts went with another's turn leaves it to others.
        turn = asyncio.create_task(self._turn())
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        return await answer

    async def _turn(self) -> None:
        async with self._limit:
            await self._gather()
            if calls := self._take():
                await self._request(calls)

    async def _gather(self) -> None:
        """Return when a request is full, nobody else will come, or the first has waited enough."""
        while self._waiting:
            texts = sum(len(texts) for texts, _ in self._waiting)
            left = self._first_came + self._wait - time.monotonic()
            if texts >= self._most or len(self._waiting) >= self._callers() or left <= 0:
                return
            self._came.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), left)

    def _take(self) -> list[_Call]:
        """The calls that fit into one request, in their order, and still want an answer."""
        taken: list[_Call] = []
        count = 0
        while self._waiting and count + len(self._waiting[0][0]) <= self._most:
            texts, answer = self._waiting.popleft()
            if not answer.done():
                taken.append((texts, answer))
                count += len(texts)
        self._first_came = time.monotonic()
        return taken

    async def _request(self, calls: Sequence[_Call]) -> None:
        try:
            vectors = iter(await self._embed([text for texts, _ in calls for text in texts]))
        except Exception as error:  # noqa: BLE001
            if isinstance(error, UpstreamError) and error.about_input and len(calls) > 1:
                await asyncio.gather(*(self._request([call]) for call in calls))
                return
            for _, answer in calls:
                if not answer.done():
                    answer.set_exception(error)
        except asyncio.CancelledError:
            for _, answer in calls:
                answer.cancel()
            raise
        else:
            for texts, answer in calls:
                its_vectors = [next(vectors) for _ in texts]
                if not answer.done():
                    answer.set_result(its_vectors)
