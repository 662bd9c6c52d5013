"""POST /v1/query with the agent: what is told, in which order, and what the answer is made from."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from helix.agent.tools import TOOLS
from helix.domain.contract import REFUSAL
from helix.settings.prompts import prompt
from tests.support.fake_embedder import rows
from tests.support.query_service import events_of, post
from tests.support.service_process import eventually
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import (
    Answer,
    Failure,
    Reply,
    call_part,
    calling,
)

COMPARED = "Compare how long a refund may be requested and how long standard parcels take."
REFUND, PARCELS = "request a refund within days of purchase", "standard parcels working days Norway"
SAID = Answer(
    deltas=(
        "Refunds take 30 days [1",
        "], parcels four working days [2].",
    )
)
ENOUGH = Answer(deltas=("DONE",))


def searching(*queries: str) -> Answer:
    """A turn that searches for each query, all at once."""
    return calling(*(call_part("search_library", {"query": query}) for query in queries))


def told(client: httpx.Client, wire: GeminiWire, *replies: Reply, **body: Any) -> list[Any]:
    """The events of an agent's answer to what the wire is told to reply."""
    wire.script(*replies, on="generate")
    response = post(client, stream=True, **{"question": COMPARED, "mode": "agent", **body})
    assert response.status_code == 200, response.text
    return events_of(response.content)


def named(events: list[Any], name: str) -> list[Any]:
    return [payload for found, payload in events if found == name]


def text_of(events: list[Any]) -> str:
    return "".join(token["t"] for token in named(events, "token"))


def test_passages_are_told_as_they_come_and_the_answer_is_written_from_them(
    client: httpx.Client, wire: GeminiWire, module_database_url: str
) -> None:
    calls = calling(
        {"text": "I look for both."},
        call_part("search_library", {"query": REFUND}, "c2ln"),
        call_part("search_library", {"query": PARCELS}),
        thoughts=("Two ", "things."),
    )
    events = told(client, wire, calls, ENOUGH, SAID)
    names = [name for name, _ in events]
    assert names[:2] == ["thinking", "thinking"] and names[-2:] == ["citations", "done"]
    first = names.index("token")
    assert {*names[:first]} == {"thinking", "tool", "source"}
    assert {*names[first:-2]} == {"token"}
    thought = "".join(each["t"] for each in named(events, "thinking"))
    assert thought == "Two things.I look for both."
    ended = [each for each in named(events, "tool") if "milliseconds" in each]
    assert [(each["call"], each["name"], each["failure"]) for each in ended] == [
        (1, "search_library", None), (2, "search_library", None),
    ]  # fmt: skip
    assert ended[0]["arguments"] == {"query": REFUND} and ended[0]["passages"] > 0
    sources = named(events, "source")
    assert [source["n"] for source in sources] == list(range(1, len(sources) + 1))
    assert text_of(events).startswith("Refunds take 30 days [1]")
    (citations,) = named(events, "citations")
    numbered = {source["n"]: source["chunk_id"] for source in sources}
    assert [numbered[each["n"]] for each in citations] == [each["chunk_id"] for each in citations]
    for each in citations:
        if each["quote"] is not None:
            (text,) = rows(
                module_database_url, "SELECT text FROM documents WHERE id = %s",
                each["document_id"],
            )[0]  # fmt: skip
            assert text[each["start"] : each["end"]] == each["quote"]
    assert events[-1][1]["agent"]["ended"] == "done"


def test_the_model_is_shown_passages_under_the_numbers_that_the_answers_prompt_has(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    events = told(client, wire, searching(REFUND), ENOUGH, SAID)
    gathering, again, answering = (one.body for one in wire.received("generate"))
    assert "tools" in gathering and "tools" not in answering
    (result,) = again["contents"][-1]["parts"]
    shown = result["functionResponse"]["response"]["result"]
    prompt = answering["contents"][-1]["parts"][0]["text"]
    for source in named(events, "source"):
        first = f"[{source['n']}] (id={source['chunk_id']}) "
        assert first in prompt
        words = prompt.split(first)[1].split("\n")[0]
        assert f"[{source['n']}] (" in shown and words in shown
    assert prompt.endswith(f"Question: {COMPARED}")


def test_the_model_is_told_the_whole_description_of_every_tool(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    told(client, wire, searching(REFUND), ENOUGH, SAID)
    first, again, _ = (one.body for one in wire.received("generate"))
    (tools,) = first["tools"]
    shown = {each["name"]: each for each in tools["functionDeclarations"]}
    assert {name: each["description"] for name, each in shown.items()} == {
        tool.name: prompt(f"tool_{tool.name}") for tool in TOOLS if tool.name != "fetch_page"
    }
    assert shown["search_library"]["parameters"]["required"] == ["query"]
    assert again["tools"] == first["tools"]


def test_a_number_outside_the_ledger_is_dropped_and_counted(
    client: httpx.Client, wire: GeminiWire
) -> None:
    said = Answer(
        deltas=(
            "Refunds take 30 days [1, 9",
            "9] and more [77].",
        )
    )
    events = told(client, wire, searching(REFUND), ENOUGH, said)
    assert text_of(events) == "Refunds take 30 days [1] and more."
    assert events[-1][1]["agent"]["dropped"] == 2


def test_text_beside_calls_and_the_last_text_of_gathering_are_no_answer(
    client: httpx.Client, wire: GeminiWire
) -> None:
    last = Answer(deltas=("From memory: 99 days.",))
    events = told(client, wire, searching(REFUND), last, SAID)
    assert "99 days" not in str(events)


def test_what_is_said_of_itself_needs_no_agent(client: httpx.Client, wire: GeminiWire) -> None:
    wire.requests.clear()
    events = told(client, wire, question="Hello!")
    assert [name for name, _ in events] == ["token", "citations", "done"]
    assert wire.received("generate") == []


def test_a_short_question_asks_for_no_thoughts(client: httpx.Client, wire: GeminiWire) -> None:
    wire.requests.clear()
    told(client, wire, searching(REFUND), ENOUGH, SAID, question="How long do refunds take?")
    assert all(
        "thinkingConfig" not in one.body.get("generationConfig", {})
        for one in wire.received("generate")
    )


def test_a_model_that_refuses_to_give_its_thoughts_is_asked_without(
    client: httpx.Client, wire: GeminiWire
) -> None:
    refused = Failure(400, "INVALID_ARGUMENT", "Thinking is not supported by this model.")
    events = told(client, wire, refused, searching(REFUND), ENOUGH, SAID)
    assert text_of(events).startswith("Refunds take") and events[-1][0] == "done"


def test_a_model_that_calls_nothing_is_given_the_passages_of_one_search(
    client: httpx.Client, wire: GeminiWire
) -> None:
    events = told(client, wire, Answer(deltas=("It is 12 days, I know it.",)), SAID)
    assert [each["arguments"] for each in named(events, "tool")] == [{"query": COMPARED}] * 2
    assert text_of(events).startswith("Refunds take 30 days")


def test_where_nothing_passes_the_gate_the_answer_is_the_refusal(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.requests.clear()
    question = "Who won the chess tournament of Reykjavik?"
    events = told(client, wire, searching("chess tournament"), ENOUGH, question=question)
    assert text_of(events) == REFUSAL
    assert (events[-1][1]["reason"], named(events, "citations")) == ("below_gate", [[]])
    assert len(wire.received("generate")) == 2, "the model is not asked to answer"


def test_whole_the_answer_is_the_same_and_its_receipt_has_every_call(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(searching(REFUND, PARCELS), ENOUGH, SAID, on="generate")
    answer = post(client, question=COMPARED, mode="agent").json()
    assert answer["answer"] == "".join(SAID.deltas)
    receipt = client.get(f"/v1/answers/{answer['answer_id']}").json()
    assert receipt["agent"] == answer["agent"]
    for call in receipt["agent"]["calls"]:
        assert call["name"] == "search_library" and call["chunk_ids"] and call["seconds"] > 0
    verified = client.get(f"/v1/answers/{answer['answer_id']}/verify").json()
    assert verified["status"] == "holds"


@pytest.mark.parametrize(
    "turns",
    [
        (Answer(deltas=(), finish="MALFORMED_FUNCTION_CALL"), searching(REFUND), ENOUGH),
        (calling(call_part("search_library", {"words": "refund"})), searching(REFUND), ENOUGH),
        (calling(call_part("drop_tables", {})), searching(REFUND), ENOUGH),
        (searching(REFUND), calling({"text": ""})),
    ],
    ids=["unreadable call", "wrong arguments", "unknown tool", "empty turn"],
)
def test_a_bad_turn_is_told_back_and_costs_no_answer(
    client: httpx.Client, wire: GeminiWire, turns: tuple[Reply, ...]
) -> None:
    events = told(client, wire, *turns, SAID)
    assert text_of(events).startswith("Refunds take 30 days [1]")
    assert events[-1][0] == "done" and events[-1][1]["agent"]["ended"] == "done"


FAILURES: dict[str, Reply] = {
    "refused": Failure(400, "INVALID_ARGUMENT", "The wire server was told to refuse."),
    "safety": Answer(deltas=("Well",), finish="SAFETY"),
    "blocked": Answer(block="PROHIBITED_CONTENT"),
    "no finish": Answer(deltas=("Well",), finish=None),
    "cut": Answer(deltas=("Well",), then="cut"),
    "length": Answer(deltas=("Well",), finish="MAX_TOKENS"),
    "unreadable twice": Answer(deltas=(), finish="MALFORMED_FUNCTION_CALL"),
    "error inside": Answer(deltas=("Well",), error=(500, "INTERNAL")),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("at", ["first", "second", "answer"])
def test_a_failure_at_any_step_is_an_answer_from_what_there_is_or_a_clean_error(
    client: httpx.Client, wire: GeminiWire, failure: Reply, at: str
) -> None:
    broken = [failure, failure] if failure is FAILURES["unreadable twice"] else [failure]
    plan: dict[str, list[Reply]] = {
        "first": [*broken, SAID],
        "second": [searching(REFUND), *broken, SAID],
        "answer": [searching(REFUND), ENOUGH, failure],
    }
    try:
        events = told(client, wire, *plan[at], question="How long do refunds take?")
    finally:
        wire._script.clear()
    last, payload = events[-1]
    if at == "answer":
        assert last == "error" and "citations" not in [name for name, _ in events]
    else:
        assert last == "done" and payload["agent"]["ended"] == "failed"
        assert text_of(events) == "".join(SAID.deltas)


def test_a_client_that_leaves_ends_the_models_stream(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(searching(REFUND), Answer(deltas=("Hm",), then="hang"), on="generate")
    body = {"question": COMPARED, "mode": "agent", "stream": True}
    with client.stream("POST", "/v1/query", json=body) as response:
        for line in response.iter_lines():
            if line == "event: source":
                assert eventually(lambda: wire.open_streams == 1)
                break
    assert eventually(lambda: wire.open_streams == 0)


def test_an_unknown_mode_or_time_zone_is_a_bad_request(client: httpx.Client) -> None:
    for body, key in (({"mode": "magic"}, "mode"), ({"time_zone": "Mars/Base"}, "time_zone")):
        response = post(client, **body)
        assert response.status_code == 400 and response.json()["error"].startswith(key)


def test_ask_never_has_an_agent(client: httpx.Client, wire: GeminiWire) -> None:
    wire.requests.clear()
    client.get("/ask", params={"q": COMPARED})
    (request,) = wire.received("generate")
    assert "tools" not in request.body


def test_answer_is_written_in_the_tenants_style(client: httpx.Client, wire: GeminiWire) -> None:
    """The answer begins once its sources are gathered, long after the request was read."""
    style = "/v1/prompts/answering_style"
    version = client.post(style, json={"text": "Be brief."}).json()["version"]
    try:
        events = told(client, wire, searching(REFUND, PARCELS), ENOUGH, SAID)
    finally:
        client.delete(style)
    rules = wire.received("generate")[-1].body["systemInstruction"]["parts"][0]["text"]
    assert rules.endswith("\nBe brief.")
    receipt = client.get(f"/v1/answers/{events[-1][1]['answer_id']}").json()
    used = {each["name"]: each["version"] for each in receipt["prompts"]}
    assert used["answering_style"] == version
