"""Middleware: a start that fails fails, and an unexpected error is a 500 with an id."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from helix.errors import HelixError, SettingsError
from helix.serving.middleware import OneLineStartup, OwnPagesOnly, RequestLog


async def _start(error: Exception) -> list[Message]:
    """What a server hears when the application's start fails as Starlette reports it."""

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


@pytest.mark.parametrize(
    ("method", "site", "origin", "allowed", "passes"),
    [
        ("POST", b"cross-site", b"https://evil.example", (), False),
        ("DELETE", b"cross-site", b"https://evil.example", ("https://app.example",), False),
        ("POST", b"cross-site", b"https://app.example", ("https://app.example",), True),
        ("POST", b"cross-site", b"https://any.example", ("*",), True),
        ("POST", b"same-origin", b"https://evil.example", (), True),
        ("POST", None, None, (), True),  # no browser
        ("GET", b"cross-site", b"https://evil.example", (), True),
    ],
)
async def test_another_sites_page_changes_nothing(
    method: str, site: bytes | None, origin: bytes | None, allowed: tuple[str, ...], passes: bool
) -> None:
    reached: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["method"])

    heard: list[Message] = []

    async def send(message: Message) -> None:
        heard.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    given = ((b"sec-fetch-site", site), (b"origin", origin))
    headers = [(name, value) for name, value in given if value]
    scope = {"type": "http", "method": method, "path": "/v1/documents", "headers": headers}
    await OwnPagesOnly(app, allowed)(scope, receive, send)
    assert bool(reached) == passes
    assert [message["status"] for message in heard[:1]] == ([] if passes else [403])
