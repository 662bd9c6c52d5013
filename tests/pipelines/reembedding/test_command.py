"""``python -m pipelines.reembed``: what it says, and what it leaves when it fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from helix.providers.gemini.embedding import gemini_embedder
from helix.providers.offline import offline_embedder
from helix.settings import HOW, load_settings
from pipelines.reembed import reembed
from tests.support.fake_embedder import rows
from tests.support.reembedding import (
    check_all_are_of,
    fill,
    vectors,
)
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Failure, Vectors


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire(delay=0.05) as wire:
        yield wire


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """``python -m pipelines.reembed`` with the settings given: its exit status and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in HOW:
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments: str, **settings: str) -> tuple[int, str]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        cli = typer.Typer()
        cli.command()(reembed)
        done = CliRunner().invoke(cli, arguments)
        return done.exit_code, done.stderr

    monkeypatch.setenv("HELIX_LLM", "offline")
    monkeypatch.setenv("HELIX_EMBEDDER", "offline")
    return invoke


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no new embedder is named: set HELIX_EMBEDDER_NEXT, or give --to"),
        (["--to", "No Such"], "HELIX_EMBEDDER_NEXT is malformed: set it like HELIX_EMBEDDER"),
        (["--to", "nosuch"], "HELIX_EMBEDDER_NEXT names an unknown provider 'nosuch'"),
        (["--to", "gemini"], "GEMINI_API_KEY is not set"),
        (["--to", "offline"], "nothing is stored yet"),
        (["--abandon"], "no change of the embedder is under way"),
    ],
)
def test_the_command_says_what_is_missing(
    module_database_url: str, command: Command, arguments: list[str], message: str
) -> None:
    code, told = command(*arguments, DATABASE_URL=module_database_url)
    assert code == 1
    assert re.fullmatch(rf"reembed: {re.escape(message)}.*\n", told), told


def test_the_offline_embedder_takes_over(database_url: str, command: Command) -> None:
    asyncio.run(fill(database_url, 2))
    code, told = command("--to", "offline", DATABASE_URL=database_url)
    assert code == 0, told
    assert "swapped: questions are now answered with" in told
    settings = load_settings(
        DATABASE_URL=database_url, HELIX_EMBEDDER="offline", HELIX_LLM="offline"
    )
    check_all_are_of(database_url, offline_embedder(settings, ""))


def test_the_second_embedding_model_of_gemini_takes_over_from_the_first(
    database_url: str, wire: GeminiWire, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(database_url, 2))
    first = {
        "GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "DATABASE_URL": database_url,
    }  # fmt: skip
    code, told = command("--to", "gemini", **first)
    assert code == 0, told
    assert rows(database_url, "SELECT identity FROM embedding_space") == [
        ("gemini:gemini-embedding-001:1536",)
    ]
    before = {str(row[3]) for row in vectors(database_url)}
    code, told = command("--to", "gemini:gemini-embedding-2", HELIX_EMBEDDER="gemini", **first)
    assert code == 0, told
    assert before.isdisjoint(str(row[3]) for row in vectors(database_url))
    settings = load_settings(HELIX_EMBEDDER="gemini", EMBED_MODEL="gemini-embedding-2", **first)
    check_all_are_of(database_url, gemini_embedder(settings))


def test_a_failing_service_stops_it_and_says_that_it_can_go_on(
    database_url: str, wire: GeminiWire, command: Command
) -> None:
    asyncio.run(fill(database_url, 4))
    wire.script(Vectors(), Failure(400, "INVALID_ARGUMENT", "No."), on="embed")
    code, told = command(
        "--batch", "5", "--to", "gemini", GEMINI_API_KEY="test-key", HELIX_EMBED_PARALLEL="1",
        GOOGLE_GEMINI_BASE_URL=wire.base_url, DATABASE_URL=database_url,
    )  # fmt: skip
    assert code == 1
    assert re.search(r"^reembed: stopped: .* \(what is done stays; run it again\)$", told, re.M)
    assert rows(database_url, "SELECT count(embedding_next) FROM chunks") == [(5,)]
