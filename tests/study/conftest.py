"""Two documents in a database of their own, and sets made of them without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from helix.library.access import Library, Row
from helix.store import ChunkStore
from helix.study.generation import NothingMade, make
from helix.study.item_storage import items_of
from helix.study.maker import Maker, OfflineMaker
from helix.study.sets import NewSet, add_set, get_set
from tests.support.fake_embedder import opened
from tests.support.query_service import a_store
from tests.support.study_texts import store_study_texts

EMBEDDER = "gemini:gemini-embedding-001:1536"
MakeSet = Callable[..., tuple[Row, list[Row]]]


@pytest.fixture
def store(database_url: str) -> Iterator[ChunkStore]:
    with a_store(database_url) as store:
        yield store


@pytest.fixture
def texts(store: ChunkStore) -> dict[str, int]:
    return store_study_texts(store)


@pytest.fixture
def make_set(store: ChunkStore, texts: dict[str, int]) -> MakeSet:
    """Makes a set of ``NewSet(**given)`` by ``maker`` and gives it with its items."""

    def made(maker: Maker | None = None, **given: Any) -> tuple[Row, list[Row]]:
        return asyncio.run(_make(store.connections.url, NewSet(**given), maker or OfflineMaker()))

    return made


async def _make(url: str, new: NewSet, maker: Maker) -> tuple[Row, list[Row]]:
    async with opened(url, EMBEDDER) as store:
        return await _made(store, new, maker)


async def _made(store: ChunkStore, new: NewSet, maker: Maker) -> tuple[Row, list[Row]]:
    library = Library(store)
    set_id = await library.change(lambda connection: add_set(connection, store.tenant, new))

    async def going_on(_: str) -> bool:
        return True

    with suppress(NothingMade):  # the set's ``dropped`` says why
        assert await make(library, set_id, maker, going_on)
    items = await library.change(lambda connection: items_of(connection, store.tenant, set_id))
    return await get_set(library, set_id), items


def carried_out(url: str, set_id: int) -> None:
    """Make a set of the tenant ``halden`` that is ordered, as a worker does."""

    async def carry_out() -> None:
        async def going_on(_: str) -> bool:
            return True

        async with opened(url, EMBEDDER) as store:
            library = Library(store.of("halden"))
            assert await make(library, set_id, OfflineMaker(), going_on)

    asyncio.run(carry_out())


def made(client: httpx.Client, url: str, kind: str, **body: Any) -> dict[str, Any]:
    """A set that is ordered over HTTP, made by rule, and read again."""
    response = client.post("/v1/study", json={"kind": kind, **body})
    assert response.status_code == 202, response.text
    ordered = response.json()
    assert (ordered["status"], ordered["made"]) == ("queued", 0)
    runs = client.get(f"/v1/runs/{ordered['run_id']}").json()
    assert (runs["kind"], runs["status"]) == ("study", "queued")
    carried_out(url, ordered["id"])
    found: dict[str, Any] = client.get(f"/v1/study/{ordered['id']}").json()
    return found
