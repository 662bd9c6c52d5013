"""Prompts of the operator's folder: they stand in place of shipped texts, below a tenant's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helix.errors import SettingsError
from helix.settings.prompts import Override, Prompts, prompt, template, use_folder
from tests.support.live_server import live


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    use_folder(None)


def test_a_file_stands_in_place_of_the_shipped_text(tmp_path: Path) -> None:
    shipped = template("study_questions")
    (tmp_path / "study_questions.md").write_text("Ask {{count}} things, {{difficulty}}.\n")
    (tmp_path / "notes.txt").write_text("no prompt")
    use_folder(str(tmp_path))
    text = prompt("study_questions", count=3, difficulty="easy")
    assert text.startswith("Ask 3 things, easy.") and text.endswith(shipped.after)
    own = Prompts({"study_questions": Override(1, "Mine.")})
    with own.active():
        assert prompt("study_questions", count=1, difficulty="easy").startswith("Mine.")
    use_folder(None)
    assert template("study_questions") == shipped


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nowhere", "x", "nowhere.md: there is no prompt nowhere"),
        ("judge", "{{count}}", "judge.md: line 1: {{count}} is no placeholder"),
        ("judge", " ", "judge.md: the text is blank"),
    ],
)
def test_what_cannot_be_used_stops_the_start(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / f"{name}.md").write_text(text)
    with pytest.raises(SettingsError) as refused:
        use_folder(str(tmp_path))
    assert told in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(SettingsError, match="is no folder"):
        use_folder(str(tmp_path / "missing"))


def test_a_server_lists_it_as_the_text_in_force(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text("Judge kindly.")
    with live(database_url, prompts_folder=str(tmp_path)) as client:
        assert _text(client) == "Judge kindly."
        assert client.post("/v1/prompts/judge", json={"text": "Mine."}).status_code in (200, 201)
        assert _text(client) == "Mine."
        assert client.delete("/v1/prompts/judge").status_code in (200, 204)
        assert _text(client) == "Judge kindly."


def _text(client: httpx.Client) -> str:
    text: str = client.get("/v1/prompts/judge").json()["text"]
    return text
