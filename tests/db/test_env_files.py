"""The files of settings: which there are, which wins, and one that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.errors import DatabaseError
from db.url import env_files, read_env_files, user_file


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file, in a folder of its own; the working directory is another."""
    (tmp_path / "work").mkdir()
    (tmp_path / "config" / "helix").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "helix" / "env"


def test_the_working_folder_wins_over_the_users_file(own_file: Path) -> None:
    own_file.write_text("DATABASE_URL=embedded\nHELIX_LLM=offline\nHELIX_JUDGE=offline\n")
    assert read_env_files()["DATABASE_URL"] == "embedded"
    Path(".env").write_text("HELIX_LLM=ollama:x\nHELIX_JUDGE=\n")
    assert read_env_files() == {
        "DATABASE_URL": "embedded", "HELIX_LLM": "ollama:x", "HELIX_JUDGE": "offline",
    }  # fmt: skip


def test_the_users_file_is_in_the_home_where_nothing_else_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert user_file() == tmp_path / ".config" / "helix" / "env"
    assert env_files()[-1] == Path(".env")


def test_a_file_that_cannot_be_read_is_named(own_file: Path) -> None:
    own_file.write_bytes(b"HELIX_LLM=\xff\n")
    with pytest.raises(DatabaseError, match=r"config/helix/env cannot be read: it must be UTF-8"):
        read_env_files()


def test_a_line_that_is_none_is_told_once_with_its_file(
    own_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own_file.write_text("A=1\n\nthe secret: 5\nB=${A}2\n")
    assert read_env_files() == read_env_files() == {"A": "1", "B": "12"}
    assert caplog.messages == [f"{own_file}, line 3 is no NAME=value and is left out"]
