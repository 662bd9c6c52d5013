"""Errors of vendors' clients: one line that says what to do, and nothing that may hold a key."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from helix.errors import UpstreamError
from helix.providers.factories import build_embedder, build_llm
from tests.support.scripted_server import Reply, scripted
from tests.support.vendor_packages import settings

HELLO = [ChatMessage("hello there")]
SSE = {"Content-Type": "text/event-stream"}
TEMPERATURE = {"code": "unsupported_value", "param": "temperature", "message": "sk-a-key"}


def _error(status: int, **told: Any) -> Reply:
    headers = {"Content-Type": "application/json", "x-should-retry": "false"}
    return Reply(json.dumps({"error": told}).encode(), status, headers)


@pytest.mark.parametrize(
    ("reply", "problem", "transient"),
    [
        (_error(400, **TEMPERATURE), "unsupported_value, temperature.: it refuses such", True),
        (_error(401, code="Sk-A-Key"), r"failed \(AuthenticationError\): check its key", False),
        (_error(402), "check its account", False),
        (_error(404), "check the model's name and the address", False),
        (_error(429, param=["sk"]), "it is asked too often: try again later", True),
        (_error(503), "it is busy or loads the model: try again", True),
        (_error(500), r"failed \(InternalServerError\): try again", True),
        (Reply(b'data: {"error":{"code":429,"message":"slow"}}\n\n', headers=SSE), "often", True),
        (Reply(b'data: {"error":{"code":"401","type":"sk"}}\n\n', headers=SSE), "its key", False),
        (Reply(b"<html>log in</html>"), "sent no answer: check the address", True),
        (_error(200), "sent no answer: check the address", True),
    ],
)
async def test_each_failure_says_what_to_do(reply: Reply, problem: str, transient: bool) -> None:
    with scripted(reply) as server:
        chosen = settings(llm="server:qwen", model_server=server.url, model_context="4096")
        with pytest.raises(UpstreamError, match=problem) as caught:
            _ = [response async for response in await build_llm(chosen).stream(HELLO)]
    assert caught.value.transient == transient
    assert "sk" not in str(caught.value).lower().replace("asked", "")


@pytest.mark.parametrize("what", ["model", "embedder"])
async def test_a_silence_names_its_setting(what: str) -> None:
    with scripted(*[Reply(b"", silent=True)] * 4) as server:
        chosen = settings(
            llm="server:qwen", embedder="server:e5", model_server=server.url,
            model_context="4096", model_timeout="1",
        )  # fmt: skip
        with pytest.raises(UpstreamError, match=r"silent for too long.*HELIX_MODEL_TIMEOUT"):
            if what == "embedder":
                await build_embedder(chosen).model.aget_query_embedding("hello")
            else:
                _ = [response async for response in await build_llm(chosen).stream(HELLO)]
        assert what == "model" or len(server.asked) == 1, "it may still run, and be paid for"


async def test_a_question_is_embedded_by_a_server_that_was_busy_for_a_moment() -> None:
    row = {"object": "embedding", "index": 0, "embedding": [3.0, 4.0]}
    found = {"object": "list", "model": "e5", "data": [row], "usage": {}}
    busy = _error(503)
    with scripted(busy, Reply(json.dumps(found).encode(), headers=busy.headers)) as server:
        chosen = settings(embedder="server:e5", model_server=server.url)
        vector = await build_embedder(chosen).model.aget_query_embedding("hello")
        assert vector[:2] == pytest.approx([0.6, 0.8])
        assert len(server.asked) == 2
