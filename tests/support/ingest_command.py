"""The ingest command in this process, for a user of Gemini."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import pipelines.ingest
from tests.support.wire.gemini import GeminiWire

SLICES = (
    "SELECT bool_and(content = substr(text, start_char + 1, end_char - start_char))"
    " FROM chunks c JOIN documents d ON d.id = document_id"
)


def become_a_user(
    monkeypatch: pytest.MonkeyPatch, folder: Path, database_url: str, wire: GeminiWire
) -> Path:
    """Work in ``folder`` with the environment of a user of Gemini; gives the folder."""
    environment = {
        "DATABASE_URL": database_url,
        "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "GEMINI_API_KEY": "test-key",
        "HELIX_EMBEDDER": "gemini",
        "HELIX_LLM": "offline",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    # it keeps the standard error of the first run, which is closed by the second
    monkeypatch.setattr(pipelines.ingest, "configure_logging", lambda level: None)
    return folder


def ingest(*arguments: str) -> Result:
    """The command in this process; a traceback would be an exception of the test."""
    command = typer.Typer()
    command.command()(pipelines.ingest.ingest)
    result = CliRunner().invoke(command, [*arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
