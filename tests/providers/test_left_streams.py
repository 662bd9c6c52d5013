"""An answer that is left in its middle: the connection to each vendor closes at once."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.providers.factories import build_llm
from tests.support.busy_machine import bound
from tests.support.scripted_server import Reply, scripted
from tests.support.vendor_packages import KEY, settings
from tests.support.wire import anthropic, ollama, openai

HELLO = [ChatMessage(role=MessageRole.USER, content="hello there")]
SAID = "Refunds are accepted within 30 days"
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
NOTHING = b'{"model":"llama3.1","message":{"role":"assistant","content":""},"done":false}\n'
ENDLESS = {
    "anthropic:claude-sonnet-4-5": replace(
        anthropic.broken(SAID)["no end"], held=True, filler=PING
    ),
    "ollama:llama3.1": replace(ollama.broken(SAID)["no end"], held=True, filler=NOTHING),
    "openai:gpt-4o": replace(openai.saying(SAID, cut=True), cut=False, held=True),
    "server:tiny": replace(openai.saying(SAID, cut=True), cut=False, held=True),
}


@pytest.mark.parametrize(("name", "reply"), ENDLESS.items(), ids=ENDLESS)
async def test_a_stream_that_is_left_closes_its_connection(
    name: str, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted(reply) as service:
        for variable, value in {
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": service.url, "OPENAI_API_KEY": KEY,
            "OPENAI_API_BASE": f"{service.url}/v1", "OLLAMA_HOST": service.url,
        }.items():  # fmt: skip
            monkeypatch.setenv(variable, value)
        at: dict[str, Any] = {"model_server": f"{service.url}/v1", "model_context": 8192}
        llm = build_llm(settings(llm=name, **at))
        gc.disable()  # what closes only at a collection does not close
        try:
            stream = await llm.model.astream_chat(HELLO)
            await anext(stream)
            assert not service.left.is_set()
            await stream.aclose()
            assert await asyncio.to_thread(service.left.wait, bound(5.0))
        finally:
            gc.enable()
        await llm.aclose()
