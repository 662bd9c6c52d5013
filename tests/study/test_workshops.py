"""Workshops over HTTP: counted, exported, and written in the documents' words without a model."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.study.conftest import made
from tests.support.live_server import live
from tests.support.query_service import a_store
from tests.support.study_texts import BRIDGE, FERRY, store_study_texts
from tests.support.wire.gemini import gemini_wire


@pytest.fixture(scope="module")
def offline(module_database_url: str) -> Iterator[httpx.Client]:
    with gemini_wire():  # for the embedder
        with a_store(module_database_url) as store:
            store_study_texts(store.of("halden"))
        with live(module_database_url, embedder="gemini", gemini_api_key="wire-test-key") as client:
            client.params = client.params.merge({"tenant_id": "halden"})
            yield client


def test_without_a_model_a_lesson_is_its_passages_quoted(
    offline: httpx.Client, module_database_url: str
) -> None:
    workshop = made(offline, module_database_url, "workshop", count=3)
    for lesson in workshop["items"]:
        address = f"/v1/study/{workshop['id']}/lessons/{lesson['id']}"
        body = offline.post(address).json()["body"]
        assert body["text"], lesson
        for cited in body["citations"]:
            assert f"{cited['quote']} [{cited['n']}]" in body["text"]
            assert cited["quote"] in BRIDGE + FERRY
        assert offline.post(address).json()["body"] == body


def test_a_workshop_counts_lessons_alone_and_is_exported_with_its_exercises(
    offline: httpx.Client, module_database_url: str
) -> None:
    workshop = made(offline, module_database_url, "workshop", count=3)
    address = f"/v1/study/{workshop['id']}"
    told = offline.post(f"{address}/lessons/{workshop['items'][0]['id']}").json()["body"]
    now = offline.get(address).json()
    assert told["exercise"] in {item["id"] for item in now["items"]}
    assert now["made"] == workshop["made"] == len(now["items"]) - 1
    exported = offline.get(f"{address}/export", params={"format": "markdown"})
    assert exported.status_code == 200, exported.text
    text = exported.text
    assert text.count("\n## ") == now["made"] + 2, "lessons, exercises, answers"
    assert told["text"] in text and f"- [1] {told['citations'][0]['title']}" in text
    assert text.index("## Exercises") < text.index("## Answers")


def test_a_lesson_is_written_within_the_limits_of_answers(
    offline: httpx.Client, module_database_url: str
) -> None:
    workshop = made(offline, module_database_url, "workshop", count=3)
    first, second = (
        f"/v1/study/{workshop['id']}/lessons/{item['id']}" for item in workshop["items"][:2]
    )
    limited = {"embedder": "gemini", "gemini_api_key": "wire-test-key", "tenant_tokens": 5}
    with live(module_database_url, **limited) as client:
        client.params = client.params.merge({"tenant_id": "halden"})
        written = client.post(first).json()["body"]
        assert client.post("/v1/query", json={"question": "What about the ferry?"}).is_success
        refused = client.post(second)
        assert refused.status_code == 429 and "HELIX_TENANT_TOKENS" in refused.text
        assert client.post(first).json()["body"] == written
