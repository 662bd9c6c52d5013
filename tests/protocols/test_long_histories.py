"""Histories as long as a body may be, by every protocol: answered, and nobody waits for them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from helix.protocols.messages import MOST_MESSAGES, MOST_PARTS
from helix.serving.openai_request import ChatRequest, openai_request
from tests.support.ai_sdk import parts_of, text_of
from tests.support.query_service import QUESTION, asked
from tests.support.wire.gemini import GeminiWire

MOST = {"/v1/chat/completions": 2, "/v1/responses": 2, "/v1/ui/chat": 1}
"""Megabytes that a body may have."""
TURN = ("What about parcels to Norway?", "They take four working days. [1]")
Said = list[tuple[str, str]]


def _as_chat(said: Said) -> tuple[str, dict[str, Any]]:
    messages = [{"role": role, "content": text} for role, text in said]
    return "/v1/chat/completions", {"model": "helix", "messages": messages}


def _as_responses(said: Said) -> tuple[str, dict[str, Any]]:
    return "/v1/responses", {"model": "helix", "input": _as_chat(said)[1]["messages"]}


def _as_ui_chat(said: Said) -> tuple[str, dict[str, Any]]:
    messages = [{"role": role, "parts": [{"type": "text", "text": text}]} for role, text in said]
    return "/v1/ui/chat", {"id": "long", "messages": messages}


def _text(response: httpx.Response) -> str:
    if response.headers["content-type"].startswith("text/event-stream"):
        return text_of(parts_of(response))
    told = response.json()
    if "choices" in told:
        return str(told["choices"][0]["message"]["content"])
    return str(told["output"][0]["content"][0]["text"])


def _long(turns: int) -> Said:
    said: Said = []
    for _ in range(turns):
        said += [("user", TURN[0]), ("assistant", TURN[1])]
    return [*said, ("user", QUESTION)]


@pytest.mark.parametrize("form", [_as_chat, _as_responses, _as_ui_chat])
def test_a_history_as_large_as_a_body_is_answered_from_its_last_turns(
    client: httpx.Client, wire: GeminiWire, form: Any
) -> None:
    path, body = form(_long(1))
    one_more = len(json.dumps(form(_long(2))[1])) - len(json.dumps(body))
    turns = (MOST[path] * 2**20 - 4096 - len(json.dumps(body))) // one_more
    path, body = form(_long(turns))
    assert turns > 2 * MOST_MESSAGES
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text[:300]
    assert _text(response) == asked(client)["answer"]
    sent = json.dumps(wire.received("generate")[-2].body)
    assert 1 <= sent.count(TURN[0]) <= 60, "the prompt has the turns that fit"


def test_a_history_beyond_what_a_body_may_have_is_refused(client: httpx.Client) -> None:
    said = [("user", "x" * 2**21), ("assistant", "y"), ("user", QUESTION)]
    for form in (_as_chat, _as_responses, _as_ui_chat):
        path, body = form(said)
        refused = client.post(path, json=body)
        assert refused.status_code == (400 if form is _as_ui_chat else 413)
        assert f"{MOST[path]} MB" in refused.text


async def test_only_the_last_messages_are_made_objects() -> None:
    _, body = _as_chat(_long(20_000))
    read = await openai_request(json.dumps(body).encode(), ChatRequest)
    assert len(read.messages) == MOST_MESSAGES and read.messages[-1].content == QUESTION


async def test_a_long_body_is_read_beside_the_event_loop() -> None:
    _, body = _as_chat(_long(20_000))
    turns_of_the_loop = 0

    async def others() -> None:
        nonlocal turns_of_the_loop
        while True:
            turns_of_the_loop += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    await asyncio.sleep(0)
    await asyncio.gather(
        *(openai_request(json.dumps(body).encode(), ChatRequest) for _ in range(5))
    )
    beside.cancel()
    assert turns_of_the_loop > 5, "who is ready gets a turn between two bodies"


def test_a_message_of_too_many_parts_is_refused_by_its_key(client: httpx.Client) -> None:
    parts = [{"type": "text", "text": "a"}] * (MOST_PARTS + 1)
    chat = {"model": "helix", "messages": [{"role": "user", "content": parts}]}
    refused = client.post("/v1/chat/completions", json=chat)
    assert refused.status_code == 400 and str(MOST_PARTS) in refused.json()["error"]["message"]
    chat = {"id": "long", "messages": [{"role": "user", "parts": parts}]}
    refused = client.post("/v1/ui/chat", json=chat)
    assert refused.status_code == 400 and str(MOST_PARTS) in refused.json()["error"]
