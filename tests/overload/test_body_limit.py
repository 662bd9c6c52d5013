"""JSON bodies have a limit, whatever they say of their length and type."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Message

from helix.overload.limits import limit_body
from helix.serving.authentication import ApiRoute
from tests.support.live_server import live

LIMIT = ApiRoute.max_body_bytes or 0
ROUTES = [
    ("POST", f"/v1/answers/{'0' * 32}/feedback"),
    ("POST", "/v1/documents/url"),
    ("PATCH", "/v1/documents/1"),
    ("POST", "/v1/query"),
]


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("declares_its_length", [True, False])
@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data; boundary=b"])
def test_a_long_body_is_refused(
    client: httpx.Client, method: str, path: str, declares_its_length: bool, content_type: str
) -> None:
    sent = b'{"note":"' + b"x" * LIMIT + b'"}'
    content = sent if declares_its_length else iter((sent[:9], sent[9:]))
    headers = {"Content-Type": content_type}
    response = client.request(method, path, content=content, headers=headers)
    assert response.status_code == (400 if path == "/v1/query" else 413)  # it has its contract
    assert "the body is larger than" in response.json()["error"]


class _TooLongError(Exception):
    pass


def _request(receive: object, **headers: str) -> Request:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": raw}, receive)  # type: ignore[arg-type]


async def test_no_more_than_the_limit_is_read() -> None:
    async def endless() -> Message:
        return {"type": "http.request", "body": b"x" * 2**16, "more_body": True}

    taken = 0
    with pytest.raises(_TooLongError):
        async for part in limit_body(_request(endless), LIMIT, _TooLongError()).stream():
            taken += len(part)
    assert LIMIT - 2**16 <= taken <= LIMIT


@pytest.mark.parametrize("length", [str(LIMIT + 1), "9" * 5000])
async def test_nothing_of_a_body_that_declares_too_much_is_read(length: str) -> None:
    async def unread() -> Message:
        raise AssertionError("the body was read")

    request = _request(unread, **{"content-length": length})
    with pytest.raises(_TooLongError):
        await limit_body(request, LIMIT, _TooLongError()).body()
