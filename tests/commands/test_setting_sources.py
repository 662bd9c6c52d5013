"""The sources of settings, as `helix doctor` tells them: names of settings, and no values."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.commands.doctor import _sources
from helix.commands.setting_sources import missing_files, setting_sources
from helix.errors import SettingsError
from helix.settings import HOW, load_client_settings, load_settings


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in HOW:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config" / "helix").mkdir(parents=True)
    return monkeypatch


def test_each_setting_is_told_of_the_place_that_wins(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "config" / "helix" / "env"
    own.write_text("DATABASE_URL=postgresql://u:hunter2@h/d\nHELIX_LLM=offline\n")
    (tmp_path / ".env").write_text("HELIX_LLM=offline\nHELIX_EMBEDER=offline\n")
    environment.setenv("HELIX_EMBEDDER", "offline")
    first, second, third = setting_sources()
    assert (first.place, first.settings) == ("the environment", ("HELIX_EMBEDDER",))
    assert (second.place, second.settings) == (str(tmp_path / ".env"), ("HELIX_LLM",))
    assert second.summary() == "HELIX_LLM; HELIX_EMBEDER is no setting (is it HELIX_EMBEDDER?)"
    assert third.place == str(own)
    assert third.summary() == "DATABASE_URL; HELIX_LLM is overridden"
    assert "hunter2" not in repr((first, second, third))
    settings = load_settings()
    assert settings.database_url == "postgresql://u:hunter2@h/d"
    assert (settings.llm, settings.embedder) == ("offline", "offline")


def test_slips_and_lines_that_are_none_are_told(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("HELIX_LLM=offline\n\n\nthe secret: 5\nHELIX_FOOBAR=1\n")
    environment.setenv("RETRIEVAL_TOPK", "3")
    environment.setenv("OPENAI_API_KEY", "of another program")
    own, file = setting_sources()
    assert (own.slips, own.unknown) == (("RETRIEVAL_TOPK",), ())
    assert own.summary() == "nothing; RETRIEVAL_TOPK is no setting (is it RETRIEVAL_TOP_K?)"
    told = "HELIX_LLM; HELIX_FOOBAR is no setting; line 4 is no NAME=value and is left out"
    assert file.summary() == told
    marks = {check.name.split()[-1]: (check.ok, check.warns) for check in _sources()}
    assert marks["environment"] == (True, True) and marks[str(tmp_path / ".env")][0] is False


def test_files_that_are_not_there_are_named(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert setting_sources() == []
    assert missing_files() == [tmp_path / ".env", tmp_path / "config" / "helix" / "env"]


def test_a_client_needs_no_database(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HELIX_SERVER", "https://helix.example.com/team")
    environment.setenv("HELIX_API_KEY", "hx_secret")
    settings = load_client_settings()
    assert settings.server == "https://helix.example.com/team"
    assert "hx_secret" not in repr(settings)
    environment.setenv("HELIX_SERVER", "localhost:8080")
    with pytest.raises(SettingsError, match="HELIX_SERVER is malformed: set it to a server"):
        load_client_settings()
