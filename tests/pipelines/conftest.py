"""What tests of the programs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.ingest_command import become_a_user
from tests.support.wire.gemini import GeminiWire


@pytest.fixture
def folder(
    tmp_path: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty working directory; the environment of a user of Gemini."""
    return become_a_user(monkeypatch, tmp_path, database_url, wire)
