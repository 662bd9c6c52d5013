"""Mode ``write``: code from documentation, its names and receipt; no code without a model."""

from __future__ import annotations

import httpx
import pytest

from helix.domain.contract import GROUNDING_RULES, REFUSAL
from helix.settings.prompts import prompt
from tests.support.answering_server import client, store, stored, wire
from tests.support.live_server import live
from tests.support.query_service import events_of, post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

__all__ = ["client", "store", "stored", "wire"]
TASK = "Write a script that prints within how many days of purchase a refund may be requested"
CODE = '```python\ndays = refund["purchase"][1]\nprint(days, unknown)\n```\n'
SAID = Answer(deltas=(f"It prints the days [2]:\n\n{CODE[:20]}", CODE[20:], "Refunds end [1]."))
TEXT = "".join(SAID.deltas)


def test_code_is_written_by_rules_of_its_own_and_stays_as_it_is(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    wire.script(SAID, on="generate")
    answer = post(client, question=TASK, mode="write").json()
    assert (answer["answer"], answer["mode"]) == (TEXT, "write")
    (request,) = wire.received("generate")
    rules = request.body["systemInstruction"]["parts"][0]["text"]
    assert rules.startswith(prompt("writing", refusal=REFUSAL)) and GROUNDING_RULES not in rules
    assert request.body["contents"][-1]["parts"][0]["text"].endswith(f"Question: {TASK}")
    assert [one["n"] for one in answer["citations"]] == [2, 1], "code has no marker"
    said = [TEXT[one["start"] : one["end"]] for one in answer["support"]["statements"]]
    assert said == ["It prints the days [2]:", "Refunds end [1]."], "code is no statement"


def test_each_name_is_linked_or_marked(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(SAID, on="generate")
    answer = post(client, question=TASK, mode="write").json()
    found = {TEXT[one["start"] : one["end"]]: one for one in answer["names"]}
    statuses = {name: one["status"] for name, one in found.items()}
    assert statuses == {"days": "local", "refund": "documented", "unknown": "undocumented"}
    place = found["refund"]
    document = client.get(f"/v1/documents/{place['document_id']}").json()
    assert document["text"][place["source_start"] : place["source_end"]] == "refund"


def test_the_stream_ends_with_the_names(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(SAID, on="generate")
    events = events_of(post(client, question=TASK, mode="write", stream=True).content)
    assert "".join(data["t"] for name, data in events if name == "token") == TEXT
    assert events[-1][0] == "done" and len(events[-1][1]["names"]) == 4


def test_the_receipt_has_the_mode_and_a_replay_writes_again(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(SAID, on="generate")
    answer_id = post(client, question=TASK, mode="write").json()["answer_id"]
    receipt = client.get(f"/v1/answers/{answer_id}").json()
    assert receipt["mode"] == "write"
    (system,) = [one for one in receipt["prompt"] if one["role"] == "system"]
    assert system["content"].startswith(prompt("writing", refusal=REFUSAL))
    assert "writing" in [one["name"] for one in receipt["prompts"]]


def test_a_conversation_writes_and_keeps_the_names(client: httpx.Client, wire: GeminiWire) -> None:
    conversation = client.post("/v1/conversations", json={}).json()["id"]
    wire.script(SAID, on="generate")
    body = {"question": TASK, "mode": "write", "stream": False}
    sent = client.post(f"/v1/conversations/{conversation}/messages", json=body)
    assert sent.status_code == 200, sent.text
    (stored_message,) = client.get(f"/v1/conversations/{conversation}").json()["path"]
    assert len(stored_message["response"]["names"]) == 4


def test_where_nothing_is_near_no_code_is_written(client: httpx.Client, wire: GeminiWire) -> None:
    wire.requests.clear()
    question = "Write a poem on the chess tournament of Reykjavik"
    answer = post(client, question=question, mode="write").json()
    assert (answer["answer"], answer["names"]) == (REFUSAL, None)
    assert wire.received("generate") == []


def test_other_modes_have_no_names(client: httpx.Client) -> None:
    answer = post(client, question="How long may a refund be requested?").json()
    assert "names" not in answer and "mode" not in answer


@pytest.mark.parametrize("stream", [True, False])
def test_without_a_model_it_is_a_bad_request(database_url: str, stream: bool) -> None:
    with live(database_url) as offline:
        body = {"question": TASK, "mode": "write", "stream": stream}
        refused = offline.post("/v1/query", json=body)
        conversation = offline.post("/v1/conversations", json={}).json()["id"]
        message = offline.post(f"/v1/conversations/{conversation}/messages", json=body)
    for response in (refused, message):
        assert response.status_code == 400
        assert response.json()["error"].startswith("mode write needs a language model")
