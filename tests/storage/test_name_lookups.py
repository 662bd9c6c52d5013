"""Names whose server is silent: their look-ups end in time, and hold up no other."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
import uvloop

from helix.storage import name_lookups
from helix.storage.name_lookups import NameLookups, bound_name_lookups
from helix.storage.write_pool import BlockingRunner

Runner = Callable[[Coroutine[Any, Any, None]], None]
both_loops = pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]


@dataclass
class Resolver:
    """The system's: names of ``silent.test`` are answered once ``over`` is set, others at once."""

    over: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, *_: Any) -> list[Any]:
        self.asked.append(host)
        if host == "nobody.test":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if host == "silent.test":
            assert self.over.wait(60)
        return FOUND


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    found = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", found)
    yield found
    found.over.set()


async def _abandoned(loop: asyncio.AbstractEventLoop) -> None:
    """A look-up whose caller leaves while it is under way."""
    waiting = asyncio.create_task(loop.getaddrinfo("silent.test", 80))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@both_loops
def test_abandoned_look_ups_hold_up_no_other_name(run: Runner, resolver: Resolver) -> None:
    async def look_up() -> None:
        loop = asyncio.get_running_loop()
        bound_name_lookups(loop)
        for _ in range(20):
            await _abandoned(loop)
        assert await loop.getaddrinfo("known.test", 80) == FOUND
        assert await asyncio.to_thread(int) == 0  # nor the threads of others
        assert resolver.asked == ["silent.test", "known.test"]

    run(look_up())
    assert not resolver.over.is_set(), "the process's end waits for none"


@both_loops
def test_a_silent_name_server_is_an_error_in_time(run: Runner, resolver: Resolver) -> None:
    async def look_up() -> None:
        with pytest.raises(socket.gaierror, match=r"no name server answered within 0\.05 s"):
            await NameLookups(patience=0.05).getaddrinfo("silent.test", 80)

    run(look_up())


async def test_callers_share_an_answer_and_each_error_is_its_own(resolver: Resolver) -> None:
    lookups = NameLookups()
    asked = [asyncio.create_task(lookups.getaddrinfo("silent.test", 80)) for _ in range(3)]
    await asyncio.sleep(0)
    resolver.over.set()
    assert await asyncio.gather(*asked) == [FOUND] * 3
    assert resolver.asked == ["silent.test"]
    for _ in range(2):
        with pytest.raises(socket.gaierror, match="not known"):
            await lookups.getaddrinfo("nobody.test", 80)
    assert resolver.asked == ["silent.test", "nobody.test", "nobody.test"]  # nothing is kept


async def test_an_old_look_up_is_not_joined(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is begun when the name server is back is answered before it."""
    monkeypatch.setattr(name_lookups, "JOINED_SECONDS", 0.0)
    lookups = NameLookups()
    asked = [asyncio.create_task(lookups.getaddrinfo("silent.test", 80)) for _ in range(2)]
    await asyncio.sleep(0)
    resolver.over.set()
    await asyncio.gather(*asked)
    assert resolver.asked == ["silent.test"] * 2


def test_connections_of_blocking_code_are_bounded_too(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NameLookups.__init__, "__defaults__", (0.05,))
    runner = BlockingRunner()
    try:
        with pytest.raises(psycopg.OperationalError, match="no name server answered"):
            runner.run(psycopg.AsyncConnection.connect, "postgresql://silent.test/helix")
    finally:
        runner.close()
