"""Fixtures of the database's own tests: a database of the first version, with data."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

_VERSION_1 = Path(__file__).parent / "fixtures" / "version_1.sql"


@pytest.fixture
def version_1(bare_database_url: str) -> str:
    """URL of a database that the code of version 1 filled."""
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute(_VERSION_1.read_bytes())
    return bare_database_url
