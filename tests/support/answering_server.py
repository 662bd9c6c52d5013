"""Fixtures of a server over stored documents whose model is Gemini on a wire, one a file of tests.

A ``conftest.py`` imports the fixtures that its folder uses.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from helix.store import ChunkStore
from tests.support.query_service import a_client, a_store, store_documents
from tests.support.wire.gemini import GeminiWire, gemini_wire


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    """Gemini's wire, for the tests of one file."""
    with gemini_wire() as wire:
        yield wire


@pytest.fixture(scope="module")
def store(module_database_url: str) -> Iterator[ChunkStore]:
    """The store of the file's database, still empty."""
    with a_store(module_database_url) as store:
        yield store


@pytest.fixture(scope="module")
def stored(store: ChunkStore) -> dict[str, int]:
    """The ids of the stored documents, by name."""
    return store_documents(store)


@pytest.fixture(scope="module")
def client(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> Iterator[httpx.Client]:
    """A client of the application that answers from the stored documents."""
    with a_client(module_database_url) as client:
        yield client
