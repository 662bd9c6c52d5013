"""The stored parts of an agent's answer: events of its turn, its calls, and their second run."""

from __future__ import annotations

import re
from typing import Any

import httpx

from helix.conversations.receipts.receipt_store import read_receipt
from helix.conversations.receipts.replay import replay
from helix.services import open_services
from helix.settings import load_settings
from tests.agent.test_stream import COMPARED, ENOUGH, PARCELS, REFUND, SAID, searching
from tests.support.query_service import post
from tests.support.service_process import eventually
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer


def _asked(client: httpx.Client, conversation: str, **body: Any) -> httpx.Response:
    return client.post(
        f"/v1/conversations/{conversation}/messages",
        json={"question": COMPARED, "mode": "agent", **body},
    )


def _begun(client: httpx.Client) -> str:
    conversation: str = client.post("/v1/conversations", json={}).json()["id"]
    return conversation


def test_a_turn_is_followed_again_to_the_byte(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = _begun(client)
    wire.script(searching(REFUND, PARCELS), ENOUGH, SAID, on="generate")
    told = _asked(client, conversation).content
    (message,) = re.findall(rb'"message_id":(\d+)', told)[:1]
    at = f"/v1/conversations/{conversation}/messages/{int(message)}/events"
    assert client.get(at).content == told
    names = re.findall(rb"^event: (\w+)$", told, re.M)
    assert names.index(b"source") < names.index(b"memory") < names.index(b"token")


def test_a_turn_that_is_stopped_ends_the_gathering(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = _begun(client)
    wire.script(searching(REFUND), Answer(deltas=("Hm",), then="hang"), on="generate")
    body = {"question": COMPARED, "mode": "agent"}
    path = f"/v1/conversations/{conversation}/messages"
    with client.stream("POST", path, json=body) as response:
        for line in response.iter_lines():
            if found := re.search(r'"message_id":(\d+)', line):
                message = found[1]
            if line == "event: source":
                break
    assert eventually(lambda: wire.open_streams == 1), "a turn goes on without its client"
    assert client.post(f"{path}/{message}/stop").json()["status"] == "stopped"
    assert eventually(lambda: wire.open_streams == 0)


async def test_a_replay_makes_the_same_calls_and_asks_no_model_to_choose(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    wire.script(searching(REFUND, PARCELS), ENOUGH, SAID, on="generate")
    answer = post(client, question=COMPARED, mode="agent").json()
    settings = load_settings(
        database_url=module_database_url, llm="gemini", embedder="gemini",
        gemini_api_key="wire-test-key", retrieval_max_distance=0.8, workers=0,
    )  # fmt: skip
    async with open_services(settings) as services:
        receipt = await read_receipt(services.library, answer["answer_id"], 30)
        wire.requests.clear()
        wire.script(SAID, on="generate")
        again = await replay(services.answering, services.library, receipt, services.configuration)
    assert again.identical and again.causes == []
    (request,) = wire.received("generate")
    assert "tools" not in request.body


def test_what_a_model_wrote_into_calls_goes_with_a_document(
    client: httpx.Client, wire: GeminiWire, stored: dict[str, int]
) -> None:
    wire.script(searching(REFUND), ENOUGH, SAID, on="generate")
    answer = post(client, question=COMPARED, mode="agent").json()
    assert client.delete(f"/v1/documents/{stored['shipping']}").is_success
    receipt = client.get(f"/v1/answers/{answer['answer_id']}").json()
    (call,) = receipt["agent"]["calls"]
    assert call["arguments"] is None and call["chunk_ids"] and receipt["answer"] is None
