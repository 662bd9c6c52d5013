"""The embedding step of the pipeline: batches within the provider's limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

from helix.providers.base import Embedder


class EmbedNodes(TransformComponent):
    """Give each node the vector of its text with its title in front.

    LlamaIndex's nodes turn a vector into a list of floats, about 49 KB each, so a document needs
    that much memory a chunk until it is written. ``on_batch`` hears the number of chunks done.
    """

    _embedder: Embedder = PrivateAttr()
    _on_batch: Callable[[int], None] = PrivateAttr()

    def __init__(self, embedder: Embedder, on_batch: Callable[[int], None]) -> None:
        super().__init__()
        self._embedder = embedder
        self._on_batch = on_batch

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        return asyncio.run(self.acall(nodes, **kwargs))

    async def acall(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        size = self._embedder.max_batch
        for start in range(0, len(nodes), size):
            batch = nodes[start : start + size]
            texts = [node.get_content(MetadataMode.EMBED) for node in batch]
            vectors = await self._embedder.model.aget_text_embedding_batch(texts)
            for node, vector in zip(batch, vectors, strict=True):
                node.embedding = np.asarray(vector, dtype=np.float32)  # type: ignore[assignment]
            self._on_batch(len(batch))
        return nodes
