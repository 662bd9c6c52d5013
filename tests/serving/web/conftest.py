"""The application as tests of the page's files ask it."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from helix.app import create_app
from helix.settings import load_settings


@pytest.fixture(scope="module")
def client() -> TestClient:
    """The application without its lifespan: the page needs neither database nor model."""
    settings = load_settings(database_url="embedded", llm="offline", embedder="offline")
    return TestClient(create_app(settings), base_url="http://localhost")
