"""An event loop in a thread of its own, for code that has none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar

from helix.client.errors import CLOSED
from helix.errors import BadRequest

T = TypeVar("T")


class EventLoop:
    """Runs coroutines for callers that block. Its thread is a daemon: a program may exit without
    closing it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="helix-client", daemon=True
        )
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """True once it is closed: nothing can be run, and nothing is open."""
        return self._loop.is_closed()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; an interrupt of the caller, such as Ctrl-C, cancels it.

        Raises:
            BadRequest: it is closed.
        """
        if self.is_closed:
            coroutine.close()
            raise BadRequest(CLOSED)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def each(self, generator: AsyncGenerator[T, None]) -> Iterator[T]:
        """The items of an asynchronous generator, which is closed when the iteration ends early."""

        async def following() -> list[T]:
            return [item] if (item := await anext(generator, _END)) is not _END else []  # type: ignore[list-item]

        try:
            while items := self.run(following()):
                yield items[0]
        finally:
            if not self.is_closed:
                self.run(_closed(generator))

    def close(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


_END = object()


async def _closed(generator: AsyncGenerator[Any, None]) -> None:
    await generator.aclose()
