"""A server over a database that is as the model says, and a client for each reader of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg

from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.records import DocumentRecord
from helix.domain.tables import Table
from helix.library.keys import KEY_SCOPES, create_key
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.support.fake_embedder import nodes_of, opened
from tests.support.live_server import OFFLINE, live
from tests.support.reading_model import (
    LIBRARY,
    PEOPLE,
    TENANT,
    Model,
    Person,
    Reader,
    add_groups,
)
from tests.support.sharing_model import Sharing

KEYS = 4
WORDS = "The harbour master keeps the register of ships"
PASSWORD = "correct horse"
UNLIMITED = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}


@dataclass(frozen=True)
class World:
    """The server's database and its model; ``numbers`` tells of a document which pier it is of."""

    connection: psycopg.Connection
    model: Model
    sharing: Sharing
    clients: dict[str, httpx.Client]
    nobody: httpx.Client
    numbers: dict[int, int] = field(default_factory=dict)

    def get(self, reader: Reader, path: str, **params: Any) -> httpx.Response:
        return self.clients[reader.name].get(path, params=params or None)

    def send(self, reader: Reader, method: str, path: str, **body: Any) -> httpx.Response:
        """A request with a body, or without one where nothing of it is named."""
        return self.clients[reader.name].request(method, path, json=body or None)

    def post(self, reader: Reader, path: str, **body: Any) -> httpx.Response:
        return self.send(reader, "POST", path, **body)

    def tool(self, reader: Reader, name: str, **arguments: Any) -> Any:
        """The result of a tool of MCP; None where it is an error."""
        called = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        accepted = {"Accept": "application/json, text/event-stream"}
        told = self.clients[reader.name].post("/mcp", json=body, headers=accepted)
        assert told.status_code == 200, told.text
        line = next(line for line in told.text.splitlines() if line.startswith("data: {"))
        result = json.loads(line.removeprefix("data: "))["result"]
        assert "pier" not in told.text.lower() or not result.get("isError"), told.text
        return None if result.get("isError") else result["structuredContent"]


@contextmanager
def model_world(url: str, documents: int) -> Iterator[World]:
    """A world of so many documents, in which everybody reads everything at first."""
    model = Model()
    embedder = build_embedder(load_settings(database_url=url, **OFFLINE))
    asyncio.run(_store(url, embedder, model, documents))
    with psycopg.connect(url, autocommit=True) as connection:
        secrets = dict(_add_readers(connection, model))
        add_groups(model, connection)
        with live(url, auth="accounts", public_link_days=30, **UNLIMITED) as client:
            clients = {
                each.name: _client(str(client.base_url), each, secrets) for each in model.readers
            }
            numbers = {document: n for n, document in enumerate(model.documents)}
            yield World(connection, model, Sharing(model), clients, client, numbers)
            for each in clients.values():
                each.close()


def _add_readers(connection: psycopg.Connection, model: Model) -> Iterator[tuple[str, str]]:
    """Keys and tokens with their secrets, all of which read everything at first."""
    stored = hashed(PASSWORD)
    for number in range(PEOPLE):
        email = f"person{number}@example.com"
        person = Person(add_person(connection, email, "", stored), email, "owner")
        set_role(connection, TENANT, person.id, person.role)
        model.people[email] = person
        model.readers.append(Reader(f"session {number}", "session", email))
        model.readers.append(Reader(f"token {number}", "token", email))
        yield (
            f"token {number}",
            create_key(connection, TENANT, f"token {number}", KEY_SCOPES, person_id=person.id)[1],
        )
    for number in range(KEYS):
        model.readers.append(Reader(f"key {number}", "key"))
        yield f"key {number}", create_key(connection, TENANT, f"key {number}", KEY_SCOPES)[1]
    model.limits = {each.name: None for each in model.readers if each.kind != "session"}


def _client(base: str, reader: Reader, secrets: dict[str, str]) -> httpx.Client:
    base = base.rstrip("/")
    limits = httpx.Limits(keepalive_expiry=2)  # before the server closes the connection
    if reader.kind != "session":
        headers = {"Authorization": f"Bearer {secrets[reader.name]}"}
        return httpx.Client(base_url=base, timeout=120, headers=headers, limits=limits)
    browser = httpx.Client(base_url=base, timeout=120, headers={"Origin": base}, limits=limits)
    told = browser.post("/v1/session", json={"email": reader.person, "password": PASSWORD})
    assert told.status_code == 200, told.text
    return browser


async def _store(url: str, embedder: Embedder, model: Model, documents: int) -> None:
    async with opened(url, embedder.identity) as store:
        own = store.of(TENANT)
        for number in range(documents):
            text = f"{WORDS} of pier {number}."
            words = pack_words([WordBox(0, len(text), 72, 72, 90, 90)])
            record = DocumentRecord(
                f"pier-{number}.txt", f"Pier {number}", "h", "t", text, "text", len(text),
                tables=(Table(0, len(text), ((),), ((text,),), ()),),
                pages=(PrintedPage(1, "", 595, 842, 0, len(text), (), words),),
            )  # fmt: skip
            nodes = nodes_of(record, record.source_uri)
            for node in nodes:
                node.embedding = embedder.model.get_text_embedding(node.text)
            written = await own.write(record, nodes)
            rows = await own.fetch(
                "SELECT min(id) AS first FROM chunks WHERE document_id = %(id)s",
                {"id": written.document_id},
            )
            model.documents[written.document_id] = {LIBRARY}
            model.chunks[written.document_id] = int(rows[0]["first"])
