"""Tags of documents over HTTP: sent, listed, filtered by, changed, and kept with a run."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from tests.support.live_server import live


@pytest.fixture
def client(database_url: str) -> Iterator[httpx.Client]:
    with live(database_url) as client:
        yield client


def test_tags_are_sent_listed_and_changed(client: httpx.Client, database_url: str) -> None:
    data = {"tags": ["travel", " 2026 ", "travel"], "tenant_id": "tagger"}
    whose = {"tenant_id": "tagger"}
    made = client.post("/v1/documents", files={"file": b"Words to tag."}, data=data).json()
    document = f"/v1/documents/{made['documents'][0]['id']}"

    def tags() -> list[str]:
        return list(client.get(document, params=whose).json()["tags"])

    def total(*wanted: str) -> int:
        found = client.get("/v1/documents", params={"tag": list(wanted), **whose}).json()
        return int(found["total"])

    assert tags() == ["travel", "2026"]
    assert [total("travel"), total("2026", "travel"), total("travel", "x"), total("%")] == [
        1,
        1,
        0,
        0,
    ]
    changed = client.patch(document, json={"tags": ["a", "b", "a"]} | whose)
    assert changed.json() == {"id": made["documents"][0]["id"], "tags": ["a", "b"]}
    assert tags() == ["a", "b"] and total("travel") == 0
    for body in (
        {},
        {"tags": [""]},
        {"tags": "a"},
        {"tags": ["x" * 101]},
        {"tags": ["a\n"] * 2 + ["\0"]},
        {"tags": [], "titel": "T"},
        {"title": " "},
        {"file_name": "a\0b"},
        {"facts": {"weight": "3 kg"}},
        {"facts": {"company": 3}},
        {"tags": [str(n) for n in range(51)]},
    ):
        assert client.patch(document, json=body | whose).status_code == 400, body
    assert tags() == ["a", "b"]
    assert client.patch(document, json={"tags": []} | whose).json()["tags"] == []
    assert client.get("/v1/documents", params={"tag": ""} | whose).status_code == 400

    page = {"url": "https://example.com/tagged", "tags": ["web"]} | whose
    runs = [client.post("/v1/documents/url", json=page).json()["run_id"] for _ in range(2)]
    plain = client.post("/v1/documents/url", json={"url": page["url"]} | whose).json()["run_id"]
    default = client.post("/v1/documents/url", json={"url": page["url"]}).json()["run_id"]
    assert runs[0] == runs[1] and len({runs[0], plain, default}) == 3
    with psycopg.connect(database_url) as connection:
        kept = connection.execute(
            "DELETE FROM runs WHERE kind = 'url' RETURNING id, tenant_id, options -> 'tags'"
        ).fetchall()
    assert sorted(kept) == [
        (runs[0], "tagger", ["web"]), (plain, "tagger", None), (default, "default", None),
    ]  # fmt: skip
