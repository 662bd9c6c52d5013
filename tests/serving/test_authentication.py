"""A request without a key is refused before its body is read, on every route that has a body."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from tests.support.live_server import live


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url, auth="keys", public="docs") as client:
        yield client


def _routes(client: httpx.Client) -> list[tuple[str, str]]:
    """Method and path of every operation of the OpenAPI document that takes a body."""
    paths = client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), re.sub(r"{\w+}", "1", path))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    ]


def _status_before_the_body(
    client: httpx.Client, method: str, path: str, kind: str, more: str = ""
) -> int:
    """The status of a request whose head alone is sent; a timeout where the body is awaited."""
    address = (client.base_url.host, client.base_url.port or 80)
    with socket.create_connection(address, timeout=20) as connection:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n{more}"
        connection.sendall((head + "Content-Length: 1000\r\n\r\n").encode())
        return int(connection.recv(4096).split()[1])


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b"])
def test_the_key_is_checked_before_the_body_is_read(client: httpx.Client, kind: str) -> None:
    routes = _routes(client)
    assert {("POST", "/v1/query"), ("POST", "/v1/documents/url"), ("PATCH", "/v1/documents/1"),
            ("POST", "/v1/documents"), ("POST", "/ask-image")} <= set(routes)  # fmt: skip
    for method, path in routes:
        assert _status_before_the_body(client, method, path, kind) == 401, path


def test_scope_and_limits_are_checked_before_the_body_is_read(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        _, secret = create_key(connection, "acme", scopes=["read"])
    shown = f"Authorization: Bearer {secret}\r\n"
    with live(database_url, auth="keys", public="docs", address_requests=60) as client:
        for method, path in _routes(client):
            told = _status_before_the_body(client, method, path, "application/json", shown)
            assert told == 403, path
        while client.get("/v1/about").status_code != 429:
            continue
        kind = "multipart/form-data; boundary=b"
        assert _status_before_the_body(client, "POST", "/v1/documents", kind, shown) == 429
