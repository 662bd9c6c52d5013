"""/v1/prompts over HTTP: changed, tried and put back, with Gemini on the wire."""

from __future__ import annotations

import httpx

from helix.domain.contract import GROUNDING_RULES
from tests.support.query_service import asked
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

STYLE = "/v1/prompts/answering_style"


def _system(wire: GeminiWire) -> str:
    text: str = wire.received("generate")[-1].body["systemInstruction"]["parts"][0]["text"]
    return text


def test_a_prompt_is_changed_tried_and_put_back(client: httpx.Client, wire: GeminiWire) -> None:
    said = Answer(("Refunds are accepted within 30 days of purchase [1].",))
    wire.script(*[said] * 4, on="generate")
    asked(client)
    assert _system(wire) == GROUNDING_RULES
    listed = client.get("/v1/prompts").json()["prompts"]
    assert {"answering_style", "judge", "search_terms"} <= {each["name"] for each in listed}

    refused = client.post(STYLE, json={"text": "Be {{very}} brief."})
    assert refused.status_code == 400 and "line 1: {{very}}" in refused.json()["error"]
    changed = client.post(STYLE, json={"text": "Be brief.", "last_version": 0})
    assert (changed.status_code, changed.json()["version"]) == (200, 1)
    assert client.post(STYLE, json={"text": "x", "last_version": 0}).status_code == 409
    answer = asked(client)
    assert _system(wire).startswith(GROUNDING_RULES) and _system(wire).endswith("\nBe brief.")
    receipt = client.get(f"/v1/answers/{answer['answer_id']}").json()
    assert [(used["name"], used["version"]) for used in receipt["prompts"]] == [
        ("answering_style", 1)
    ]
    assert receipt["prompt"][0]["content"].endswith("\nBe brief.")

    draft = {"text": "Be terse.", "question": "How long do I have to request a refund?"}
    tried = client.post(f"{STYLE}/preview", json=draft).json()
    assert tried["prompt"].endswith("\nBe terse.") and _system(wire).endswith("\nBe terse.")
    assert tried["answer"]["citations"][0]["n"] == 1
    assert client.get(f"/v1/answers/{tried['answer']['answer_id']}").status_code == 404
    assert client.get(STYLE).json()["text"] == "Be brief.", "a draft is not stored"

    assert client.delete(STYLE).json()["version"] is None
    asked(client)
    assert _system(wire) == GROUNDING_RULES
    assert client.post(f"{STYLE}/rollback", json={"version": 1}).json()["version"] == 3
    lines = client.get(f"{STYLE}/diff", params={"before": 2, "after": 3}).json()["diff"]
    assert lines[-1] == "+Be brief."
    assert client.get(f"{STYLE}/diff", params={"before": 3}).json()["diff"] == []
    assert client.get(f"{STYLE}/diff", params={"before": 9}).status_code == 404
    assert client.delete(STYLE).status_code == 200
