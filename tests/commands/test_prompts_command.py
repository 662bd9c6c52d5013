"""`helix prompts`: list, show, edit, diff, reset."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.cli_runner import helix


@pytest.fixture
def values(database_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
        "COLUMNS": "150",
    }  # fmt: skip


def test_a_prompt_is_edited_compared_and_put_back(
    values: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = helix("prompts", "list", **values)
    assert listed.returncode == 0 and "search_terms" in listed.stdout, listed.stderr
    shown = helix("prompts", "show", "judge", **values).stdout
    assert shown.startswith("You judge whether") and '"grounded": true only if' in shown

    done = helix("prompts", "edit", "judge", "--file", "-", stdin="Judge hard.\n", **values)
    assert (done.returncode, done.stdout) == (
        0, "judge is version 1 of default from the next request on\n",
    )  # fmt: skip
    same = helix("prompts", "edit", "judge", "--file", "-", stdin="Judge hard.\n", **values)
    assert same.stdout == "judge stays as it is\n"
    changed = helix("prompts", "diff", "judge", **values).stdout
    assert "\n-You judge whether" in changed and changed.endswith("\n+Judge hard.\n")
    assert "default" not in helix("prompts", "list", **values).stdout
    shown = helix("prompts", "show", "judge", **values).stdout
    assert shown.startswith("Judge hard.\nThe sources, the question")

    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'Judge {{how}}.' > \"$1\"\n")
    editor.chmod(0o755)
    edited = helix(
        "prompts", "edit", "judge", **values, EDITOR=str(editor), PATH=os.environ["PATH"]
    )
    assert edited.returncode == 2 and "line 1: {{how}}" in edited.stderr
    assert "Judge {{how}}." in edited.stderr, "what was written is not lost"

    assert "shipped one again (version 2" in helix("prompts", "reset", "judge", **values).stdout
    assert helix("prompts", "diff", "judge", **values).stdout == "judge is as shipped\n"
    back = helix("prompts", "reset", "judge", "--to", "1", **values)
    assert "that of version 1 again (version 3" in back.stdout
    assert helix("prompts", "show", "nowhere", **values).returncode == 1
    other = helix("prompts", "diff", "judge", "--tenant", "acme", **values)
    assert other.stdout == "judge is as shipped\n"
