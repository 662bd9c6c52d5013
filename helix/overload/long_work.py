"""Work whose length a stranger chooses: off the event loop where it may take more than a few ms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

LONG = 1_000
"""Characters from which work over a text goes to the thread; below, handing it over takes longer.

Judging takes 1 to 2 µs a character at most, so the event loop keeps about 2 ms.
"""

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
# One thread: only one of several would run, and each would keep the event loop waiting for its
# turn (5 ms, sys.getswitchinterval) whenever it goes on.
_thread = ThreadPoolExecutor(1, "helix-long-work")


async def off_loop_if_long(
    length: int, work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs
) -> _Result:
    """The result of ``work(*args, **kwargs)`` over ``length`` characters; raises what it raises."""
    return await off_loop(work, *args, **kwargs) if length >= LONG else work(*args, **kwargs)


async def off_loop(
    work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs
) -> _Result:
    """The result of ``work(*args, **kwargs)``, which takes long whatever its text; raises alike."""
    loop = asyncio.get_running_loop()
    call: Any = partial(copy_context().run, work, *args, **kwargs)
    result: _Result = await loop.run_in_executor(_thread, call)
    return result
