"""A Gemini on the wire, for tests of judges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.wire.gemini import GeminiWire


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiWire]:
    """The server that gemini's SDK talks to; no key or backend of the environment counts."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    with GeminiWire() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        yield server
