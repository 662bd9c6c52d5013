"""Coroutines for code that cannot await, such as LlamaIndex's synchronous methods."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from threading import Lock
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from helix.errors import StoreUnavailable
from helix.storage.name_lookups import bound_name_lookups

_T = TypeVar("_T")


class BlockingRunner:
    """An event loop in a thread of its own, started by the first call and ended by ``close``.

    It is one loop for all calls, for connections belong to the loop that opened them. A caller that
    runs in an event loop itself blocks that loop, and is answered all the same.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def run(self, function: Callable[..., Awaitable[_T]], *arguments: Any) -> _T:
        """The result of ``function`` when it is awaited.

        Raises:
            RuntimeError: it is called from a coroutine that it runs itself, which would never end.
            StoreUnavailable: it is closed, or was made before this process was forked.
        """
        return self._started().call(function, *arguments)

    async def awaited(self, function: Callable[[], Awaitable[_T]]) -> _T:
        """``run`` for a coroutine of another event loop, which goes on meanwhile."""
        return await asyncio.wrap_future(self._started().start_task_soon(function))

    def _started(self) -> BlockingPortal:
        if self._process != os.getpid():  # neither its thread nor its connections come along
            raise StoreUnavailable("the store was opened before a fork: open one in each process")
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            if self._portal is None:
                portal = start_blocking_portal(name="helix-blocking")
                self._portal = self._stack.enter_context(portal)
                self._loop = self._portal.call(asyncio.get_running_loop)
                bound_name_lookups(self._loop)
        return self._portal

    def is_current(self) -> bool:
        """True if the caller is a coroutine that this runs."""
        return asyncio.get_running_loop() is self._loop

    def close(self) -> None:
        """Stop the thread; there is no other."""
        with self._lock:
            self._closed = True
        self._stack.close()
