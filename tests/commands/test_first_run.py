"""``helix up``: from nothing to a page, and what it leaves alone."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest
import typer

from db.embedded_postgres import default_directory
from helix.commands.first_run import prepared, settings_of_first_run, what_runs
from helix.errors import SettingsError
from helix.providers import local_servers
from helix.providers.local_servers import Place
from helix.settings import HOW, load_settings
from tests.support.cli_runner import helix
from tests.support.fake_embedder import rows
from tests.support.scripted_server import Reply, scripted
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


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model server on the usual ports, whatever runs on this machine."""
    monkeypatch.setattr(local_servers, "USUAL", (Place("Nobody", "server", "http://127.0.0.1:1"),))
    monkeypatch.setattr(local_servers.local_servers, "__defaults__", (local_servers.USUAL,))


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A model server on one of the usual ports; its address."""
    listed = {"data": [{"id": "qwen", "owned_by": "vllm"}, {"id": "llama"}]}
    with scripted(Reply(json.dumps(listed).encode())) as server:
        places = (Place("vLLM", "server", server.url),)
        monkeypatch.setattr(local_servers.local_servers, "__defaults__", (places,))
        yield f"{server.url}/v1"


def test_without_settings_it_chooses_and_keeps_them(
    nothing_set: Path, nobody: None, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of_first_run()
    chosen = (settings.database_url, settings.llm, settings.embedder)
    assert chosen == ("embedded", "offline", "offline")
    told, kept = capsys.readouterr().err, nothing_set.read_text()
    assert str(nothing_set) in told and "DATABASE_URL=embedded\n" in kept
    assert nothing_set.stat().st_mode & 0o777 == 0o600
    settings_of_first_run()
    told = capsys.readouterr().err
    assert "First run" not in told and nothing_set.read_text() == kept, "once"


def test_what_is_set_is_left_alone(nothing_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "a key")
    assert settings_of_first_run().llm == "gemini"
    assert nothing_set.read_text().splitlines()[-1] == "DATABASE_URL=embedded"
    nothing_set.unlink()
    monkeypatch.setenv("DATABASE_URL", "postgresql://u@127.0.0.1/d")
    assert settings_of_first_run().database_url == "postgresql://u@127.0.0.1/d"
    assert not nothing_set.exists()


def test_data_and_model_are_told_in_two_lines(nothing_set: Path, nobody: None) -> None:
    told = what_runs(settings_of_first_run()).splitlines()
    assert told[0].startswith(f"Data: {default_directory()} (the bundled Postgres). Change it with")
    assert told[1].startswith("No model answers: quotes of your documents only. Change it with")


def test_a_model_server_of_this_machine_is_told_and_used_where_that_is_asked_for(
    nothing_set: Path, somebody: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings_of_first_run().llm == "offline"
    told = capsys.readouterr().err
    assert "vLLM answers on this machine: server:qwen, server:llama" in told
    assert "`helix up --model server:qwen` answers by it." in told
    settings = settings_of_first_run(local_server=True)
    assert (settings.llm, settings.model_server) == ("server:qwen", somebody)
    assert settings_of_first_run("server:llama").model_server == somebody


def test_a_user_who_agrees_has_it_kept(
    nothing_set: Path, somebody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    assert settings_of_first_run().llm == "server:qwen"
    kept = nothing_set.read_text()
    assert f"HELIX_LLM=server:qwen\nHELIX_MODEL_SERVER={somebody}\n" in kept
    assert "HELIX_EMBEDDER=offline" in kept
    assert load_settings().llm == "server:qwen"


def test_a_local_server_that_is_asked_for_and_not_there_is_one_line(
    nothing_set: Path, nobody: None
) -> None:
    with pytest.raises(SettingsError, match=r"no model server answers .* Nobody \(http"):
        settings_of_first_run(local_server=True)


def test_a_model_that_is_named_answers(nothing_set: Path, nobody: None) -> None:
    settings = settings_of_first_run("ollama:llama3.2")
    assert "\nollama:llama3.2 answers. Change it with --model" in what_runs(settings)
    assert (settings.llm, settings.embedder) == ("ollama:llama3.2", "offline")
    assert "HELIX_LLM=ollama:llama3.2" in nothing_set.read_text()
    assert load_settings().llm == "ollama:llama3.2"


def test_a_model_of_no_provider_is_one_line_and_not_kept(nothing_set: Path, nobody: None) -> None:
    with pytest.raises(SettingsError, match=r"names an unknown provider 'foo': it knows .*ollama"):
        settings_of_first_run("foo")
    with pytest.raises(SettingsError, match="GEMINI_API_KEY"):
        settings_of_first_run("gemini")
    assert not nothing_set.exists()


def test_a_model_that_is_named_needs_no_embedder_of_its_own(
    nothing_set: Path, nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u@127.0.0.1/d")
    assert settings_of_first_run("ollama:llama3.2").embedder == "offline"
    nothing_set.unlink()
    monkeypatch.setenv("GEMINI_API_KEY", "a key")
    assert settings_of_first_run("ollama:llama3.2").embedder == "gemini"
    assert not nothing_set.exists(), "for this server alone: the key says which model answers"


def test_a_database_that_is_named_needs_no_model(
    nothing_set: Path, nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"embedded:{nothing_set.parent}/data")
    settings = settings_of_first_run()
    assert (settings.llm, settings.embedder) == ("offline", "offline")
    assert (load_settings().llm, load_settings().embedder) == ("offline", "offline"), "kept"
    assert "DATABASE_URL" not in nothing_set.read_text()
    monkeypatch.setenv("HELIX_LLM", "ollama:llama3.2")
    assert settings_of_first_run().llm == "ollama:llama3.2"


def test_the_folder_of_the_data_is_kept_the_first_time_and_told(
    nothing_set: Path, nobody: None
) -> None:
    folder = Path("data").absolute()
    settings = settings_of_first_run(data=Path("data"))
    assert settings.database_url == f"embedded:{folder}" == load_settings().database_url
    assert what_runs(settings).startswith(f"Data: {folder} (the bundled Postgres). Change it with")
    other = settings_of_first_run(data=Path("other"))
    assert other.database_url == f"embedded:{folder.parent / 'other'}"
    assert load_settings().database_url == f"embedded:{folder}", "later for one server alone"


def test_the_password_of_a_database_is_not_told() -> None:
    settings = load_settings(database_url="postgresql://me:hunter2@db.lan/helix", **OFFLINE)
    assert what_runs(settings).startswith("Data: postgresql://me:***@db.lan/helix. Change it with")


def test_settings_that_cannot_be_kept_are_told(nothing_set: Path, nobody: None) -> None:
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


@pytest.mark.processes
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
