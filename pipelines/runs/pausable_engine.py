"""The durable engine of a worker: awake while there is work, gone while there is none.

Awake it asks the database for work some dozens of times a second, which is how it hands a file on
within a tenth of one. At rest nothing of it is left; waking it again takes a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Self


class PausableEngine:
    """Opens ``engine`` when the block starts and whenever it is woken; closed with the block."""

    def __init__(self, engine: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self._engine = engine
        self._exit_stack: AsyncExitStack | None = None

    @property
    def is_awake(self) -> bool:
        """True where the engine looks for work."""
        return self._exit_stack is not None

    async def wake(self) -> None:
        """Open it, unless it is open.

        Raises:
            StoreUnavailable: the database is away, or has no place for it.
        """
        if self._exit_stack is None:
            async with AsyncExitStack() as opening:
                await opening.enter_async_context(self._engine())
                self._exit_stack = opening.pop_all()

    async def rest(self) -> None:
        """Close it; what it had under way stays where it is, for the next that wakes."""
        exit_stack, self._exit_stack = self._exit_stack, None
        if exit_stack is not None:
            await exit_stack.aclose()

    async def __aenter__(self) -> Self:
        await self.wake()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.rest()
