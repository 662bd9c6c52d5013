"""Answers from a tool's result: what is told, cited, proven, kept and replayed."""

from __future__ import annotations

import re
from typing import Any

import httpx
import psycopg
import pytest

from helix.conversations.receipts.verify_answer import verified
from helix.domain.contract import REFUSAL
from tests.agent.test_stream import ENOUGH, named, searching, text_of, told
from tests.support.query_service import post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Failure, call_part, calling

ASKED = "What is 15% of 2,340?"
TIME = "What time is it?"
CALCULATE = calling(call_part("calculator", {"expression": "15% * 2,340"}))
CLOCK = calling(call_part("current_time", {}))
SUM = Answer(deltas=("15% of 2,340 is 351 [1", "]."))


def test_a_sum_is_answered_and_cites_the_calculation(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    events = told(client, wire, CALCULATE, ENOUGH, SUM, question=ASKED)
    (source,) = named(events, "source")
    assert (source["n"], source["kind"], source["title"]) == (1, "calculation", "Calculation")
    assert source["chunk_id"] is source["document_id"] is source["distance"] is None
    assert text_of(events) == "15% of 2,340 is 351 [1]."
    ((cited,),) = named(events, "citations")
    assert (cited["kind"], cited["quote"]) == ("calculation", "15% × 2,340 = 351")
    assert cited["chunk_id"] is cited["document_id"] is cited["start"] is cited["end"] is None
    done = events[-1][1]
    assert done["abstained"] is False
    (statement,) = done["support"]["statements"]
    assert statement["supported"] and statement["relevant"]
    _, again, answering = (one.body for one in wire.received("generate"))
    shown = again["contents"][-1]["parts"][0]["functionResponse"]["response"]["result"]
    assert shown == "[1] 15% × 2,340 = 351"
    assert (
        "[1] (id=calculation) 15% × 2,340 = 351\n" in answering["contents"][-1]["parts"][0]["text"]
    )


def test_a_sum_is_signed_with_its_calculation_and_no_document(
    client: httpx.Client, wire: GeminiWire
) -> None:
    done = told(client, wire, CALCULATE, ENOUGH, SUM, question=ASKED)[-1][1]
    signed = client.get(f"/v1/answers/{done['answer_id']}/proof")
    assert signed.status_code == 200, signed.text
    proof, _ = verified(signed.content)
    (cited,) = proof["citations"]
    assert (cited["kind"], cited["quote"]) == ("calculation", "15% × 2,340 = 351")
    assert cited["document_id"] is None and proof["documents"] == []


def test_the_time_is_answered_and_cites_the_clock(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(CLOCK, ENOUGH, on="generate")
    said: list[str] = []

    def answer(request: Any) -> None:
        shown = request.body["contents"][-1]["parts"][0]["text"]
        said.append(re.findall(r"\d\d:\d\d", shown)[0])

    first = post(client, question=TIME, mode="agent", time_zone="Europe/Berlin").json()
    assert first["citations"][0]["kind"] == "clock"
    answer(wire.received("generate")[-1])
    wire.script(CLOCK, ENOUGH, Answer(deltas=(f"It is {said[0]} [1].",)), on="generate")
    second = post(client, question=TIME, mode="agent", time_zone="Europe/Berlin").json()
    assert [one["kind"] for one in second["citations"]] == ["clock"]
    wire.script(CLOCK, ENOUGH, Answer(deltas=("It is 99:99 [1].",)), on="generate")
    wrong = post(client, question=TIME, mode="agent").json()
    assert [one["supported"] for one in wrong["support"]["statements"]] == [False]


def test_passages_that_fail_the_gate_are_left_out_beside_a_result(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    both = calling(
        call_part("search_library", {"query": "chess tournament Reykjavik"}),
        call_part("calculator", {"expression": "15% * 2,340"}),
    )
    events = told(client, wire, both, ENOUGH, SUM, question=ASKED)
    sources = named(events, "source")
    assert sources[-1]["kind"] == "calculation" and sources[-1]["n"] == 1
    assert text_of(events) == "15% of 2,340 is 351 [1]."
    answering = wire.received("generate")[-1].body["contents"][-1]["parts"][0]["text"]
    assert answering.count("(id=") == 1
    searched, computed = events[-1][1]["agent"]["calls"]
    assert (searched["sources"], computed["sources"]) == ([], [1])
    assert searched["chunk_ids"]


def test_a_sum_over_numbers_that_nobody_gave_is_marked(
    client: httpx.Client, wire: GeminiWire
) -> None:
    invented = calling(call_part("calculator", {"expression": "15% * 500"}))
    said = Answer(deltas=("15% of the revenue is 75 [1].",))
    events = told(client, wire, invented, ENOUGH, said, question="What is 15% of the revenue?")
    (statement,) = events[-1][1]["support"]["statements"]
    assert (statement["supported"], statement["problem"]) == (False, "number")


def test_a_result_is_answered_from_where_the_model_fails_behind_it(
    client: httpx.Client, wire: GeminiWire
) -> None:
    failed = Failure(400, "INVALID_ARGUMENT", "The wire server was told to refuse.")
    events = told(client, wire, CALCULATE, failed, SUM, question=ASKED)
    assert text_of(events) == "15% of 2,340 is 351 [1]."
    assert events[-1][1]["agent"]["ended"] == "failed"


def test_a_model_that_refuses_a_result_of_the_questions_numbers_is_overruled(
    client: httpx.Client, wire: GeminiWire
) -> None:
    refused = Answer(deltas=(REFUSAL[:20], REFUSAL[20:], " [1]"))
    events = told(client, wire, CALCULATE, ENOUGH, refused, question=ASKED)
    assert text_of(events) == "15% × 2,340 = 351 [1]."
    (statement,) = events[-1][1]["support"]["statements"]
    assert statement["supported"] and not events[-1][1]["abstained"]
    events = told(client, wire, CLOCK, ENOUGH, refused, question=TIME)
    assert text_of(events).startswith("The current date and time:")


def test_a_refusal_of_another_question_stays_one(client: httpx.Client, wire: GeminiWire) -> None:
    refused, question = Answer(deltas=(REFUSAL,)), "Who won the chess tournament of Reykjavik?"
    for call in (CLOCK, CALCULATE):
        events = told(client, wire, call, ENOUGH, refused, question=question)
        assert (text_of(events), named(events, "citations")) == (REFUSAL, [[]])


def test_the_receipt_has_the_result_verifies_and_replays_it(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(CALCULATE, ENOUGH, SUM, on="generate")
    answer_id = post(client, question=ASKED, mode="agent").json()["answer_id"]
    receipt = client.get(f"/v1/answers/{answer_id}").json()
    (source,) = receipt["index"]["sources"]
    assert source["tool"]["text"] == "15% × 2,340 = 351" and source["chunk_id"] is None
    (message,) = [one for one in receipt["prompt"] if one["role"] == "user"]
    assert "(id=calculation) 15% × 2,340 = 351" in message["content"]
    verified = client.get(f"/v1/answers/{answer_id}/verify").json()
    assert verified["status"] == "holds"
    assert [one["status"] for one in verified["citations"]] == ["holds"]


def test_a_result_goes_with_a_document_that_its_answer_was_made_of(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    both = calling(
        call_part("search_library", {"query": "request a refund within days of purchase"}),
        call_part("calculator", {"expression": "15% * 2,340"}),
    )
    wire.script(both, ENOUGH, on="generate")
    answered = post(client, question=ASKED, mode="agent").json()
    receipt = client.get(f"/v1/answers/{answered['answer_id']}").json()
    kept = [one for one in receipt["index"]["sources"] if one.get("tool")]
    assert kept
    with psycopg.connect(module_database_url) as connection:
        (left,) = connection.execute(
            "SELECT without_documents(receipt, document_ids) FROM answers WHERE id = %s",
            (answered["answer_id"],),
        ).fetchone() or (None,)
    assert left is not None and "2,340 = 351" not in str(left["index"])
    assert all(not one.get("tool") for one in left["index"]["sources"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_conversation_keeps_the_citation_of_a_result(
    client: httpx.Client, wire: GeminiWire, stream: bool
) -> None:
    conversation = client.post("/v1/conversations", json={}).json()["id"]
    wire.script(CALCULATE, ENOUGH, SUM, on="generate")
    sent = client.post(
        f"/v1/conversations/{conversation}/messages",
        json={"question": ASKED, "mode": "agent", "stream": stream},
    )
    assert sent.status_code == 200, sent.text
    (stored,) = client.get(f"/v1/conversations/{conversation}").json()["path"]
    assert [one["kind"] for one in stored["response"]["citations"]] == ["calculation"]
    assert stored["stale"] == []


def test_a_search_is_still_a_refusal_where_only_it_was_made(
    client: httpx.Client, wire: GeminiWire
) -> None:
    question = "Who won the chess tournament of Reykjavik?"
    events = told(client, wire, searching("chess tournament"), ENOUGH, question=question)
    assert text_of(events) == REFUSAL
