"""Reads of documents by random readers, each compared with the model: lists, searches, tools, ids.

A list tells of every document whether it may be read, so that each counts once, as does each id of
a request about many; a route by id tells of one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import httpx

from tests.support.model_world import WORDS, World
from tests.support.reading_model import Model, Reader

MOST_FOUND = 50
"""Passages that a search returns at most, and each document has one."""
BOX = "left=72&top=72&right=90&bottom=90"
Read = Callable[[World, random.Random, Reader], int]
"""A request and its comparison; returns how many triples it has compared."""


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


READS: list[tuple[float, Read]] = [
    (3, _listed),
    (2, _ids),
    (1, _counted),
    (3, _searched),
    (1, _asked),
    (1, _called),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/pages")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/pages/1/text?{BOX}")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/tables")),
    (1, _by_id(lambda _, number: f"/v1/documents/{number}/boxes?start=0&end=9")),
    (1, _by_id(lambda model, number: f"/v1/chunks/{model.chunks[number]}")),
]
"""Reads, each with how often it is drawn."""
