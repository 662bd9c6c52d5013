"""GET /v1/search: the passages that fit, their marks, and the filters of POST /v1/query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.repository import ROOT


@pytest.fixture(scope="module")
def client(module_durable_database_url: str) -> Iterator[httpx.Client]:
    files = [str(ROOT / "samples" / name) for name in ("refund-policy.txt", "travel-handbook.md")]
    told = helix(
        "ingest", *files,
        DATABASE_URL=module_durable_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    with live(module_durable_database_url) as client:
        yield client


def found(client: httpx.Client, q: str, **params: Any) -> dict[str, Any]:
    answer = client.get("/v1/search", params={"q": q, **params})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_passage_is_found_and_its_span_is_the_document_s(client: httpx.Client) -> None:
    told = found(client, "refund within 30 days")
    first = told["results"][0]
    assert told["near_enough"] and first["title"] == "Refund Policy"
    text = client.get(f"/v1/documents/{first['document_id']}").json()["text"]
    assert "30 days" in text[first["start"] : first["end"]]
    marked = [first["snippet"][start:end].lower() for start, end in first["marks"]]
    assert {"30", "days"} <= set(marked)
    scores = [each["score"] for each in told["results"]]
    assert scores == sorted(scores, reverse=True)


def test_it_is_the_search_that_answers_use(client: httpx.Client) -> None:
    question = "How long do I have to request a refund?"
    asked = {"question": question, "debug": True, "top_k": 3}
    debug = client.post("/v1/query", json=asked).json()["debug"]
    fused = [each["chunk_id"] for each in debug["candidates"]["fused"]]
    assert [each["chunk_id"] for each in found(client, question, top_k=3)["results"]] == fused[:3]


def test_what_is_far_from_everything_says_so(client: httpx.Client) -> None:
    assert not found(client, "capital of Mongolia")["near_enough"]


def test_filters_are_those_of_a_query(client: httpx.Client) -> None:
    first = found(client, "refund")["results"][0]["document_id"]
    ids = {each["document_id"] for each in found(client, "days", document_id=first)["results"]}
    assert ids == {first}
    assert found(client, "refund", tag="nobody has it")["results"] == []
    assert found(client, "refund", until="2001-01-01T00:00:00Z")["results"] == []
    assert found(client, "refund", since="2001-01-01T00:00:00Z")["results"]
    assert found(client, "refund", source_prefix="nowhere/")["results"] == []
    assert len(found(client, "days", top_k=1)["results"]) == 1
    assert found(client, "refund", tenant_id="other")["results"] == []


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"q": " "}, "q is blank"),
        ({}, "q"),
        ({"q": "x" * 5000}, "q has 5000 characters"),
        ({"q": "x", "since": "yesterday"}, "filters.since is not a time with its offset"),
        ({"q": "x", "tag": "a\x00b"}, "filters.tags is not"),
        ({"q": "x", "top_k": "0"}, "top_k"),
        ({"q": "x", "document_id": str(2**70)}, "document_ids is not"),
        ({"q": "x", "document_ids": "1"}, "document_ids is no parameter of /v1/search: there are"),
        ({"q": "x", "metadata": "a=b", "top_k": "3"}, "metadata is no parameter of /v1/search"),
    ],
)
def test_what_is_no_search_is_told(client: httpx.Client, params: Any, told: str) -> None:
    answer = client.get("/v1/search", params=params)
    assert answer.status_code == 400 and told in answer.json()["error"]
