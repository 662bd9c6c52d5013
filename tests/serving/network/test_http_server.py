"""The server's main loop: it rests between signals, and a signal ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any

import pytest
import uvicorn
import uvloop
from fastapi import FastAPI
from sse_starlette.sse import AppStatus

from helix.errors import SettingsError
from helix.serving.middleware import OneLineStartup
from helix.serving.network import http_server
from helix.serving.network.http_server import HttpServer, serve_http
from helix.serving.network.sockets import bind


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


@pytest.mark.parametrize("loop", [asyncio.run, uvloop.run])
def test_a_port_that_another_took_meanwhile_ends_the_start_in_order(
    loop: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    told: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(2):
            told.append((await receive())["type"])
            await send({"type": f"{told[-1]}.complete"})

    first = bind("127.0.0.1", 0)
    port = first[0].getsockname()[1]
    second = bind("127.0.0.1", port)  # nobody listens there yet
    with first[0], second[0]:
        first[0].listen()
        config = uvicorn.Config(application, port=port, log_level="error")
        server = HttpServer(config, lambda: None)
        with pytest.raises(SettingsError, match=f"^port {port} is in use: "):
            loop(server.serve(second))
    assert told == ["lifespan.startup", "lifespan.shutdown"]


async def test_signal_before_the_main_loop_ends_it_too() -> None:
    server = CountedServer(uvicorn.Config(_application), lambda: None)
    server.handle_exit(signal.SIGTERM, None)
    await server.main_loop()
    assert server.ticks == 1


@pytest.mark.parametrize("fails", [True, False])
def test_of_a_start_that_fails_one_line_is_told(
    fails: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if fails:
            raise SettingsError("X is not set: set it")
        yield

    application = FastAPI(lifespan=lifespan)
    application.add_middleware(OneLineStartup)
    monkeypatch.setattr(http_server, "allow_descriptors", lambda: None)
    interrupted = partial(signal.raise_signal, signal.SIGINT)
    sockets = bind("127.0.0.1", 0)
    with pytest.raises(SystemExit, match="3") if fails else nullcontext():
        assert serve_http(application, "127.0.0.1", sockets, interrupted, "info")
    told = capsys.readouterr().err.splitlines()
    if fails:
        assert told == ["ERROR:    start failed: X is not set: set it"]
    else:
        assert told[0] == "INFO:     Shutting down"
