"""/v1/answers over HTTP: receipts of each way to ask, verdicts in order, feedback, replay."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from helix.cli import cli
from helix.domain.contract import REFUSAL
from helix.serving.sse import citations_frame
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.receipt_corpus import bring_in, document, question, services
from tests.support.service_process import eventually

ASKED = question(2)
KEYS = {
    "answer_id", "trace_id", "created_at", "question", "scope", "top_k", "answer", "abstained",
    "reason", "clarifying_question", "citations", "support", "verdict", "flags", "prompt",
    "models", "settings", "index", "debug", "feedback",
}  # fmt: skip
VERDICT = {"grounded", "unsupported_claims", "cited_ids", "citations_correct", "relevant"}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(scope="module")
def url(module_database_url: str) -> str:
    async def fill() -> None:
        async with services(module_database_url) as opened:
            await bring_in(opened, *map(document, range(6)))
            await bring_in(opened, document(2), tenant="acme")

    asyncio.run(fill())
    return module_database_url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with live(url) as client:
        yield client


def _asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = client.post("/v1/query", json={"question": ASKED, **body})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def _read(client: httpx.Client, answer_id: str, path: str = "", **params: str) -> Any:
    response = client.get(f"/v1/answers/{answer_id}{path}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def _events(response: httpx.Response) -> list[tuple[str, Any]]:
    frames = [f for f in response.text.split("\n\n") if f and not f.startswith(":")]
    found = [re.fullmatch(r"(?:event: (\w+)\n)?data: (.*)", frame) for frame in frames]
    return [(each[1] or "t", json.loads(each[2])) for each in found if each]


def test_an_answer_is_found_again_under_its_id(client: httpx.Client) -> None:
    asked = {"top_k": 2, "filters": {"source_prefix": "depots/", "since": "2020-01-01T00:00:00Z"}}
    answer = _asked(client, **asked, debug=True)
    receipt = _read(client, answer["answer_id"])
    assert set(receipt) >= KEYS
    for key in ("answer", "citations", "support", "abstained", "reason", "trace_id", "debug"):
        assert receipt[key] == answer[key], key
    assert (receipt["question"], receipt["top_k"]) == (ASKED, 2)
    assert receipt["scope"] == {
        "document_ids": None, "source_prefix": "depots/", "tags": None,
        "since": "2020-01-01T00:00:00+00:00", "until": None, "company": None, "kind": None,
    }  # fmt: skip
    system, user = receipt["prompt"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"].endswith(f"Question: {ASKED}")
    assert user["content"].count("] (id=") == len(receipt["index"]["sources"]) == 2
    (citation,) = answer["citations"]
    told = _read(client, answer["answer_id"], "/verify")
    assert (told["answer_id"], told["status"]) == (answer["answer_id"], "holds")
    assert [one["quote"] for one in told["citations"]] == [citation["quote"]]


def test_a_stream_leaves_the_receipt_of_what_it_sent(client: httpx.Client) -> None:
    response = client.post("/v1/query", json={"question": ASKED, "stream": True})
    *tokens, (cited, citations), (last, done) = _events(response)
    receipt = _read(client, response.headers["x-answer-id"])
    assert (cited, last) == ("citations", "done")
    assert receipt["answer"] == "".join(data["t"] for _, data in tokens)
    assert receipt["citations"] == citations
    assert receipt["support"] == done["support"] and done["support"]["ratio"] == 1


def test_ask_is_the_contracts_to_the_byte_and_has_a_receipt(client: httpx.Client) -> None:
    sent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    response = client.get("/ask", params={"q": ASKED}, headers=sent)
    assert response.headers["x-trace-id"] == TRACE
    receipt = _read(client, response.headers["x-answer-id"])
    assert receipt["trace_id"] == TRACE
    *tokens, (name, citations) = _events(response)
    assert name == "citations" and {each for each, _ in tokens} == {"t"}
    assert [list(data) for _, data in tokens] == [["t"]] * len(tokens)
    assert receipt["answer"] == "".join(data["t"] for _, data in tokens)
    assert [list(one) for one in citations] == [["n", "chunk_id", "document_title", "snippet"]]
    assert response.text.endswith(citations_frame(citations).decode())
    refused = client.get("/ask", params={"q": "zebra quagga okapi"})
    assert refused.text == f'data: {{"t":"{REFUSAL}"}}\n\nevent: citations\ndata: []\n\n'
    receipt = _read(client, refused.headers["x-answer-id"])
    assert (receipt["reason"], receipt["prompt"]) == ("below_gate", None)


def test_a_verdict_comes_where_it_is_asked_for(client: httpx.Client) -> None:
    whole = _asked(client, verdict=True)
    assert set(whole["verdict"]) == VERDICT and whole["verdict"]["grounded"]
    assert _read(client, whole["answer_id"])["verdict"] == whole["verdict"]
    body = {"question": ASKED, "stream": True, "verdict": True}
    *_, cited, judged, (last, done) = _events(client.post("/v1/query", json=body))
    assert (cited[0], judged, last) == ("citations", ("verdict", whole["verdict"]), "done")
    assert "verdict" not in done
    *_, cited, judged = _events(client.get("/ask", params={"q": ASKED, "verdict": "1"}))
    assert (cited[0], judged) == ("citations", ("verdict", whole["verdict"]))
    assert client.get("/ask", params={"q": ASKED, "verdict": "maybe"}).status_code == 400
    bad = client.post("/v1/query", json={"question": ASKED, "verdict": 1})
    assert bad.json() == {"error": "verdict is not true or false"}


def test_every_answer_is_judged_where_that_is_set(url: str) -> None:
    with live(url, guards="verdict", judge="offline") as client:
        answer = _asked(client)
        assert set(answer["verdict"]) == VERDICT
        response = client.get("/ask", params={"q": ASKED})
        assert _events(response)[-1][0] == "citations"  # nobody asked for more events
        told = response.text.rpartition("\n\n: verdict ")[2]
        assert json.loads(told) == answer["verdict"]
        path = f"/v1/answers/{response.headers['x-answer-id']}"
        assert eventually(lambda: client.get(path).status_code == 200)
        assert client.get(path).json()["verdict"] == answer["verdict"]


def test_feedback_is_added_and_read(client: httpx.Client) -> None:
    answer_id = _asked(client)["answer_id"]
    path = f"/v1/answers/{answer_id}/feedback"
    first = client.post(path, json={"rating": "up"})
    assert (first.status_code, first.json()["note"]) == (201, "")
    note = "Not \x00 wrong, but 𝕏 \ue000."
    second = client.post(path, json={"rating": "down", "note": note})
    assert second.json()["note"] == note
    told = _read(client, answer_id)["feedback"]
    assert [list(one) for one in told] == [["note", "rating", "created_at"]] * 2
    assert [(one["rating"], one["note"]) for one in told] == [("up", ""), ("down", note)]
    for body in ({}, {"rating": "sideways"}, {"rating": "up", "note": "x" * 2001},
                 {"rating": "up", "note": 7}, {"rating": "up", "stars": 5}):  # fmt: skip
        refused = client.post(path, json=body)
        assert refused.status_code == 400 and refused.json()["error"].count("\n") == 0, body
    assert client.post(path, json={"rating": "up", "note": "x" * 2000}).status_code == 201
    assert len(_read(client, answer_id)["feedback"]) == 3


def test_an_id_that_is_none_or_anothers(client: httpx.Client) -> None:
    answer_id = _asked(client, tenant_id="acme")["answer_id"]
    assert _read(client, answer_id, tenant_id="acme")["answer"]
    rated = {"rating": "up"}
    for path, body in (("", None), ("/verify", None), ("/feedback", rated)):
        for wrong, status in ((answer_id, 404), ("0" * 32, 404), ("x", 400), ("A" * 32, 400)):
            asked = client.request(
                "POST" if body else "GET", f"/v1/answers/{wrong}{path}", json=body
            )
            assert asked.status_code == status, (path, wrong)
            assert list(asked.json()) == ["error"] and asked.text.count("\n") == 0


def test_replay_and_erase_in_the_terminal(
    client: httpx.Client, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"DATABASE_URL": url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)

    def helix(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, arguments)
        return done.exit_code, done.output

    answer_id = _asked(client, tenant_id="acme")["answer_id"]
    assert helix("replay", answer_id, "--tenant", "acme") == (
        0, "identical: the same text, the same citations\n",
    )  # fmt: skip
    assert helix("replay", answer_id)[0] == 2  # of another tenant
    assert helix("replay", "x", "--tenant", "acme")[0] == 2
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE documents SET tags = '{x}' WHERE tenant_id = 'acme';"
            "UPDATE answers SET receipt = jsonb_set(receipt, '{scope,tags}', '[\"y\"]')"
            " WHERE tenant_id = 'acme'"
        )
    code, output = helix("replay", answer_id, "--tenant", "acme")
    assert code == 1 and "--- then" in output and "+reason: filtered_empty" in output
    assert "The prompt of then is answered as it did then." in output
    code, output = helix("replay", answer_id, "--tenant", "acme", "--json")
    told = json.loads(output)
    assert (code, told["identical"], told["now"]["answer"]) == (1, False, REFUSAL)
    assert helix("tenants", "erase", "a b", "--yes")[0] == 2
    [(answers,)] = rows(url, "SELECT count(*) FROM answers WHERE tenant_id = 'acme'")
    assert helix("tenants", "erase", "acme", "--yes") == (
        0, f"acme is erased: {answers} answers, 1 documents, 0 runs, 0 keys\n",
    )  # fmt: skip
    assert rows(url, "SELECT count(*) FROM answers WHERE tenant_id = 'acme'") == [(0,)]
    assert client.get(f"/v1/answers/{answer_id}", params={"tenant_id": "acme"}).status_code == 404
