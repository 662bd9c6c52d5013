"""Look-ups of names that end in time, and that keep no other look-up waiting.

The system's resolver gives a silent name server 10 s and cannot be stopped. Event loops leave it to
a few threads: uvloop to two at a time, asyncio to those of ``asyncio.to_thread``. Eight abandoned
look-ups of one name kept the next one, of another name, waiting for 38 s under uvloop and for 8 s
under asyncio. Here each has a thread of its own, and the same name asked for again soon joins it.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import Future
from typing import Any

LOOK_UP_SECONDS = 5.0
"""Longest wait for one; psycopg, for instance, has no limit of its own."""
JOINED_SECONDS = 2.0
"""Age up to which a look-up is joined: one that was begun before a name server came back would
be answered up to 5 s later, when the resolver asks again."""

_Query = tuple[Any, ...]
"""The arguments of ``socket.getaddrinfo``, in its order."""


def bound_name_lookups(loop: asyncio.AbstractEventLoop) -> None:
    """Have what runs in ``loop`` look names up by ``NameLookups``."""
    loop.getaddrinfo = NameLookups().getaddrinfo  # type: ignore[method-assign]


class NameLookups:
    """The look-ups of one event loop.

    Args:
        patience: seconds that a caller waits at most.
    """

    def __init__(self, patience: float = LOOK_UP_SECONDS) -> None:
        self._patience = patience
        self._under_way: dict[_Query, tuple[float, Future[list[Any]]]] = {}

    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - as event loops call it
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """The addresses that ``socket.getaddrinfo`` gives.

        Raises:
            socket.gaierror: nobody knows the name, or no name server answered in time.
        """
        answer = self._look_up_or_join((host, port, family, type, proto, flags))
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            problem = f"no name server answered within {self._patience:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, problem) from None

    def _look_up_or_join(self, query: _Query) -> Future[list[Any]]:
        """The answer to ``query``: of a recent look-up that is under way, or of a new one."""
        began, answer = self._under_way.get(query, (0.0, None))
        if answer is not None and not answer.done() and time.monotonic() - began < JOINED_SECONDS:
            return answer
        answer = Future()
        answer.set_running_or_notify_cancel()  # who waits for it may leave, and it goes on
        self._under_way[query] = time.monotonic(), answer
        answer.add_done_callback(lambda _: self._forget(query, answer))
        # a daemon: nobody waits for it at the process's end
        threading.Thread(target=_look_up, args=(query, answer), daemon=True).start()
        return answer

    def _forget(self, query: _Query, answer: Future[list[Any]]) -> None:
        if self._under_way.get(query, (0.0, None))[1] is answer:
            del self._under_way[query]


def _look_up(query: _Query, answer: Future[list[Any]]) -> None:
    try:
        found = socket.getaddrinfo(*query)
    except BaseException as error:  # noqa: BLE001 - the caller's
        answer.set_exception(error)
    else:
        answer.set_result(found)
