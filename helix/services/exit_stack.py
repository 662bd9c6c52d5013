"""Objects that a process opens are closed by the exit stack that was open when they were made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Protocol, TypeVar


class Closable(Protocol):
    """An object that holds connections, threads or processes until it is closed."""

    @property
    def aclose(self) -> Callable[[], Awaitable[None]]:
        """Ends them."""
        ...


Opened = TypeVar("Opened", bound=Closable)


def closed_by(stack: AsyncExitStack, opened: Opened) -> Opened:
    """``opened``, which ``stack`` closes before everything that it was given earlier."""
    stack.push_async_callback(opened.aclose)
    return opened
