"""Random readers, documents and routes against a plain model of who may read what as it changes.

A reader is a key, or a person's token or session. A list tells of every document whether it may be
read, so that each counts once, as does each id of a request about many; a route by id tells of one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

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
    Changing,
    Model,
    Person,
    Reader,
    add_groups,
)

KEYS = 4
MOST_FOUND = 50
"""Passages that a search returns at most, and each document has one."""
BOX = "left=72&top=72&right=90&bottom=90"
WORDS = "The harbour master keeps the register of ships"
PASSWORD = "correct horse"
UNLIMITED = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}


_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class World:
    """A server over a database that is as the model says, and a client for each reader."""

    connection: psycopg.Connection
    model: Model
    clients: dict[str, httpx.Client]

    def get(self, reader: Reader, path: str, **params: Any) -> httpx.Response:
        return self.clients[reader.name].get(path, params=params or None)

    def post(self, reader: Reader, path: str, **body: Any) -> httpx.Response:
        return self.clients[reader.name].post(path, json=body)

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


@pytest.fixture
def world(database_url: str, request: pytest.FixtureRequest) -> Iterator[World]:
    """A world of as many documents as the parameter says."""
    url, model = database_url, Model()
    embedder = build_embedder(load_settings(database_url=url, **OFFLINE))
    asyncio.run(_store(url, embedder, model, request.param))
    with psycopg.connect(url, autocommit=True) as connection:
        secrets = dict(_add_readers(connection, model))
        add_groups(model, connection)
        with live(url, auth="accounts", **UNLIMITED) as client:
            clients = {
                each.name: _client(str(client.base_url), each, secrets) for each in model.readers
            }
            yield World(connection, model, clients)
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


# --- reads; each returns how many triples it has compared


Read = Callable[[World, random.Random, Reader], int]


def _some_space(world: World, rng: random.Random) -> tuple[int | None, dict[str, Any]]:
    space = rng.choice([None, None, *world.model.spaces])
    return space, {} if space is None else {"space": space}


def _is_shut(world: World, reader: Reader, space: int | None, told: httpx.Response) -> bool:
    """True if the space is none that the reader may read, and the answer says no more."""
    if space is None or world.model.opens(reader, space):
        assert told.status_code == 200, told.text
        return False
    assert told.status_code == 404 and "pier" not in told.text.lower()
    return True


def _listed(world: World, rng: random.Random, reader: Reader) -> int:
    space, params = _some_space(world, rng)
    found: list[int] = []
    while True:
        told = world.get(reader, "/v1/documents", limit=200, **params)
        if _is_shut(world, reader, space, told):
            return 1
        page = told.json()
        found += [row["id"] for row in page["documents"]]
        if page["next"] is None:
            break
        params["after"] = page["next"]
    assert sorted(found) == sorted(world.model.readable(reader, space)), (reader, space)
    assert page["total"] == len(found)
    return len(world.model.documents)


def _ids(world: World, rng: random.Random, reader: Reader) -> int:
    space, params = _some_space(world, rng)
    told = world.get(reader, "/v1/library/ids", **params)
    if _is_shut(world, reader, space, told):
        return 1
    assert set(told.json()["ids"]) == world.model.readable(reader, space), (reader, space)
    return len(world.model.documents)


def _counted(world: World, _: random.Random, reader: Reader) -> int:
    own = world.model.readable(reader)
    assert world.get(reader, "/v1/library").json()["total"] == len(own)
    assert world.get(reader, "/v1/privacy").json()["stored"]["documents"] == len(own)
    spaces = world.get(reader, "/v1/spaces").json()["spaces"]
    for row in spaces:
        assert row["documents"] == len(world.model.readable(reader, row["id"]))
    opened = {number for number in world.model.spaces if world.model.opens(reader, number)}
    assert {row["id"] for row in spaces} == opened
    return 2 + len(spaces)


def _searched(world: World, rng: random.Random, reader: Reader) -> int:
    space, params = _some_space(world, rng)
    among = rng.sample(list(world.model.documents), MOST_FOUND)
    if rng.random() < 0.3 and len(world.model.readable(reader, space)) <= MOST_FOUND:
        among = list(world.model.documents)
    else:
        params["document_id"] = among
    told = world.get(reader, "/v1/search", q=WORDS, top_k=MOST_FOUND, **params)
    if _is_shut(world, reader, space, told):
        return 1
    found = {row["document_id"] for row in told.json()["results"]}
    assert found == world.model.readable(reader, space) & set(among), (reader, space)
    return len(among)


def _asked(world: World, rng: random.Random, reader: Reader) -> int:
    document = rng.choice(list(world.model.documents))
    told = world.post(reader, "/v1/query", question=f"Who keeps the register? {WORDS}",
                      document_ids=[document], debug=True).json()  # fmt: skip
    may = world.model.may_read(reader, document)
    assert bool(told["citations"]) == may, (reader, document, told)
    assert (told["reason"] in ("filtered_empty", "no_documents")) != may
    return 1


def _called(world: World, rng: random.Random, reader: Reader) -> int:
    """A tool of MCP, which no session opens."""
    if reader.kind == "session":
        return 0
    document = rng.choice(list(world.model.documents))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("fetch", {"id": f"document:{document}"}),
        ("fetch", {"id": str(world.model.chunks[document])}),
        ("read_passage", {"document_id": document}),
    ]
    name, arguments = rng.choice(calls)
    told = world.tool(reader, name, **arguments)
    assert (told is not None) == world.model.may_read(reader, document), (reader, name, document)
    return 1


def _by_id(path: Callable[[Model, int], str]) -> Read:
    def read(world: World, rng: random.Random, reader: Reader) -> int:
        document = rng.choice(list(world.model.documents))
        told = world.get(reader, path(world.model, document))
        assert (told.status_code == 200) == world.model.may_read(reader, document)
        if told.status_code != 200:
            assert told.status_code == 404 and "pier" not in told.text.lower()
        return 1

    return read


# --- requests about many at once, which change what may be read, or nothing that counts here


def _outcomes(
    world: World, reader: Reader, told: httpx.Response, may: dict[int, bool]
) -> dict[int, bool]:
    """The documents that were changed, by the answer: those that ``may`` be, and no others."""
    assert told.status_code == 200, told.text
    done = {row["id"]: row["error"] is None for row in told.json()["documents"]}
    assert done == may, (reader, told.text)
    return done


def _labelled(world: World, rng: random.Random, reader: Reader) -> int:
    if world.model.is_editor(reader):
        return 0
    ids = rng.sample(list(world.model.documents), MOST_FOUND)
    told = world.post(reader, "/v1/documents/batch", action="label", ids=ids, add=["seen"])
    may = {number: world.model.may_change(reader, number) for number in ids}
    return max(1, len(_outcomes(world, reader, told, may)))


def _placed(world: World, rng: random.Random, reader: Reader) -> int:
    """In a space, moved there alone, or taken out of it."""
    model, verb = world.model, rng.choice(["add", "move", "remove"])
    if model.is_editor(reader):
        return 0
    space, ids = rng.choice(list(model.spaces)), rng.sample(list(model.documents), 10)
    told = world.post(reader, f"/v1/spaces/{space}/documents", **{verb: ids})
    if not model.opens(reader, space):
        assert told.status_code == 404
        return 1
    own, after = model.spaces_of(reader), {}
    for number in ids:
        stands_in = model.documents[number]
        leaves = {space} if verb == "remove" else set()
        if verb == "move":
            leaves = (stands_in if own is None else own) - {space}
        after[number] = (stands_in | ({space} if verb != "remove" else set())) - leaves
    may = {number: model.may_read(reader, number) and bool(after[number]) for number in ids}
    done = _outcomes(world, reader, told, may)
    model.documents |= {number: after[number] for number, is_done in done.items() if is_done}
    return max(1, len(done))


READS: list[tuple[int, Read]] = [
    (3, _listed),
    (2, _ids),
    (1, _counted),
    (3, _searched),
    (1, _asked),
    (1, _called),
    (1, _labelled),
    (1, _placed),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/pages")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/pages/1/text?{BOX}")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/tables")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/boxes?start=0&end=9")),
    (1, _by_id(lambda model, number: f"/v1/chunks/{model.chunks[number]}")),
]


def _compare(world: World, triples: int, seed: int) -> Counter[str]:
    rng = random.Random(seed)
    changing = Changing(world.model, world.connection, rng)
    weights, reads = zip(*READS, strict=True)
    done: Counter[str] = Counter()
    while done["triples"] < triples:
        changing.make()
        for _ in range(rng.randint(1, 3)):
            (read,) = rng.choices(reads, weights)
            done["triples"] += read(world, rng, rng.choice(world.model.readers))
            done["requests"] += 1
        done["changes"] += 1
        if done["changes"] % 1000 == 0:  # a full count is long, and tells how far it is
            _logger.warning("%s", dict(done))
    return done


@pytest.mark.parametrize(
    ("world", "triples"),
    [
        (60, 4_000),
        pytest.param(400, 1_000_000, marks=[pytest.mark.soak, pytest.mark.timeout(7200)]),
    ],
    indirect=["world"],
)
def test_nobody_reads_more_or_less_than_the_model_says(world: World, triples: int) -> None:
    done = _compare(world, triples, seed=triples)
    assert done["triples"] >= triples
