"""A thread that nothing waits for: neither an event loop that closes nor the interpreter's end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[..., T], *arguments: Any) -> T:
    """The result of ``function(*arguments)``, which may take as long as a share has files.

    ``asyncio.to_thread`` would keep Ctrl-C waiting for its end. What it has written by then is
    whole transactions, and the step that it is of is done again.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[Any], None], value: object) -> None:
        if not done.done():
            outcome(value)

    def work() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            try:
                result = function(*arguments)
            except BaseException as error:  # noqa: BLE001 - whoever awaits it is told; a panic too
                loop.call_soon_threadsafe(settle, done.set_exception, error)
            else:
                loop.call_soon_threadsafe(settle, done.set_result, result)

    threading.Thread(target=work, daemon=True, name=function.__name__).start()
    return await done
