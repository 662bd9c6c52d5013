"""The application with Gemini on a wire behind it, and documents to ask, for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from helix.store import ChunkStore
from tests.support.live_server import emptied
from tests.support.query_service import a_client, a_store, store_documents
from tests.support.wire.gemini import GeminiWire, gemini_wire


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as wire:
        yield wire


@pytest.fixture(scope="module")
def store(module_database_url: str) -> Iterator[ChunkStore]:
    with a_store(module_database_url) as store:
        yield store


@pytest.fixture(scope="module")
def stored(store: ChunkStore) -> dict[str, int]:
    return store_documents(store)


@pytest.fixture(scope="module")
def client(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> Iterator[httpx.Client]:
    with a_client(module_database_url) as client:
        yield client


@pytest.fixture
def sql(module_database_url: str, client: httpx.Client) -> Iterator[psycopg.Connection]:
    """The database behind ``client``, which a file may define anew; emptied after the test."""
    with emptied(module_database_url) as connection:
        yield connection
