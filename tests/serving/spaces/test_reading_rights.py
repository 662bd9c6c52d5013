"""A right to read that is taken away while an answer is written: it ends with an error."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import psycopg
import pytest

from helix.answering import reading_right
from helix.library.keys import access_of_key, create_key, revoke_key
from helix.serving import authentication, mcp_endpoint
from tests.serving.spaces.conftest import TENANT, Spaces
from tests.support.tenant_requests import ASKED, QUESTION
from tests.support.tenants import marker


def _at_look(
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    action: Callable[[], None],
    entrance: ModuleType = authentication,
) -> None:
    """Have ``action`` done before the key is looked at for the ``number``th time."""
    monkeypatch.setattr(reading_right, "LOOK_SECONDS", 0.0)
    looks = itertools.count(1)
    look = access_of_key

    async def watched(store: Any, secret: str) -> Any:
        if next(looks) == number:
            await asyncio.to_thread(action)
        return await look(store, secret)

    monkeypatch.setattr(entrance, "access_of_key", watched)


def _revoke(connection: psycopg.Connection, number: int) -> None:
    assert revoke_key(connection, number)


@contextmanager
def _taken(
    connection: psycopg.Connection, spaces: Spaces, lost: str, key: int
) -> Iterator[Callable[[], None]]:
    """Take the right to the document of Board away, by its key or its space; it is put back."""
    place = "UPDATE documents SET spaces = ARRAY[%s::bigint] WHERE id = %s"

    def take() -> None:
        if lost == "key":
            _revoke(connection, key)
        else:
            connection.execute(place, (0, spaces.secret.document))

    try:
        yield take
    finally:
        connection.execute(place, (spaces.board, spaces.secret.document))


@pytest.mark.parametrize("lost", ["key", "document"])
@pytest.mark.parametrize("way", ["ask", "query", "chat", "conversation"])
def test_a_right_that_is_taken_away_ends_the_answer_at_the_next_frame(
    spaces: Spaces, module_database_url: str, monkeypatch: pytest.MonkeyPatch, lost: str, way: str
) -> None:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        number, secret = create_key(connection, TENANT, spaces=["Board"])
        headers = {"Authorization": f"Bearer {secret}"}

        requests: dict[str, tuple[str, dict[str, Any]]] = {
            "ask": ("/ask", {"params": {"q": QUESTION}}),
            "query": ("/v1/query", {"json": {"question": QUESTION, "stream": True}}),
            "chat": ("/v1/chat/completions", {"json": {**ASKED, "stream": True}}),
            "conversation": (
                "/v1/query",
                {"json": {"question": QUESTION, "stream": True,
                          "conversation_id": f"of {lost} and {number}"}},
            ),
        }  # fmt: skip
        path, sent = requests[way]
        method = "GET" if way == "ask" else "POST"
        with _taken(connection, spaces, lost, number) as take:
            _at_look(monkeypatch, 3, take)
            told = spaces.client.request(method, path, headers=headers, **sent)
    assert told.status_code == 200, told.text
    assert "event: citations" not in told.text and '"citations"' not in told.text
    if way in ("query", "chat"):
        assert "may not be read any more: ask again" in told.text


@pytest.mark.parametrize("lost", ["key", "document"])
def test_an_answer_by_a_tool_ends_when_the_right_to_it_is_taken_away(
    spaces: Spaces, module_database_url: str, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    called = {"name": "ask", "arguments": {"question": QUESTION}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    accepted = {"Accept": "application/json, text/event-stream"}
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        number, secret = create_key(connection, TENANT, spaces=["Board"])
        headers = accepted | {"Authorization": f"Bearer {secret}"}
        before = spaces.client.post("/mcp", json=body, headers=headers)
        assert marker(TENANT) in before.text, before.text

        with _taken(connection, spaces, lost, number) as take:
            _at_look(monkeypatch, 3, take, mcp_endpoint)
            told = spaces.client.post("/mcp", json=body, headers=headers)
    assert told.status_code == 200 and marker(TENANT) not in told.text, told.text
    assert "may not be read any more: ask again" in told.text


def test_a_right_that_was_taken_away_before_the_first_word_is_a_refusal(
    spaces: Spaces, module_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        number, secret = create_key(connection, TENANT, spaces=["Board"])
        _at_look(monkeypatch, 2, lambda: _revoke(connection, number))
        headers = {"Authorization": f"Bearer {secret}"}
        told = spaces.client.get("/ask", params={"q": QUESTION}, headers=headers)
    assert told.status_code == 403
    assert told.json() == {
        "error": "what this answer is written from may not be read any more: ask again"
    }
