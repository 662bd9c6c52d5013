"""A server over stored documents whose model, at the wire, calls tools; one for each file."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from helix.store import ChunkStore
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
