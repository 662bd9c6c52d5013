"""Fixtures that tests of runs share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(database_url, autocommit=True)) as connection:
        yield connection
