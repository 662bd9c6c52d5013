"""Refusals leave at moments that tell nothing of what was looked up before."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import httpx
import psycopg
import pytest

from helix.errors import BadRequest, NotFound
from helix.library import access
from helix.library.access import STEP, paced
from helix.library.keys import KEY_SCOPES, create_key
from helix.library.spaces import add_space
from tests.support.live_server import live, upload


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of refusals from now on, in seconds, none of which takes any."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(access, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    return waited


@pytest.mark.parametrize("took", [0.0, 0.0014, 0.0199, 0.0201, 0.5])
def test_a_refusal_waits_for_the_next_moment(
    monkeypatch: pytest.MonkeyPatch, waits: list[float], took: float
) -> None:
    clock = iter([100.0, 100.0 + took])
    monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: next(clock)))

    async def refused() -> None:
        async with paced():
            raise NotFound("there is no such thing")

    with pytest.raises(NotFound):
        asyncio.run(refused())
    (waited,) = waits
    assert 0 < waited <= STEP + 1e-9
    steps = (took + waited) / STEP
    assert abs(steps - round(steps)) < 1e-6


@pytest.mark.parametrize("error", [None, BadRequest("no"), ValueError("no")])
def test_nothing_else_waits(waits: list[float], error: Exception | None) -> None:
    async def done() -> None:
        async with paced():
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            asyncio.run(done())
    else:
        asyncio.run(done())
    assert waits == []


def test_hidden_and_missing_wait_alike_on_every_way_in(
    database_url: str, waits: list[float]
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        space = add_space(connection, "acme", "Board")
        _, own = create_key(connection, "acme", scopes=KEY_SCOPES, spaces=["Library"])
        _, every = create_key(connection, "acme", scopes=KEY_SCOPES)
    with live(database_url, auth="keys") as client:
        client.headers["Authorization"] = f"Bearer {every}"
        told = upload(client, b"Kept words.", "kept.txt", space=str(space)).json()
        kept = told["documents"][0]["id"]
        assert client.get(f"/v1/documents/{kept}").status_code == 200
        client.headers["Authorization"] = f"Bearer {own}"
        assert client.get("/v1/documents").status_code == 200
        assert waits == []
        for number in (kept, 987654321):
            assert client.get(f"/v1/documents/{number}").status_code == 404
            assert client.get(f"/v1/documents?space={number}").status_code == 404
            assert _fetched(client, number)["isError"]
            assert len(waits) == 3
            waits.clear()


def _fetched(client: httpx.Client, document: int) -> dict[str, object]:
    called = {"name": "fetch", "arguments": {"id": f"document:{document}"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    accepted = {"Accept": "application/json, text/event-stream"}
    told = client.post("/mcp", json=body, headers=accepted)
    line = next(line for line in told.text.splitlines() if line.startswith("data: {"))
    return dict(json.loads(line.removeprefix("data: "))["result"])


def test_a_server_without_keys_keeps_nothing_from_anybody(
    database_url: str, waits: list[float]
) -> None:
    with live(database_url) as client:
        assert client.get("/v1/documents/987654321").status_code == 404
    assert waits == []
