"""BM25's terms of a document, made by the sandbox while its chunks are embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, TransformComponent

from helix.storage.packed_terms import PackedTerms
from helix.storage.term_rows import text_of

LEAST_CHUNKS = 16
"""Of fewer chunks the write makes the terms itself, sooner than a process for them would start."""

PackTexts = Callable[[Sequence[str]], Awaitable[PackedTerms]]
"""The terms of texts; what is missing of them the write makes."""


class TermsBeside(TransformComponent):
    """Do ``step``, and meanwhile have the terms made of what is not stored yet.

    Args:
        step: the transformation of the nodes.
        pack: makes the terms.
        stored: ids of nodes that are stored, and have their terms.

    ``made`` has the terms when the nodes come out; done again, nothing is made again.
    """

    _step: TransformComponent = PrivateAttr()
    _pack: PackTexts = PrivateAttr()
    _stored: Collection[str] = PrivateAttr()
    _made: dict[bytes, bytes] = PrivateAttr(default_factory=dict)

    def __init__(
        self, step: TransformComponent, pack: PackTexts, stored: Collection[str] = ()
    ) -> None:
        super().__init__()
        self._step, self._pack, self._stored = step, pack, stored

    @property
    def made(self) -> PackedTerms:
        """The terms, as they come."""
        return self._made

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        return asyncio.run(self.acall(nodes, **kwargs))

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        packing = asyncio.create_task(self._pack_new(nodes))
        try:
            done = await self._step.acall(nodes, **kwargs)
            await packing
        finally:
            packing.cancel()
            await asyncio.gather(packing, return_exceptions=True)
        return done

    async def _pack_new(self, nodes: Sequence[BaseNode]) -> None:
        new = [node for node in nodes if node.node_id not in self._stored]
        if len(new) >= LEAST_CHUNKS and not self._made:
            texts = await asyncio.to_thread(lambda: [text_of(node) for node in new])
            self._made.update(await self._pack(texts))
