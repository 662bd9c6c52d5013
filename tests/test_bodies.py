"""JSON bodies have a limit, whatever they say of their length."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from helix.bodies import MAX_BYTES, JsonLimit
from tests.live import live


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


JSON = {"Content-Type": "application/json"}
ROUTES = [
    ("POST", f"/v1/answers/{'0' * 32}/feedback"),
    ("POST", "/v1/documents/url"),
    ("PATCH", "/v1/documents/1"),
    ("POST", "/v1/query"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("says_its_length", [True, False])
def test_a_long_body_is_refused(
    client: httpx.Client, method: str, path: str, says_its_length: bool
) -> None:
    sent = b'{"note":"' + b"x" * MAX_BYTES + b'"}'
    content = sent if says_its_length else iter((sent[:9], sent[9:]))
    response = client.request(method, path, content=content, headers=JSON)
    assert response.status_code == 400 and response.json()["error"].count("\n") == 0


async def test_no_more_than_the_limit_reaches_a_route() -> None:
    came = 0

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal came
        while (message := await receive())["type"] == "http.request":
            came += len(message["body"])

    async def endless() -> Message:
        return {"type": "http.request", "body": b"x" * 2**16, "more_body": True}

    async def nowhere(message: Message) -> None:
        raise AssertionError("nothing is to be sent")

    await JsonLimit(route)(
        {"type": "http", "headers": [(b"content-type", b"a/b")]}, endless, nowhere
    )
    assert MAX_BYTES - 2**16 <= came <= MAX_BYTES
