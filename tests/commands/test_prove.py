"""``helix prove``: payloads of every protocol signed, signed answers verified, keys replaced."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from helix.commands.prove import NamedAnswer, answer_in
from helix.errors import BadRequest
from tests.support.ai_sdk import chat
from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.receipt_corpus import fact, question
from tests.support.signed_answers import VERIFIER, bring_in_facts

ASKED = question(2)
_ID = "0f0c6ef4c1f54cf8b2a9c1a2f6d3e845"
_OTHER = _ID[::-1]
_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    asyncio.run(bring_in_facts(module_database_url, 4))
    with live(module_database_url) as client:
        yield client


@pytest.fixture
def address(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def _completions(client: httpx.Client, stream: bool) -> httpx.Response:
    messages = [{"role": "user", "content": ASKED}]
    body = {"model": "helix", "messages": messages, "stream": stream}
    return client.post("/v1/chat/completions", json=body)


def _responses(client: httpx.Client, stream: bool) -> httpx.Response:
    body = {"model": "helix", "input": ASKED, "stream": stream}
    return client.post("/v1/responses", json=body)


def _message(client: httpx.Client, stream: bool) -> httpx.Response:
    conversation = client.post("/v1/conversations", json={}).json()["id"]
    body = {"question": ASKED, "stream": stream}
    return client.post(f"/v1/conversations/{conversation}/messages", json=body)


def _kept(client: httpx.Client) -> httpx.Response:
    told = _message(client, False).json()
    place = f"/v1/conversations/{told['conversation_id']}/messages"
    path = client.get(f"/v1/conversations/{told['conversation_id']}").json()["path"]
    return client.get(f"{place}/{path[0]['id']}")


def _mcp(client: httpx.Client) -> httpx.Response:
    call = {"name": "ask", "arguments": {"question": ASKED}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = "application/json, text/event-stream"
    headers = {"Accept": accept, "MCP-Protocol-Version": "2025-06-18"}
    return client.post("/mcp", json=body, headers=headers)


PAYLOADS: dict[str, Callable[[httpx.Client], httpx.Response]] = {
    "GET /ask": lambda client: client.get("/ask", params={"q": ASKED}),
    "POST /v1/query": lambda client: client.post("/v1/query", json={"question": ASKED}),
    "POST /v1/query, events": lambda client: client.post(
        "/v1/query", json={"question": ASKED, "stream": True}
    ),
    "messages": lambda client: _message(client, False),
    "messages, events": lambda client: _message(client, True),
    "a kept message": _kept,
    "chat completions": lambda client: _completions(client, False),
    "chat completions, events": lambda client: _completions(client, True),
    "responses": lambda client: _responses(client, False),
    "responses, events": lambda client: _responses(client, True),
    "AI SDK": lambda client: client.post("/v1/ui/chat", json=chat(ASKED)),
    "MCP": _mcp,
}


@pytest.mark.parametrize("protocol", PAYLOADS)
def test_the_payload_of_any_protocol_is_enough(
    protocol: str, client: httpx.Client, address: str, tmp_path: Path
) -> None:
    told = PAYLOADS[protocol](client)
    assert told.status_code in (200, 201), told.text
    (tmp_path / "payload").write_bytes(told.content)
    made = helix("prove", str(tmp_path / "payload"), "--server", address)
    assert made.returncode == 0, made.stderr
    proof = json.loads(made.stdout)["proof"]
    assert (proof["question"], proof["abstained"]) == (ASKED, False)
    assert "114 crates" in proof["answer"] and proof["statements"][0]["spans"]
    assert proof["answer_id"] in told.headers.get("X-Answer-Id", told.text)
    assert f"answer {proof['answer_id']} is signed with the key" in made.stderr


def test_what_is_signed_is_verified_by_the_command_and_by_the_file_that_it_prints(
    client: httpx.Client, address: str, module_database_url: str, tmp_path: Path
) -> None:
    """From an id, by the database without a server, to a stranger's machine."""
    answer_id = PAYLOADS["POST /v1/query"](client).json()["answer_id"]
    made = helix("prove", answer_id, DATABASE_URL=module_database_url, **_OFFLINE)
    assert made.returncode == 0, made.stderr
    signed, text = tmp_path / "signed.json", tmp_path / "text.txt"
    signed.write_text(made.stdout)
    text.write_text(f"About depots.\n\n{fact(2)}")
    keys = tmp_path / "keys.json"
    keys.write_bytes(client.get("/.well-known/helix-keys.json").content)
    arguments = [str(signed), "--text", str(text), "--key", str(keys)]
    told = helix("prove", *arguments)
    assert told.returncode == 0 and "every quote in its place" in told.stdout, told.stderr
    alone = tmp_path / "verify_answer.py"
    alone.write_text(helix("prove", "--print-verifier").stdout)
    assert alone.read_bytes() == VERIFIER.read_bytes()
    command = [sys.executable, "-I", "-S", str(alone), *arguments]
    again = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout) == (0, told.stdout)
    for part, other in (("114 crates", "115 crates"), ('"public_key"', '"public-key"')):
        signed.write_text(made.stdout.replace(part, other, 1))
        told = helix("prove", str(signed))
        assert told.returncode == 1 and "NOT VERIFIED: it" in told.stdout


def test_a_payload_that_says_something_else_is_told(
    client: httpx.Client, address: str, tmp_path: Path
) -> None:
    told = PAYLOADS["POST /v1/query"](client).json()
    told["answer"] = told["answer"].replace("114", "115")
    made = helix("prove", "-", "--server", address, stdin=json.dumps(told))
    assert made.returncode == 2 and "the text that you gave is not what it says" in made.stderr
    assert "114 crates" in json.loads(made.stdout)["proof"]["answer"]


def test_an_answer_that_cannot_be_signed_is_one_line(
    client: httpx.Client, address: str, tmp_path: Path
) -> None:
    (tmp_path / "stream").write_text('data: {"t":"Never said."}\n\nevent: citations\ndata: []\n\n')
    for payload, line in (
        (_ID, f"there is no answer {_ID}: receipts are kept for 30 days"),
        (str(tmp_path / "stream"), "there is no answer with this text"),
        (str(tmp_path / "none.json"), "none.json cannot be read: No such file"),
    ):
        told = helix("prove", payload, "--server", address)
        assert told.returncode in (1, 2) and told.stdout == ""
        assert line in told.stderr and told.stderr.count("\n") == 1
    assert helix("prove").returncode == 2
    assert helix("prove", _ID, _OTHER, "--server", address).returncode == 2


def test_keys_are_listed_renewed_and_withdrawn(
    client: httpx.Client, address: str, module_database_url: str
) -> None:
    def keys(*options: str) -> subprocess.CompletedProcess[str]:
        return helix("keys", "signing", *options, DATABASE_URL=module_database_url, **_OFFLINE)

    def signs() -> str:
        answer_id = PAYLOADS["POST /v1/query"](client).json()["answer_id"]
        signature: dict[str, Any] = json.loads(
            helix("prove", answer_id, "--server", address).stdout
        )["signature"]
        return str(signature["key_id"])

    first = signs()
    assert first in keys().stdout and signs() == first
    assert keys("--renew").returncode == 0
    second = signs()
    listed = keys().stdout
    assert first != second and first in listed and second in listed
    assert first not in keys("--withdraw", first).stdout
    assert keys("--withdraw", first).returncode == 1


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        (_ID, NamedAnswer(_ID)),
        ({"answer_id": _ID, "answer": "Yes. [1]"}, NamedAnswer(_ID, "Yes. [1]")),
        ({"message": {"response": {"answer_id": _ID}}}, NamedAnswer(_ID)),
        ({"id": f"chatcmpl-{_ID}", "trace_id": _OTHER}, NamedAnswer(_ID)),
        ({"id": _OTHER, "parts": [{"data": {"answer_id": _ID}}]}, NamedAnswer(_ID)),
        ({"content": [{"text": json.dumps({"answer_id": _ID})}]}, NamedAnswer(_ID)),
        (f"HTTP/1.1 200 OK\r\nX-Answer-Id: {_ID}\r\n\r\ndata: {{}}", NamedAnswer(_ID)),
    ],
)
def test_a_payload_names_its_answer(payload: object, named: NamedAnswer) -> None:
    written = payload if isinstance(payload, str) else json.dumps(payload)
    assert answer_in(written.encode()) == named


@pytest.mark.parametrize(
    "payload",
    [
        "", "no JSON", "[]", "{", "[" * 50_000, json.dumps({"id": _ID}), 'data: {"t": 5}', "\ud800",
        json.dumps([{"answer_id": _ID}, {"answer_id": _OTHER}]),
    ],
)  # fmt: skip
def test_a_payload_that_names_none_or_several_is_refused(payload: str) -> None:
    with pytest.raises(BadRequest):
        answer_in(payload.encode(errors="surrogatepass"))
