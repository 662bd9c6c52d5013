"""/v1/library and the filters of the list: counts, ids, orders, and what is told of changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from tests.support.live_server import live, new_content, upload, upload_ready

DOCUMENTS: tuple[
    tuple[str, str, str | None, list[str], str, int], ...
] = (  # title, format, kind by its facts, labels, status, days ago
    ("Annual", "pdf", "10-K", ["money", "2026"], "ready", 0),
    ("Quarter", "pdf", "10-Q", ["money"], "ready", 3),
    ("Notes", "markdown", None, [], "ready", 40),
    ("Broken", "docx", None, ["2026"], "failed", 400),
)


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


@pytest.fixture
def filled(client: httpx.Client, sql: psycopg.Connection) -> httpx.Client:
    for title, media, kind, tags, status, days in DOCUMENTS:
        row = sql.execute(
            "INSERT INTO documents (title, source_uri, content_hash, media, tags, status,"
            " updated_at) VALUES (%s, %s, '', %s, %s, %s, now() - %s * interval '1 day')"
            " RETURNING id",
            (title, f"of/{title}", media, tags, status, days),
        ).fetchone()
        if kind and row:
            edited = client.patch(f"/v1/documents/{row[0]}", json={"facts": {"kind": kind}})
            assert edited.status_code == 200
    return client


def titles(client: httpx.Client, **params: Any) -> list[str]:
    answer = client.get("/v1/documents", params=params)
    assert answer.status_code == 200, answer.text
    return [document["title"] for document in answer.json()["documents"]]


def test_what_there_is_is_counted(filled: httpx.Client) -> None:
    told = filled.get("/v1/library").json()
    assert told["total"] == 4 and told["statuses"] == {"ready": 3, "failed": 1}
    assert told["labels"] == [{"name": "2026", "count": 2}, {"name": "money", "count": 2}]
    assert told["kinds"] == [{"name": "10-K", "count": 1}, {"name": "10-Q", "count": 1}]
    assert told["formats"][0] == {"name": "pdf", "count": 2}
    assert (told["web_imports"], told["max_file_mb"]) == (True, 1)


def test_every_count_is_that_of_its_list(filled: httpx.Client) -> None:
    told = filled.get("/v1/library").json()
    for group, parameter in (("labels", "tag"), ("kinds", "kind"), ("formats", "format")):
        for one in told[group]:
            listed = filled.get("/v1/documents", params={parameter: one["name"]}).json()
            assert listed["total"] == one["count"], one


def test_the_list_is_narrowed_and_ordered(filled: httpx.Client) -> None:
    assert titles(filled, sort="kind") == ["Annual", "Quarter", "Broken", "Notes"]
    assert titles(filled, sort="kind", order="desc") == ["Notes", "Broken", "Quarter", "Annual"]
    assert titles(filled, sort="updated", order="asc")[0] == "Broken"
    assert titles(filled, sort="status")[0] == "Broken"
    assert titles(filled, format=["pdf", "docx"], sort="title") == ["Annual", "Broken", "Quarter"]
    (notes,) = filled.get("/v1/documents", params={"q": "Notes"}).json()["documents"]
    assert titles(filled, since=notes["updated_at"], sort="title") == ["Annual", "Notes", "Quarter"]
    assert titles(filled, until=notes["updated_at"], sort="title") == ["Broken", "Notes"]


def test_a_page_follows_the_other_in_any_order(filled: httpx.Client) -> None:
    for sort in ("updated", "title", "size", "kind", "status"):
        for order in ("asc", "desc"):
            whole = titles(filled, sort=sort, order=order)
            seen, after = [], None
            while True:
                params = {"sort": sort, "order": order, "limit": 1, "after": after}
                sent = {name: value for name, value in params.items() if value is not None}
                page = filled.get("/v1/documents", params=sent).json()
                seen += [document["title"] for document in page["documents"]]
                if not (after := page["next"]):
                    break
            assert seen == whole and len(whole) == 4
    first = filled.get("/v1/documents", params={"sort": "title", "limit": 1}).json()["next"]
    turned = {"sort": "title", "order": "desc", "after": first}
    assert filled.get("/v1/documents", params=turned).status_code == 400


def test_ids_are_those_of_the_list(filled: httpx.Client) -> None:
    for params in ({}, {"tag": "money"}, {"format": "pdf", "kind": "10-q"}, {"q": "nothing"}):
        listed = filled.get("/v1/documents", params=params).json()["documents"]
        ids = filled.get("/v1/library/ids", params=params).json()["ids"]
        assert ids == sorted(document["id"] for document in listed)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("format=paper", "there is no format 'paper': there are text, markdown"),
        ("since=2026-01-01T00:00:00", "since lacks its offset"),
        ("until=yesterday", "until"),
        ("order=up", "order"),
    ],
)
def test_a_filter_that_makes_no_sense(client: httpx.Client, query: str, told: str) -> None:
    response = client.get(f"/v1/documents?{query}")
    assert response.status_code == 400 and told in response.json()["error"]


def test_a_change_of_anybody_is_told_and_nothing_else(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    number = upload_ready(client, sql, new_content())
    with client.stream("GET", "/v1/library/events", params={"most": 3}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        now = _next(lines)
        assert (now["documents"], now["runs"]) == (1, [])
        client.patch(f"/v1/documents/{number}", json={"tags": ["seen"]})
        labelled = _next(lines)
        assert labelled["documents"] == 1 and labelled["version"] != now["version"]
        run_id = upload(client, new_content()).json()["run_id"]
        assert _next(lines) == {"documents": 2, "version": _version(client), "runs": [run_id]}
        assert list(lines)[-1:] in ([], [""]), "the third was the last"


def _next(lines: Iterator[str]) -> dict[str, Any]:
    data = next(line for line in lines if line.startswith("data: "))
    told: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return told


def _version(client: httpx.Client) -> str:
    with client.stream("GET", "/v1/library/events", params={"most": 1}) as response:
        return str(_next(response.iter_lines())["version"])


def test_the_samples_come_once(client: httpx.Client, sql: psycopg.Connection) -> None:
    first = client.post("/v1/documents/samples")
    assert first.status_code == 202, first.text
    told = {document["source_uri"]: document["title"] for document in first.json()["documents"]}
    assert told["samples/refund-policy.txt"] == "Refund Policy" and len(told) == 7
    again = client.post("/v1/documents/samples").json()
    assert again["run_id"] == first.json()["run_id"]
    assert all(document["duplicate"] for document in again["documents"])


def test_a_refused_file_keeps_no_other_out(client: httpx.Client, sql: psycopg.Connection) -> None:
    good = ("file", ("mill.txt", new_content()))
    files = [good, ("file", ("strange.bin", bytes(90))), ("file", ("empty.txt", b""))]
    told = client.post("/v1/documents", params={"partial": "true"}, files=files)
    assert told.status_code == 202
    assert [document["title"] for document in told.json()["documents"]] == ["Mill"]
    reasons = {one["name"]: one["reason"] for one in told.json()["refused"]}
    assert "the file is empty" in reasons["empty.txt"] and "binary data" in reasons["strange.bin"]
    none = client.post("/v1/documents", params={"partial": "true"}, files=files[1:])
    assert none.status_code == 200 and none.json()["run_id"] is None
    assert len(none.json()["refused"]) == 2
    whole = client.post("/v1/documents", files=files)
    assert whole.status_code == 415 and client.get("/v1/documents").json()["total"] == 1


def test_an_original_opens_as_what_cannot_run(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    hostile = b"<!doctype html><script>window.ran = 1</script>"
    number = upload(client, hostile, "page.html").json()["documents"][0]["id"]
    shown = client.get(f"/v1/documents/{number}/file", params={"inline": "true"})
    assert shown.content == hostile and shown.headers["content-type"].startswith("text/plain")
    assert shown.headers["content-disposition"].startswith("inline; filename")
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    kept = client.get(f"/v1/documents/{number}/file")
    assert kept.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        ({"url": "https://docs.example/guide/"}, 202, None),
        ({"url": "ftp://docs.example/"}, 400, "url must be the address of a web page"),
        ({"url": "https://docs.example/", "pages": 0}, 400, "pages is a whole number from 1"),
        ({"url": "https://docs.example/", "pages": 10_001}, 400, "pages is a whole number"),
        ({"url": "https://docs.example/", "depth": 51}, 400, "depth is a whole number from 0"),
        ({"url": "https://docs.example/", "prefix": "docs"}, 400, "it starts with a slash"),
        ({"url": "https://docs.example/", "allow_hosts": ["x"]}, 400, '"allow_hosts" is no key'),
    ],
)
def test_a_crawl_is_asked_for(
    client: httpx.Client, sql: psycopg.Connection, sent: dict[str, Any], status: int, told: str
) -> None:
    response = client.post("/v1/documents/crawl", json=sent)
    assert response.status_code == status, response.text
    if told:
        assert told in response.json()["error"]
        return
    again = client.post("/v1/documents/crawl", json=sent).json()
    run = client.get(f"/v1/runs/{response.json()['run_id']}").json()
    assert again["run_id"] == run["id"]
    assert (run["kind"], run["url"], run["status"]) == ("crawl", sent["url"], "queued")


def test_a_server_may_keep_out_of_the_web(module_database_url: str) -> None:
    with live(module_database_url, web_imports=False) as client:
        for path in ("url", "crawl"):
            response = client.post(f"/v1/documents/{path}", json={"url": "https://docs.example"})
            assert response.status_code == 403
            assert "HELIX_WEB_IMPORTS" in response.json()["error"]
        assert client.get("/v1/library").json()["web_imports"] is False
