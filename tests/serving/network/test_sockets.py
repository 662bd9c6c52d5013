"""The sockets of a server: bound first, on every address of a name, or a reason in one line."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import uvloop

from helix.errors import SettingsError
from helix.serving.network.sockets import ACCEPTED_AT_ONCE, accepting, bind


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_free_port_is_the_same_on_every_address_of_a_name(opened: ExitStack) -> None:
    found = [opened.enter_context(each) for each in bind("localhost", 0)]
    [port] = {each.getsockname()[1] for each in found}
    assert port and "127.0.0.1" in [each.getsockname()[0] for each in found]
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port)):
        pass  # nobody listens yet


def test_a_port_in_use_is_told(opened: ExitStack) -> None:
    other = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = other.getsockname()[1]
    with pytest.raises(SettingsError, match=f"^port {port} is in use: .*--port"):
        bind("127.0.0.1", port)


@pytest.mark.parametrize("host", ["203.0.113.7", "not an address"])
def test_an_address_of_another_machine_is_told(host: str) -> None:
    with pytest.raises(SettingsError, match=f"^--host {host} is not "):
        bind(host, 0)


def test_many_connections_are_accepted_in_one_turn_of_the_loop() -> None:
    assert 1 <= uvloop.run(_turns_to_accept_many()) <= 4


async def _turns_to_accept_many() -> int:
    """The turns of the loop in which ACCEPTED_AT_ONCE waiting connections are accepted."""
    loop, taken = asyncio.get_running_loop(), 0

    class Counting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            nonlocal taken
            taken += 1

    listener = socket.create_server(("127.0.0.1", 0))
    with ExitStack() as stack:
        for each in accepting([listener]):
            server = await loop.create_server(Counting, sock=each)
            stack.callback(server.close)
        for _ in range(ACCEPTED_AT_ONCE):
            stack.enter_context(socket.create_connection(listener.getsockname()))
        turns = 0
        while taken < ACCEPTED_AT_ONCE:
            turns += 1
            await asyncio.sleep(0)
    return turns


def test_a_process_that_starts_leaves_the_shared_socket_as_it_is(opened: ExitStack) -> None:
    """Its mode belongs to all processes: one that waits in accept does nothing else meanwhile."""
    shared = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    shared.setblocking(False)  # as the event loop of a running process has it
    started = opened.enter_context(socket.socket(fileno=shared.dup().detach()))
    for each in accepting([started])[1:]:
        opened.enter_context(each)
    assert not os.get_blocking(shared.fileno())
