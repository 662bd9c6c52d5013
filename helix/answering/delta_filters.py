"""Filters over the deltas of an answer, such as hygiene and the reader of blocks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol


class DeltaFilter(Protocol):
    """Is fed an answer's deltas, and gives what may be sent."""

    def feed(self, delta: str) -> str:
        """The text that can be sent now."""
        ...

    def end(self) -> str:
        """The text that was held back, now that nothing follows."""
        ...


async def filtered(
    deltas: AsyncGenerator[str, None], through: DeltaFilter
) -> AsyncGenerator[str, None]:
    """The text of ``deltas`` that the filter gives, in non-empty deltas; closes them too."""
    async with aclosing(deltas):
        async for delta in deltas:
            if passed := through.feed(delta):
                yield passed
        if passed := through.end():
            yield passed
