"""Withholding by the sentence and markers that Helix found, over every way to ask."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from helix.domain.contract import REFUSAL
from tests.serving.test_sse import parse_stream
from tests.support.live_server import live
from tests.support.query_service import QUESTION, asked, events_of, post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

TRUE = "Refunds are accepted within 30 days of purchase, request a refund by letter."
FALSE = "Refunds are accepted within 60 days of purchase."
CARDS = "Gift cards cannot be returned once they were opened by the buyer."
BOTH = "Can gift cards be returned by the buyer, and are refunds accepted within 30 days?"
REFUSED = f'data: {{"t":"{REFUSAL}"}}\n\nevent: citations\ndata: []\n\n'.encode()


def _says(wire: GeminiWire, text: str, *, finish: str | None = "STOP") -> None:
    deltas = tuple(text[at : at + 9] for at in range(0, len(text), 9))
    wire.script(Answer(deltas=deltas, finish=finish), on="generate")


@pytest.fixture(scope="module")
def careful(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> Iterator[httpx.Client]:
    """A client of an application with HELIX_WITHHOLD=sentence."""
    with live(
        module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8, withhold="sentence",
    ) as client:  # fmt: skip
        yield client


def _ask(client: httpx.Client, **more: str) -> bytes:
    response = client.get("/ask", params={"q": BOTH, **more})
    assert response.status_code == 200, response.text
    return response.content


def test_ask_sends_what_is_borne_out_alone(careful: httpx.Client, wire: GeminiWire) -> None:
    _says(wire, f"{TRUE} [1] {FALSE} [1] {CARDS} [2]")
    text, citations = parse_stream(_ask(careful))
    assert text == f"{TRUE} [1] {CARDS} [2]"
    assert [one["n"] for one in citations] == [1, 2]


def test_nothing_left_is_the_refusal_with_its_reason(
    careful: httpx.Client, wire: GeminiWire
) -> None:
    _says(wire, f"{FALSE} [1]")
    assert _ask(careful) == REFUSED
    _says(wire, f"{FALSE} [1]")
    answer = asked(careful)
    assert (answer["answer"], answer["abstained"], answer["reason"]) == (
        REFUSAL, True, "ungrounded",
    )  # fmt: skip
    assert (answer["citations"], answer["left_out"], answer["closest"]) == ([], 1, [])
    assert answer["reason_text"] and "60 days" not in json.dumps(answer)
    _says(wire, REFUSAL)
    refused = asked(careful)
    assert (refused["reason"], refused["left_out"]) == ("model_refused", 0)


def test_how_many_were_left_out_is_told_and_kept(careful: httpx.Client, wire: GeminiWire) -> None:
    _says(wire, f"{FALSE} [1] {TRUE} [1]")
    answer = asked(careful)
    assert (answer["answer"], answer["left_out"]) == (f"{TRUE} [1]", 1)
    assert answer["support"]["ratio"] == 1
    receipt = careful.get(f"/v1/answers/{answer['answer_id']}").json()
    assert receipt["debug"]["left_out"] == 1 and FALSE not in json.dumps(receipt)
    _says(wire, f"{FALSE} [1] {TRUE} [1]")
    events = events_of(post(careful, stream=True).content)
    assert "".join(data["t"] for name, data in events if name == "token") == answer["answer"]
    assert events[-1][1]["left_out"] == 1


def test_an_answer_that_breaks_off_is_cut_or_a_failure(
    careful: httpx.Client, wire: GeminiWire
) -> None:
    _says(wire, f"{TRUE} [1] {CARDS} [2] {FALSE}", finish=None)
    content = _ask(careful)
    assert TRUE.encode() in content and b"event: citations" not in content
    _says(wire, TRUE, finish=None)  # not a statement was sent yet
    assert careful.get("/ask", params={"q": QUESTION}).status_code == 503


def test_where_nothing_is_withheld_nothing_is_told(client: httpx.Client, wire: GeminiWire) -> None:
    _says(wire, f"{TRUE} [1] {FALSE} [1]")
    answer = asked(client, debug=True)
    assert "left_out" not in answer and "left_out" not in answer["debug"]
    assert answer["answer"] == f"{TRUE} [1] {FALSE} [1]"


def test_ask_has_the_markers_that_were_found_where_they_are_asked_for(
    client: httpx.Client, wire: GeminiWire
) -> None:
    said = f"{TRUE} {FALSE} {CARDS}"
    _says(wire, said)
    text, citations = parse_stream(_ask(client, cite="proof"))
    assert text == f"{TRUE} [1] {FALSE} {CARDS} [2]"
    assert [one["n"] for one in citations] == [1, 2]
    _says(wire, said)
    assert parse_stream(_ask(client, cite="model"))[0] == said
    response = client.get("/ask", params={"q": QUESTION, "cite": "all"})
    assert response.status_code == 400 and response.json()["error"]


def test_a_receipt_tells_markers_of_ours_from_the_models(
    client: httpx.Client, wire: GeminiWire
) -> None:
    _says(wire, f"{CARDS} {TRUE} [1] {FALSE} [1]")
    response = client.get("/ask", params={"q": BOTH, "cite": "proof"})
    text, citations = parse_stream(response.content)
    assert text == f"{CARDS} [2] {TRUE} [1] {FALSE} [1]"
    assert [one["n"] for one in citations] == [2, 1]  # by first use, whoever put them there
    receipt = client.get(f"/v1/answers/{response.headers['X-Answer-Id']}").json()
    shown = f"{CARDS} [1] {TRUE} [2] {FALSE} [2]"  # numbered for readers
    assert (receipt["answer"], receipt["cite"]) == (shown, "proof")
    assert [(one["n"], one["by"]) for one in receipt["citations"]] == [(1, "helix"), (2, "model")]
    statements = receipt["support"]["statements"]
    assert [one.get("by") for one in statements] == ["helix", None, None]
    assert [one["numbers"] for one in statements] == [[1], [2], [2]]
    _says(wire, f"{CARDS} {TRUE} [1] {FALSE} [1]")
    plain = client.get("/ask", params={"q": BOTH})
    receipt = client.get(f"/v1/answers/{plain.headers['X-Answer-Id']}").json()
    assert receipt["cite"] == "model"
    assert [(one["n"], one["by"]) for one in receipt["citations"]] == [(1, "model")]
