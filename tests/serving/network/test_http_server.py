"""The server's main loop: it rests between signals, and a signal ends it at once."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
import uvicorn
from sse_starlette.sse import AppStatus

from helix.serving.network import http_server
from helix.serving.network.http_server import HttpServer


@pytest.fixture(autouse=True)
def _keep_event_streams_of_later_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a signal to a server leaves set in its process: every event stream would end."""
    monkeypatch.setattr(AppStatus, "should_exit", False)


class CountedServer(HttpServer):
    """Counts how often its main loop runs."""

    ticks = 0

    async def on_tick(self, counter: int) -> bool:
        """Count this run."""
        self.ticks += 1
        return await super().on_tick(counter)


async def _application(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("nobody asks")


async def test_main_loop_rests_until_a_signal_and_then_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_server, "_DATE_SECONDS", 600.0)
    server = CountedServer(uvicorn.Config(_application), lambda: None)
    running = asyncio.create_task(server.main_loop())

    await asyncio.sleep(0.4)
    assert server.ticks == 1
    dated = dict(server.server_state.default_headers)
    assert b"date" in dated

    server.handle_exit(signal.SIGTERM, None)
    async with asyncio.timeout(60):  # and does not wait for its next tick
        await running


async def test_date_of_responses_is_kept_true() -> None:
    server = CountedServer(uvicorn.Config(_application), lambda: None)
    running = asyncio.create_task(server.main_loop())
    await asyncio.sleep(0)
    first = dict(server.server_state.default_headers)[b"date"]

    await asyncio.sleep(2.2)
    assert dict(server.server_state.default_headers)[b"date"] != first

    server.handle_exit(signal.SIGTERM, None)
    await running


async def test_signal_before_the_main_loop_ends_it_too() -> None:
    server = CountedServer(uvicorn.Config(_application), lambda: None)
    server.handle_exit(signal.SIGTERM, None)
    await server.main_loop()
    assert server.ticks == 1
