"""``helix up``: from nothing to a page, and what it leaves alone."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest
import typer

from helix.commands.first_run import prepared, settings_of_first_run
from helix.errors import SettingsError
from helix.settings import HOW, load_settings
from tests.support.cli_runner import helix
from tests.support.fake_embedder import rows
from tests.support.server_processes import served
from tests.support.service_process import eventually

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
RUNS = "SELECT kind, status FROM runs"


@pytest.fixture
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has set nothing; where the settings would be kept."""
    for name in HOW:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "helix" / "env"


def test_without_settings_it_chooses_and_keeps_them(
    nothing_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of_first_run()
    chosen = (settings.database_url, settings.llm, settings.embedder)
    assert chosen == ("embedded", "offline", "offline")
    told, kept = capsys.readouterr().err, nothing_set.read_text()
    assert str(nothing_set) in told and "DATABASE_URL=embedded\n" in kept
    settings_of_first_run()
    assert (capsys.readouterr().err, nothing_set.read_text()) == ("", kept), "once"


def test_what_is_set_is_left_alone(nothing_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "a key")
    assert settings_of_first_run().llm == "gemini"
    assert nothing_set.read_text().splitlines()[-1] == "DATABASE_URL=embedded"
    nothing_set.unlink()
    monkeypatch.setenv("DATABASE_URL", "postgresql://u@127.0.0.1/d")
    assert settings_of_first_run().database_url == "postgresql://u@127.0.0.1/d"
    assert not nothing_set.exists()


def test_settings_that_cannot_be_kept_are_told(nothing_set: Path) -> None:
    nothing_set.parent.write_text("a file where the folder would be")
    with pytest.raises(SettingsError, match=r"helix.env cannot be written"):
        settings_of_first_run()


def test_samples_are_for_an_empty_library_that_wants_them(
    bare_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(database_url=bare_database_url, **OFFLINE)
    for wanted in (False, None):  # nobody is there to be asked
        with prepared(settings, wanted):
            assert rows(bare_database_url, RUNS) == []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    for _ in range(2):
        with prepared(settings, None):
            assert rows(bare_database_url, RUNS) == [("upload", "queued")], "once"


def test_a_port_in_use_is_told_before_anything_starts(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        for command in ("serve", "up"):
            database = tmp_path / command
            done = helix(command, "--port", port, DATABASE_URL=f"embedded:{database}", **OFFLINE)
            assert done.returncode == 1
            assert done.stderr.startswith(f"helix: port {port} is in use: ")
            assert done.stderr.count("\n") == 1 and not database.exists()


def test_up_migrates_serves_and_opens_the_page(tmp_path: Path, bare_database_url: str) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    values = {"DATABASE_URL": bare_database_url, "BROWSER": str(browser), **OFFLINE}
    with served(tmp_path / "log", "up", "--samples", **values) as service:
        assert service.get("/healthz").status_code == 200
        assert eventually(lambda: opened.exists() and opened.read_text() == f"{service.url}\n")
        documents = httpx.get(f"{service.url}/v1/documents").json()["documents"]
        assert len(documents) == 7
        with psycopg.connect(bare_database_url) as connection:
            assert connection.execute(RUNS).fetchall() == [("upload", "queued")]
        # the samples are still to be read, and questions are answered already
        asked = httpx.post(f"{service.url}/v1/query", json={"question": "Refunds?"}, timeout=60)
        assert asked.status_code == 200 and asked.json()["answer"]
