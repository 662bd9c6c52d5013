"""`helix demo` leaves nothing behind, whatever the user's settings are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helix.commands.demo import _environment


@pytest.mark.processes
def test_the_demo_keeps_away_from_the_users_database_server_and_settings(tmp_path: Path) -> None:
    config = tmp_path / "config" / "helix"
    config.mkdir(parents=True)
    (config / "env").write_text("HELIX_AUTH=accounts\nHELIX_RETRIEVAL=dense\n")
    mine, temporary = tmp_path / "mine", tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "helix.cli", "demo"],
        env={
            **os.environ, "DATABASE_URL": f"embedded:{mine}", "HELIX_AUTH": "keys",
            "HELIX_SERVER": "http://localhost:1", "XDG_CONFIG_HOME": str(config.parent),
            "TMPDIR": str(temporary), "HELIX_WORKERS": "0",
        },
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "(bundled Postgres, offline answers)" in done.stdout
    assert "Server and database stopped." in done.stdout
    assert not mine.exists() and not list(temporary.glob("helix-demo-*"))


def test_with_a_key_of_gemini_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.setenv("HELIX_LLM", "server:other")
    assert _environment("f")["HELIX_LLM"] == _environment("f")["HELIX_EMBEDDER"] == "gemini"


def test_a_setting_is_left_out_in_whatever_case(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("helix_server", "Helix_Auth", "database_url", "PROMETHEUS_MULTIPROC_DIR"):
        monkeypatch.setenv(name, "mine")
    assert "mine" not in _environment("f").values()
