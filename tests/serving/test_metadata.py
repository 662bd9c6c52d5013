"""Metadata over HTTP: set with an upload, edited one or many at once, filtered, sorted, counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.audit import list_events
from tests.support.live_server import live, new_content, upload

DOCUMENTS: dict[str, dict[str, Any]] = {
    "Plan": {"year": 2024, "owner": "Lee", "due": "2024-05-01"},
    "Report": {"year": 2023, "owner": ["Lee", "Kim"]},
    "Draft": {"year": 2024.5, "draft": "yes"},
    "Note": {},
}


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


@pytest.fixture
def filled(client: httpx.Client, sql: psycopg.Connection) -> dict[str, int]:
    """The ids of the documents by title."""
    rows = sql.execute(
        "INSERT INTO documents (title, source_uri, content_hash, recipe, metadata)"
        " SELECT key, key, key, 'r metadata-owner,year', value FROM jsonb_each(%s::jsonb)"
        " RETURNING title, id",
        (json.dumps(DOCUMENTS),),
    ).fetchall()
    return dict(rows)


def titles(client: httpx.Client, **params: Any) -> list[str]:
    answer = client.get("/v1/documents", params={"sort": "title", **params})
    assert answer.status_code == 200, answer.text
    return [document["title"] for document in answer.json()["documents"]]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (["year>=2024"], ["Draft", "Plan"]), (["owner=Lee"], ["Plan", "Report"]),
        (["owner=Lee", "year<2024"], ["Report"]), (["owner in Kim; Park"], ["Report"]),
        (["due<2025-01-01"], ["Plan"]), (["!owner"], ["Draft", "Note"]), (["draft"], ["Draft"]),
        (["owner!=Kim"], ["Draft", "Note", "Plan"]), (["OWNER=Lee' OR '1'='1"], []),
        (['{"key": "year", "op": "in", "value": [2023, "2024"]}'], ["Report"]),
    ],
)  # fmt: skip
def test_the_list_is_filtered(
    client: httpx.Client, filled: dict[str, int], where: list[str], found: list[str]
) -> None:
    assert titles(client, where=where) == found
    ids = client.get("/v1/library/ids", params={"where": where}).json()["ids"]
    assert sorted(ids) == sorted(filled[title] for title in found)


def test_the_list_is_sorted_by_a_key(client: httpx.Client, filled: dict[str, int]) -> None:
    assert titles(client, sort="meta.year")[:3] == ["Report", "Plan", "Draft"]
    assert titles(client, sort="meta.YEAR", order="desc") == ["Draft", "Plan", "Report", "Note"]
    bad = client.get("/v1/documents", params={"sort": "meta.1st"})
    assert (bad.status_code, "no key of metadata" in bad.json()["error"]) == (400, True)


def test_keys_are_counted_with_their_kinds(client: httpx.Client, filled: dict[str, int]) -> None:
    told = client.get("/v1/library").json()["metadata"]
    assert told[0] == {"name": "year", "count": 3, "kinds": ["number"]}
    assert {"name": "due", "count": 1, "kinds": ["date"]} in told
    assert {"name": "owner", "count": 2, "kinds": ["text"]} in told


def test_one_document_is_edited_by_a_merge_patch(
    client: httpx.Client, filled: dict[str, int], sql: psycopg.Connection
) -> None:
    path = f"/v1/documents/{filled['Plan']}"
    sent = {"metadata": {"Year": 2025, "owner": None, "new": "2025-01-01"}}
    assert client.patch(path, json=sent).status_code == 200
    stored = client.get(path).json()["metadata"]
    assert stored == {"year": 2025, "due": "2024-05-01", "new": "2025-01-01"}
    edits, recipe = sql.execute(
        "SELECT edits, recipe FROM documents WHERE title = 'Plan'"
    ).fetchone() or ({}, "")
    assert edits["metadata"] == {"year": 2025, "owner": None, "new": "2025-01-01"}
    assert recipe == "", "a key that is embedded was changed: it is read again"
    client.patch(f"/v1/documents/{filled['Draft']}", json={"metadata": {"draft": None}})
    kept = sql.execute("SELECT recipe FROM documents WHERE title = 'Draft'").fetchone()
    assert kept == ("r metadata-owner,year",)


def test_many_are_edited_at_once_all_or_none(
    client: httpx.Client, filled: dict[str, int], sql: psycopg.Connection
) -> None:
    path, ids = "/v1/documents/metadata", [filled["Plan"], filled["Note"]]
    edited = client.post(path, json={"ids": ids, "metadata": {"year": 2024, "x": "y"}})
    assert edited.json() == {"matched": 2, "changed": 2}
    again = client.post(path, json={"ids": ids, "metadata": {"year": 2024, "x": "y"}})
    assert again.json() == {"matched": 2, "changed": 0}
    where = {"where": "year>=2024"}
    seen: dict[str, Any] = {"metadata": {"seen": 1}}
    found = client.post(path, params=where, json=seen)
    assert found.json() == {"matched": 3, "changed": 3}
    assert client.post(path, params={"tags": "x"}, json=seen).status_code == 400
    one = client.post(path, params=where, json=seen | {"ids": ids[:1]})
    assert one.json() == {"matched": 1, "changed": 0}
    missing = client.post(path, json={"ids": [*ids, 10**9], "metadata": {"x": None}})
    assert missing.status_code == 404
    full = {f"k{n}": n for n in range(62)}
    assert client.post(path, json={"ids": ids, "metadata": full}).status_code == 400
    assert titles(client, where="x=y") == ["Note", "Plan"], "neither changed a document"


def test_an_edit_that_changes_something_is_audited_by_counts(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as sql:
        sql.execute(
            "INSERT INTO documents (id, title, source_uri, content_hash) VALUES (7, 'a', 'a', '')"
        )
        with live(database_url) as client:
            for _ in range(2):
                sent = {"ids": [7], "metadata": {"secret": "xyzzy"}}
                assert client.post("/v1/documents/metadata", json=sent).status_code == 200
        (event,) = list_events(sql, timedelta(hours=1))
    assert event.action == "POST /v1/documents/metadata"
    assert event.object == "metadata of 1 documents"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"metadata": {"a": 1}}, "no documents are named"), ({"ids": [1]}, "metadata"),
        ({"ids": [1], "metadata": {}}, "metadata is empty"),
        ({"ids": [], "metadata": {"a": 1}}, "ids"),
        ({"ids": [1], "metadata": {"a": []}}, "metadata.a has 0 items"),
    ],
)  # fmt: skip
def test_an_edit_that_is_none_says_so(
    client: httpx.Client, sent: dict[str, Any], said: str
) -> None:
    answer = client.post("/v1/documents/metadata", json=sent)
    assert answer.status_code == 400 and said in answer.json()["error"], answer.text


def test_an_upload_brings_metadata_and_an_edit_stays_above_it(client: httpx.Client) -> None:
    content = new_content()
    sent = {"metadata": json.dumps({"Year": 2024, "owner": "Lee"})}
    first = upload(client, content, **sent).json()["documents"][0]["id"]
    path = f"/v1/documents/{first}"
    assert client.get(path).json()["metadata"] == {"year": 2024, "owner": "Lee"}
    client.patch(path, json={"metadata": {"owner": "Kim"}})
    upload(client, content, metadata=json.dumps({"owner": "Park", "place": "Bonn"}))
    assert client.get(path).json()["metadata"] == {"year": 2024, "owner": "Kim", "place": "Bonn"}
    for text in ("[1]", "{", '{"a": true}'):
        refused = client.post(
            "/v1/documents", files={"file": ("a.txt", b"x")}, data={"metadata": text}
        )
        assert refused.status_code == 400 and "metadata" in refused.json()["error"]


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ([], "filters.metadata is not a list of 1 to 20"), ("x", "filters.metadata is not a list"),
        ([{"key": "a", "op": "~"}], "filters.metadata[0].op is none of"),
        ([{"key": "1", "value": 1}], "filters.metadata: '1' is no key"),
        ([{"key": "a", "value": {}}], "filters.metadata[0].value is no text"),
    ],
)  # fmt: skip
def test_a_query_names_the_condition_that_is_none(
    client: httpx.Client, conditions: Any, said: str
) -> None:
    asked = {"question": "Who?", "filters": {"metadata": conditions}}
    answer = client.post("/v1/query", json=asked)
    assert answer.status_code == 400 and said in answer.json()["error"], answer.text
