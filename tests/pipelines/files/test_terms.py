"""Terms are made beside the embedding: of many new chunks, once, and never past its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.schema import BaseNode, TextNode, TransformComponent

from pipelines.files.terms import LEAST_CHUNKS, TermsBeside

NODES = [TextNode(id_=f"n{n}", text=f"Text {n}.", metadata={"title": "T"}) for n in range(20)]


class Step(TransformComponent):
    """Hands its nodes on, or fails."""

    fails: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        return nodes

    async def acall(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        await asyncio.sleep(0)
        if self.fails:
            raise RuntimeError
        return nodes


async def test_the_terms_of_what_is_new_are_made_once() -> None:
    asked: list[Sequence[str]] = []

    async def pack(texts: Sequence[str]) -> dict[bytes, bytes]:
        asked.append(texts)
        return {text.encode(): b"terms" for text in texts}

    beside = TermsBeside(Step(), pack, stored={"n3"})
    for _ in range(2):
        assert await beside.acall(NODES) == NODES
    new = [f"T\nText {n}." for n in range(20) if n != 3]
    assert asked == [new]
    assert list(beside.made) == [text.encode() for text in new]
    few = TermsBeside(Step(), pack, stored={f"n{n}" for n in range(20 - LEAST_CHUNKS + 1)})
    await few.acall(NODES)
    assert asked == [new]


async def test_a_step_that_fails_ends_the_making_too() -> None:
    async def pack(_: Sequence[str]) -> dict[bytes, bytes]:
        await asyncio.Event().wait()
        return {}

    with pytest.raises(RuntimeError):
        await TermsBeside(Step(fails=True), pack).acall(NODES)
    assert asyncio.all_tasks() == {asyncio.current_task()}
