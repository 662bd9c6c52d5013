"""A model that ends soon is told of at the start, on /readyz, in the metrics and by doctor."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from datetime import date

import pytest

from helix.commands.doctor import Check, examine
from tests.support.live_server import live
from tests.support.wire.gemini import GeminiWire

TOLD = "set GEMINI_MODEL to gemini-3.5-flash-lite"


@pytest.fixture
def database(stored: dict[str, int], module_database_url: str) -> str:
    return module_database_url


def test_a_model_that_ends_is_told_of_at_the_start_and_wherever_operators_look(
    wire: GeminiWire, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, logger="helix"),
        live(
            database, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
            gemini_model="gemini-2.5-flash", retrieval_max_distance=0.8,
        ) as client,
    ):  # fmt: skip
        started = [record.getMessage() for record in caplog.records]
        assert [line for line in started if TOLD in line]
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (200, True)
        [notice] = ready.json()["notices"]
        assert notice.startswith("gemini-2.5-flash end") and notice.endswith(TOLD)
        figures = client.get("/metrics").text
        assert 'helix_model_days_left{model="gemini-2.5-flash",variable="GEMINI_MODEL"}' in figures
        assert 'helix_model_days_left{model="gemini-embedding-001",variable="EMBED_MODEL"}' in (
            figures
        )


def test_of_models_without_an_announced_end_nothing_is_told(
    wire: GeminiWire, database: str
) -> None:
    with live(
        database, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8,
    ) as client:  # fmt: skip
        assert client.get("/readyz").json() == {"ready": True}
        assert 'helix_model_days_left{model="gemini-3.5' not in client.get("/metrics").text


def _examined(day: date) -> list[Check]:
    async def run() -> list[Check]:
        async with aclosing(examine(day)) as checks:
            return [check async for check in checks]

    return asyncio.run(run())


def test_doctor_warns_of_2_5_flash_on_the_third_of_october(
    wire: GeminiWire, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "DATABASE_URL": database, "HELIX_LLM": "gemini", "HELIX_EMBEDDER": "gemini",
        "GEMINI_API_KEY": "wire-test-key", "GEMINI_MODEL": "gemini-2.5-flash",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    [model] = [check for check in _examined(date(2026, 10, 3)) if check.name == "model"]
    assert model.ok and model.warns
    assert model.finding.endswith(f"ends on 1 December 2026, in 59 days: {TOLD}")
    [model] = [check for check in _examined(date(2026, 9, 1)) if check.name == "model"]
    assert model.ok and not model.warns
    monkeypatch.delenv("GEMINI_MODEL")
    [model] = [check for check in _examined(date(2026, 10, 3)) if check.name == "model"]
    assert model.finding.startswith("gemini:gemini-3.5-flash-lite") and not model.warns
