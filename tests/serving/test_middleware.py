"""Middleware: a start that fails fails, and an unexpected error is a 500 with an id."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from helix.errors import HelixError, SettingsError
from helix.serving.middleware import OneLineStartup, RequestLog


async def _start(error: Exception) -> list[Message]:
    """The messages to a server when the application's start fails as Starlette reports it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "lifespan.startup.failed", "message": "Traceback (most recent…"})
        raise error

    heard: list[Message] = []

    async def send(message: Message) -> None:
        heard.append(message)

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    await OneLineStartup(app)({"type": "lifespan"}, receive, send)
    return heard


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SettingsError("X is not set: set it"), "start failed: X is not set: set it"),
        (RuntimeError("secret detail"), "start failed: RuntimeError"),
    ],
)
async def test_a_failed_start_is_one_line(error: Exception, told: str) -> None:
    assert await _start(error) == [{"type": "lifespan.startup.failed", "message": told}]


async def test_an_unexpected_error_is_a_500_with_an_id(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError("secret detail")

    heard: list[Any] = []

    async def send(message: Message) -> None:
        heard.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/x", "raw_path": b"/x", "headers": []}
    await RequestLog(app)(scope, receive, send)
    start, body = heard
    assert start["status"] == 500
    assert b"x-request-id" in dict(start["headers"])
    assert body["body"] == b'{"error":"internal error"}'
    assert "ZeroDivisionError" in caplog.text


def test_the_root_of_errors_is_a_500() -> None:
    assert HelixError("x").status == 500
