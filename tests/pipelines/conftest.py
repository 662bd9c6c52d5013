"""Fixtures that tests of the programs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.ingest_command import become_a_user
from tests.support.wire.gemini import GeminiWire


@pytest.fixture
def database_url(durable_database_url: str) -> str:
    """A database of this test's own that has the engine's tables: most tests here carry out runs.

    Where files are uploaded to a server, the first run makes them.
    """
    return durable_database_url


@pytest.fixture
def folder(
    tmp_path: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty working directory; the environment of a user of Gemini."""
    return become_a_user(monkeypatch, tmp_path, database_url, wire)
