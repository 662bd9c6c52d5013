"""Model servers of this machine: who answers on a port, and by which settings it is used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helix.providers.local_servers import Place, local_servers
from tests.support.scripted_server import Reply, scripted


def _list(*models: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"object": "list", "data": models}).encode())


def test_a_server_that_answers_is_told_with_its_models() -> None:
    with scripted(_list({"id": "qwen", "owned_by": "vllm"}, {"id": "llama"})) as server:
        nobody = Place("LM Studio", "server", "http://127.0.0.1:1")
        (found,) = local_servers([nobody, Place("vLLM", "server", server.url)])
        assert server.asked[0][1] == "/v1/models"
    assert (found.place.title, found.names()) == ("vLLM", ["server:qwen", "server:llama"])
    assert found.variables("server:llama") == {
        "HELIX_LLM": "server:llama", "HELIX_MODEL_SERVER": f"{server.url}/v1",
    }  # fmt: skip


def test_ollama_is_asked_in_its_own_way_and_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(_list({"id": "llama3.2:latest", "owned_by": "library"})) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
        (found,) = local_servers([Place("Ollama", "ollama", "http://127.0.0.1:1")])
    assert found.names() == ["ollama:llama3.2:latest"]
    assert found.variables(found.names()[0]) == {"HELIX_LLM": "ollama:llama3.2:latest"}


@pytest.mark.parametrize(
    "reply",
    [
        _list({"id": "helix", "owned_by": "helix"}),  # another Helix
        _list(),
        Reply(b"<html>"),
        Reply(b"{}", 404),
    ],
)
def test_what_is_no_model_server_is_passed_by(reply: Reply) -> None:
    with scripted(reply) as server:
        assert local_servers([Place("llama.cpp", "server", server.url)]) == []
