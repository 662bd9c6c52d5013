"""Random readers, documents and routes against a plain model of who may read what as it changes.

The model is three dictionaries. A list tells of every document whether it may be read, so that each
counts once; a route by id tells of one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest

from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.records import DocumentRecord
from helix.domain.tables import Table
from helix.library.keys import KEY_SCOPES, create_key
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.support.fake_embedder import nodes_of, opened
from tests.support.live_server import OFFLINE, live

TENANT = "model"
DOCUMENTS, SPACES, READERS = 40, 7, 6
WORDS = "The harbour master keeps the register of ships"
NEVER = 987_654_321


@dataclass
class Model:
    """The spaces of documents, those of readers, and the members of groups that readers are of."""

    documents: dict[int, set[int]] = field(default_factory=dict)
    chunks: dict[int, int] = field(default_factory=dict)
    readers: dict[str, set[int] | None] = field(default_factory=dict)

    def may_read(self, reader: str, document: int, space: int | None = None) -> bool:
        """True if the model says so; in ``space`` alone, if one is named."""
        own, stands_in = self.readers[reader], self.documents[document]
        return (own is None or bool(own & stands_in)) and (space is None or space in stands_in)

    def readable(self, reader: str, space: int | None = None) -> set[int]:
        """All documents that may be read."""
        return {number for number in self.documents if self.may_read(reader, number, space)}

    def opens(self, reader: str, space: int) -> bool:
        """True if the reader may read the space itself."""
        own = self.readers[reader]
        return own is None or space in own


@dataclass(frozen=True)
class World:
    """A server over a database that is as the model says."""

    client: httpx.Client
    connection: psycopg.Connection
    model: Model
    keys: dict[str, str]

    def get(self, reader: str, path: str, **params: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[reader]}"}
        return self.client.get(path, params=params or None, headers=headers)

    def post(self, reader: str, path: str, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[reader]}"}
        return self.client.post(path, json=body, headers=headers)


@pytest.fixture(scope="module")
def world(module_database_url: str) -> Iterator[World]:
    url = module_database_url
    settings = load_settings(database_url=url, **OFFLINE)
    model, keys = Model(), {}
    asyncio.run(_store(url, build_embedder(settings), model))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO spaces (tenant_id, id, name) SELECT %s, n, 'Space ' || n"
            " FROM generate_series(1, %s) n", (TENANT, SPACES - 1),
        )  # fmt: skip
        for number in range(READERS):
            _, keys[f"reader {number}"] = create_key(connection, TENANT, f"reader {number}",
                                                     KEY_SCOPES)  # fmt: skip
            model.readers[f"reader {number}"] = None
        limits = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}
        with live(url, auth="keys", **limits) as client:
            yield World(client, connection, model, keys)


async def _store(url: str, embedder: Embedder, model: Model) -> None:
    async with opened(url, embedder.identity) as store:
        own = store.of(TENANT)
        for number in range(DOCUMENTS):
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
            model.documents[written.document_id] = {0}
            model.chunks[written.document_id] = int(rows[0]["first"])


# --- changes, of the database and of the model alike


def _move(world: World, rng: random.Random) -> None:
    document = rng.choice(list(world.model.documents))
    spaces = set(rng.sample(range(SPACES), rng.randint(1, 3)))
    world.connection.execute(
        "UPDATE documents SET spaces = %s WHERE id = %s", (sorted(spaces), document)
    )
    world.model.documents[document] = spaces


def _limit(world: World, rng: random.Random) -> None:
    reader = rng.choice(list(world.keys))
    spaces = None if rng.random() < 0.1 else set(rng.sample(range(SPACES), rng.randint(0, 4)))
    world.connection.execute(
        "UPDATE api_keys SET space_ids = %s WHERE name = %s",
        (None if spaces is None else sorted(spaces), reader),
    )
    world.model.readers[reader] = spaces


def _place(world: World, rng: random.Random) -> None:
    """Over HTTP, as somebody who may or may not."""
    reader, space = rng.choice(list(world.keys)), rng.randrange(SPACES)
    document, verb = rng.choice(list(world.model.documents)), rng.choice(["add", "move", "remove"])
    told = world.post(reader, f"/v1/spaces/{space}/documents", **{verb: [document]})
    stands_in, own = world.model.documents[document], world.model.readers[reader]
    if not world.model.opens(reader, space):
        assert told.status_code == 404
        return
    (outcome,) = told.json()["documents"]
    leaves = {space} if verb == "remove" else set()
    if verb == "move":
        leaves = (stands_in if own is None else own) - {space}
    after = (stands_in | ({space} if verb != "remove" else set())) - leaves
    may = world.model.may_read(reader, document)
    assert (outcome["error"] is None) == (may and bool(after)), (reader, space, verb, outcome)
    if may and after:
        world.model.documents[document] = after


# --- reads; each returns how many triples it has compared


def _listed(world: World, rng: random.Random, reader: str) -> int:
    space = rng.choice([None, *range(SPACES)])
    params = {} if space is None else {"space": space}
    path = rng.choice(["/v1/documents", "/v1/library/ids"])
    told = world.get(reader, path, **params, **({"limit": 200} if "ids" not in path else {}))
    if space is not None and not world.model.opens(reader, space):
        assert told.status_code == 404
        return 1
    body = told.json()
    found = set(body["ids"]) if "ids" in path else {row["id"] for row in body["documents"]}
    assert found == world.model.readable(reader, space), (reader, space, path)
    if "ids" not in path:
        assert body["total"] == len(found)
    return DOCUMENTS


def _counted(world: World, _: random.Random, reader: str) -> int:
    own = world.model.readable(reader)
    assert world.get(reader, "/v1/library").json()["total"] == len(own)
    assert world.get(reader, "/v1/privacy").json()["stored"]["documents"] == len(own)
    return DOCUMENTS


def _searched(world: World, rng: random.Random, reader: str) -> int:
    space = rng.choice([None, *range(SPACES)])
    params = {} if space is None else {"space": space}
    told = world.get(reader, "/v1/search", q=WORDS, top_k=50, **params)
    if space is not None and not world.model.opens(reader, space):
        assert told.status_code == 404
        return 1
    found = {row["document_id"] for row in told.json()["results"]}  # 50 at most: all there are
    assert found == world.model.readable(reader, space), (reader, space)
    return DOCUMENTS


def _asked(world: World, rng: random.Random, reader: str) -> int:
    document = rng.choice(list(world.model.documents))
    told = world.post(reader, "/v1/query", question=f"Who keeps the register? {WORDS}",
                      document_ids=[document], debug=True).json()  # fmt: skip
    may = world.model.may_read(reader, document)
    assert bool(told["citations"]) == may, (reader, document, told)
    assert (told["reason"] in ("filtered_empty", "no_documents")) != may
    return 1


def _by_id(path: Callable[[Model, int], str]) -> Callable[[World, random.Random, str], int]:
    def read(world: World, rng: random.Random, reader: str) -> int:
        document = rng.choice(list(world.model.documents))
        told = world.get(reader, path(world.model, document))
        assert (told.status_code == 200) == world.model.may_read(reader, document)
        if told.status_code != 200:
            assert told.status_code == 404 and "pier" not in told.text.lower()
        return 1

    return read


READS: list[tuple[int, Callable[[World, random.Random, str], int]]] = [
    (3, _listed),
    (1, _counted),
    (3, _searched),
    (1, _asked),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/pages")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/tables")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/boxes?start=0&end=9")),
    (1, _by_id(lambda model, number: f"/v1/chunks/{model.chunks[number]}")),
]
CHANGES = [_move, _move, _limit, _place]


def _compare(world: World, triples: int, seed: int) -> int:
    rng = random.Random(seed)
    weights, reads = zip(*READS, strict=True)
    done = 0
    while done < triples:
        rng.choice(CHANGES)(world, rng)
        for _ in range(rng.randint(1, 3)):
            (read,) = rng.choices(reads, weights)
            done += read(world, rng, rng.choice(list(world.keys)))
    return done


@pytest.mark.parametrize(
    "triples", [2_000, pytest.param(1_000_000, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])]
)
def test_nobody_reads_more_or_less_than_the_model_says(world: World, triples: int) -> None:
    assert _compare(world, triples, seed=triples) >= triples
