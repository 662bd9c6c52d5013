"""A server over stored documents that answers by the wire, one for each file of tests."""

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
        store_documents(store)
        yield store


@pytest.fixture(scope="module")
def client(wire: GeminiWire, store: ChunkStore, module_database_url: str) -> Iterator[httpx.Client]:
    with a_client(module_database_url) as client:
        yield client
