"""The application with Gemini on a wire behind it, and documents to ask, for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from tests.support.answering_server import client, store, stored, wire
from tests.support.live_server import emptied

__all__ = ["client", "sql", "store", "stored", "wire"]


@pytest.fixture
def sql(module_database_url: str, client: httpx.Client) -> Iterator[psycopg.Connection]:
    """The database behind ``client``, which a file may define anew; emptied after the test."""
    with emptied(module_database_url) as connection:
        yield connection
