"""The provider of docs/plugins.md, as it is written there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage

from helix.domain.plugins import PluginFailed
from helix.providers.factories import build_llm
from helix.settings import load_settings
from tests.domain.plugins.conftest import Install
from tests.support.repository import ROOT
from tests.support.scripted_server import scripted
from tests.support.wire import openai


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """The folder of the two files."""
    page = (ROOT / "docs" / "plugins.md").read_text()
    folder = tmp_path / "acme"
    folder.mkdir()
    lines = 0
    for name, text in re.findall(r"^`?[^\n]*`([\w.]+)`:\n\n```\w+\n(.*?)```", page, re.M | re.S):
        (folder / name).write_text(text)
        lines += text.count("\n")
    assert {file.name for file in folder.iterdir()} == {"pyproject.toml", "helix_acme.py"}
    assert lines < 40
    return folder


async def test_it_answers_over_the_wire(
    acme: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(acme)
    settings = load_settings(database_url="embedded", llm="acme:small", embedder="offline")
    with pytest.raises(PluginFailed, match="ACME_URL"):
        build_llm(settings)
    with scripted(openai.saying("Thirty days [1].")) as server:
        monkeypatch.setenv("ACME_URL", server.url)
        monkeypatch.setenv("ACME_KEY", "k")
        llm = build_llm(settings)
        stream = await llm.model.astream_chat([ChatMessage("How long?")])
        told = "".join([response.delta or "" async for response in stream])
        await llm.aclose()
    assert (told, llm.identity) == ("Thirty days [1].", "acme:small")
    _, _, headers = server.asked[0]
    assert "Bearer k" in headers.values()
