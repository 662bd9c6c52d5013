"""The AI SDK's stream: its parts, the way back to it, and what `ai` 5, 6 and 7 make of it."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from helix.domain.contract import REFUSAL
from helix.protocols.ui_stream import ui_frames
from tests.support.ai_sdk import chat, part, parts_of, read_by_sdk, text_of, units
from tests.support.query_service import QUESTION, REFUNDS, asked
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

ORDER = [
    "start", "start-step", "text-start", "text-delta", "source-document", "text-end",
    "data-proof", "finish-step", "finish",
]  # fmt: skip
BROKEN = Answer(deltas=("Half an ", "ans"), then="cut")


def test_the_parts_of_an_answer(client: httpx.Client) -> None:
    same = asked(client)
    parts = parts_of(client.post("/v1/ui/chat", json=chat(QUESTION)))
    kinds = [one["type"] for one in parts]
    assert list(dict.fromkeys(kinds)) == ORDER and text_of(parts) == same["answer"]
    (citation,) = part(parts, "text-end")["citations"]
    assert units(text_of(parts), citation["startIndex"], citation["endIndex"]) == "[1]"
    own = citation["source"]["providerMetadata"]["helix"]
    assert REFUNDS[own["start"] : own["end"]] == citation["citedText"] == own["quote"]
    assert part(parts, "source-document")["providerMetadata"]["helix"] == own
    proof = part(parts, "data-proof")["data"]
    assert proof["marks"][0]["url"] == own["url"] and proof["support"]["ratio"] == 1.0
    refused = parts_of(client.post("/v1/ui/chat", json=chat("Zebras?")))
    assert text_of(refused) == REFUSAL and part(refused, "data-proof")["data"]["abstained"]


async def test_an_agents_thinking_and_tools_are_parts() -> None:
    async def events() -> object:
        yield "thinking", {"t": "Let me "}
        yield "thinking", {"t": "look."}
        call = {"call": 1, "name": "search_library", "arguments": {"query": "x"}}
        yield "tool", call
        yield "tool", call | {"passages": 2, "milliseconds": 5, "failure": None}
        yield "tool", call | {"call": 2}
        yield "tool", call | {"call": 2, "failure": "nothing there", "milliseconds": 1}
        yield "token", {"t": "Yes."}
        yield "error", {"error": "cut"}

    sent = b"".join([piece async for piece in ui_frames(events(), "http://h", "m")])  # type: ignore[arg-type]
    parts = [json.loads(frame.removeprefix(b"data: ")) for frame in sent.split(b"\n\n")[:-1]]
    assert [one["type"] for one in parts] == [
        "start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-delta",
        "reasoning-end", "tool-input-start", "tool-input-available", "tool-output-available",
        "tool-input-start", "tool-input-available", "tool-output-error", "text-start",
        "text-delta", "error",
    ]  # fmt: skip
    assert parts[8]["output"] == {"passages": 2, "milliseconds": 5}


def test_messages_before_the_question_are_its_history(
    client: httpx.Client, wire: GeminiWire
) -> None:
    body = chat("What about parcels to Norway?", "Four days. [1]", "And express parcels?")
    parts = parts_of(client.post("/v1/ui/chat", json=body))
    assert part(parts, "data-proof")["data"]["turn"]["memory"]["turns"] == 1
    assert "What about parcels to Norway?" in json.dumps(wire.received("generate")[-1].body)


def test_what_fails_before_the_first_token_is_a_status(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(Answer(deltas=(), block="SAFETY"), on="generate")
    told = [client.post("/v1/ui/chat", json=chat(QUESTION))]
    told += [client.post("/v1/ui/chat", json=body) for body in ({}, {"id": "x", "messages": []})]
    told.append(client.post("/v1/ui/chat", json=chat("Asked?", "Answered.")))
    assert [one.status_code for one in told] == [502, 400, 400, 400]
    assert all(list(one.json()) == ["error"] for one in told)


def test_a_cut_answer_ends_with_an_error(client: httpx.Client, wire: GeminiWire) -> None:
    for resume in (False, True):
        wire.script(BROKEN, on="generate")
        body = chat(QUESTION, chat_id=f"cut-{resume}", resume=resume)
        parts = parts_of(client.post("/v1/ui/chat", json=body))
        assert text_of(parts) == "Half an ans" and parts[-1]["type"] == "error"
        assert "text-end" not in [one["type"] for one in parts]


def _left(client: httpx.Client, wire: GeminiWire, **more: object) -> None:
    """Ask, read a word and leave."""
    wire.script(Answer(deltas=("word ",) * 40 + ("end [1].",), delay=0.05), on="generate")
    body = json.dumps(chat(QUESTION, **more))  # type: ignore[arg-type]
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as leaving:
        head = (
            f"POST /v1/ui/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        leaving.sendall((head + body).encode())
        while b"word" not in leaving.recv(4096):
            continue


def test_a_client_that_leaves_closes_the_models_stream(
    client: httpx.Client, wire: GeminiWire
) -> None:
    abandoned = wire.abandoned
    _left(client, wire)
    assert wire.wait_until(lambda w: w.open_streams == 0 and w.abandoned == abandoned + 1)


def test_a_client_that_said_so_comes_back_to_its_answer(
    client: httpx.Client, wire: GeminiWire
) -> None:
    abandoned = wire.abandoned
    assert client.get("/v1/ui/chat/back/stream").status_code == 204
    _left(client, wire, chat_id="back", resume=True)
    with ThreadPoolExecutor() as pool:  # two tabs come back
        told = list(pool.map(client.get, ["/v1/ui/chat/back/stream"] * 2))
    for response in told:
        parts = parts_of(response)
        assert text_of(parts) == "word " * 40 + "end [1]." and parts[-1]["type"] == "finish"
    assert wire.abandoned == abandoned
    assert client.get("/v1/ui/chat/back/stream").status_code == 204
    (kept,) = client.get("/v1/conversations/back").json()["path"]
    assert kept["question"] == QUESTION and kept["status"] == "done"


def test_a_question_asked_again_is_a_sibling(client: httpx.Client) -> None:
    for texts in ((QUESTION,), (QUESTION, "a", "And?"), (QUESTION, "a", "And then?"), ("Why?",)):
        body = chat(*texts, chat_id="tree", resume=True)
        parts_of(client.post("/v1/ui/chat", json=body))
    tree = client.get("/v1/conversations/tree?view=tree").json()["tree"]
    places = [
        (one["question"], one["parent_id"] and one["parent_id"] - tree[0]["id"]) for one in tree
    ]
    assert places == [(QUESTION, None), ("And?", 0), ("And then?", 0), ("Why?", None)]


@pytest.mark.node
def test_versions_5_6_and_7_read_every_part(client: httpx.Client, wire: GeminiWire) -> None:
    same = asked(client)
    at = {"api": f"{client.base_url}/v1/ui/chat", "body": {}, "chatId": "node", "text": QUESTION}
    for version, told in read_by_sdk(**at).items():
        assert told["errors"] == [] and list(dict.fromkeys(told["chunks"])) == ORDER
        parts = told["message"]["parts"]
        text, proof = part(parts, "text"), part(parts, "data-proof")["data"]
        assert (text["text"], text["state"]) == (same["answer"], "done")
        assert part(parts, "source-document")["title"].startswith("Refund Policy")
        (mark,) = proof["marks"]
        assert units(text["text"], mark["startIndex"], mark["endIndex"]) == "[1]"
        if version == "7":
            assert text["citations"][0]["citedText"] == same["citations"][0]["quote"]
    wire.script(*[BROKEN] * 3, on="generate")
    for told in read_by_sdk(**at).values():
        assert told["errors"] and "finish" not in told["chunks"]
        assert part(told["message"]["parts"], "text")["state"] == "streaming"
    wire.script(*[Answer(deltas=(), block="SAFETY")] * 3, on="generate")
    assert all("error" in told["errors"][0] for told in read_by_sdk(**at).values())
    back = read_by_sdk(**at | {"reconnects": True})
    assert all(told.get("nothing") for told in back.values())


@pytest.mark.node
def test_versions_5_6_and_7_come_back_to_a_running_answer(
    client: httpx.Client, wire: GeminiWire
) -> None:
    abandoned, words = wire.abandoned, ("word ",) * 20 + ("end [1].",)
    wire.script(*[Answer(deltas=words, delay=0.05)] * 3, on="generate")
    at = {"api": f"{client.base_url}/v1/ui/chat", "body": {"resume": True}, "chatId": "running"}
    for told in read_by_sdk(**at, text=QUESTION, leaves=True).values():
        assert told["errors"] == [] and told["chunks"][-1] == "finish"
        text = part(told["message"]["parts"], "text")
        assert (text["text"], text["state"]) == ("".join(words), "done")
    assert wire.abandoned == abandoned
