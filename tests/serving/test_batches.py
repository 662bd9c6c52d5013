"""POST /v1/documents/batch over HTTP: each document as a whole or not at all, and a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from tests.support.live_server import live, new_content, upload, upload_ready
from tests.support.service_process import CuttableDatabase


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


def batch(client: httpx.Client, action: str, ids: list[int], **more: Any) -> dict[str, Any]:
    response = client.post("/v1/documents/batch", json={"action": action, "ids": ids, **more})
    assert response.status_code == 200, response.text
    report: dict[str, Any] = response.json()
    assert [told["id"] for told in report["documents"]] == ids
    assert report["done"] + report["failed"] == len(ids)
    return report


def listed(client: httpx.Client) -> dict[int, dict[str, Any]]:
    found = client.get("/v1/documents").json()["documents"]
    return {document["id"]: document for document in found}


def test_labels_are_given_and_taken_and_the_others_stay(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    one = upload_ready(client, sql, new_content(), tags="draft")
    two = upload_ready(client, sql, new_content())
    full = upload_ready(client, sql, new_content())
    client.patch(f"/v1/documents/{full}", json={"tags": [f"label {n}" for n in range(50)]})
    report = batch(client, "label", [one, 987_654, two, full], add=[" 2026 "], remove=["draft"])
    assert (report["done"], report["failed"], report["runs"]) == (2, 2, [])
    errors = [told["error"] for told in report["documents"]]
    assert errors[0] is errors[2] is None
    assert "there is no document 987654" in errors[1] and "the limit is 50" in errors[3]
    assert (listed(client)[one]["tags"], listed(client)[two]["tags"]) == (["2026"], ["2026"])
    assert len(listed(client)[full]["tags"]) == 50
    again = batch(client, "label", [one], remove=["2026"])
    assert again["done"] == 1 and listed(client)[one]["tags"] == []


def test_titles_are_given_and_kept(client: httpx.Client, sql: psycopg.Connection) -> None:
    one, two = (upload_ready(client, sql, new_content()) for _ in range(2))
    report = batch(client, "rename", [two, one], titles=["Second", "First"])
    assert report["failed"] == 0
    assert [listed(client)[number]["title"] for number in (one, two)] == ["First", "Second"]
    assert client.get("/v1/documents", params={"q": "second"}).json()["total"] == 1


def test_deleted_is_what_was_named(client: httpx.Client, sql: psycopg.Connection) -> None:
    one, two, kept = (upload_ready(client, sql, new_content()) for _ in range(3))
    under_way = upload(client, new_content()).json()
    report = batch(client, "delete", [one, two, under_way["documents"][0]["id"], 987_654])
    assert (report["done"], report["failed"]) == (3, 1)
    assert set(listed(client)) == {kept}
    (file,) = client.get(f"/v1/runs/{under_way['run_id']}").json()["files"]
    assert (file["status"], file["reason"]) == ("cancelled", "its document was deleted")


def test_one_run_reads_all_files_again_and_one_fetches_the_pages(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    one, two = (upload_ready(client, sql, new_content()) for _ in range(2))
    pages = [
        row[0]
        for n in range(2)
        for row in sql.execute(
            "INSERT INTO documents (title, source_uri, content_hash) VALUES ('Page', %s, '')"
            " RETURNING id",
            (f"https://docs.example/{n}",),
        )
    ]
    row = sql.execute(
        "INSERT INTO documents (title, source_uri, content_hash) VALUES ('Here', 'disk/a.txt', '')"
        " RETURNING id"
    ).fetchone()
    assert row is not None
    under_way = upload(client, new_content()).json()
    asked = [one, two, *pages, row[0], under_way["documents"][0]["id"]]
    report = batch(client, "reread", asked)
    assert report["failed"] == 1
    assert "ingest disk/a.txt again where it lies" in report["documents"][4]["error"]
    runs = {n: client.get(f"/v1/runs/{n}").json() for n in report["runs"]}
    assert len(runs) == 3 and under_way["run_id"] in runs
    kinds = {(run["kind"], run["total"]) for run in runs.values()}
    assert kinds == {("upload", 2), ("upload", 1), ("url", 0)}
    urls = sql.execute("SELECT options -> 'urls' FROM runs WHERE kind = 'url'").fetchone()
    assert urls == ([f"https://docs.example/{n}" for n in range(2)],)
    assert batch(client, "reread", asked)["runs"] == report["runs"], "they are under way already"


def test_an_upload_under_an_address_of_the_web_is_read_from_its_bytes(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    one = upload_ready(client, sql, new_content(), source_uri="https://inside.example/handbook")
    report = batch(client, "reread", [one])
    assert report["failed"] == 0
    (run,) = report["runs"]
    assert client.get(f"/v1/runs/{run}").json()["kind"] == "upload"


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"action": "delete", "ids": []}, "ids is empty"),
        ({"action": "delete", "ids": list(range(1001))}, "the limit of a request is 1000"),
        ({"action": "delete", "ids": [1, 1]}, "twice"),
        ({"action": "delete", "ids": [1], "add": ["a"]}, "add does not go with delete"),
        ({"action": "label", "ids": [1]}, "nothing to change"),
        ({"action": "label", "ids": [1], "add": ["a"], "remove": ["a"]}, "in add and in remove"),
        ({"action": "label", "ids": [1], "add": [""]}, "a tag has 1 to 100 characters"),
        ({"action": "rename", "ids": [1, 2], "titles": ["a"]}, "2 ids and 1 titles"),
        ({"action": "rename", "ids": [1], "titles": [" "]}, "a title is empty"),
        ({"action": "burn", "ids": [1]}, "body.action: Input should be 'delete', "),
        ({"action": "delete", "ids": ["1"]}, "body.ids.0: Input should be a valid integer"),
        ({"action": "delete", "ids": [2**63]}, "body.ids.0: Input should be less than"),
        ({"action": "delete", "ids": [1], "all": True}, '"all" is no key of this request'),
    ],
)
def test_a_request_that_makes_no_sense_does_nothing(
    client: httpx.Client, sent: dict[str, Any], told: str
) -> None:
    response = client.post("/v1/documents/batch", json=sent)
    assert response.status_code == 400 and told in response.json()["error"]


@pytest.mark.parametrize(
    ("sent", "media", "told"),
    [
        (b'{"action": ', "application/json", "is no JSON: Expecting value, at character 11"),
        (b"[" * 9999, "application/json", "is no JSON that can be read"),
        (b'{"action": ' + b"1" * 5000 + b"}", "application/json", "is no JSON that can be read"),
        (b'{"action": "\xff"}', "application/json", "is no JSON that can be read"),
        (b"[]", "application/json", "is no JSON object: send one, with Content-Type: appl"),
        # as curl -d sends it
        (b'{"action": "label"}', "application/x-www-form-urlencoded", "with Content-Type: appl"),
    ],
)
def test_a_body_that_is_no_json_object_is_told_so(
    client: httpx.Client, sent: bytes, media: str, told: str
) -> None:
    response = client.post("/v1/documents/batch", content=sent, headers={"Content-Type": media})
    assert response.status_code == 400
    assert response.json()["error"].startswith("the body ") and told in response.json()["error"]


def test_a_database_that_goes_away_is_told_for_each_document(
    module_database_url: str, client: httpx.Client, sql: psycopg.Connection
) -> None:
    ids = [upload_ready(client, sql, new_content()) for _ in range(2)]
    door = CuttableDatabase(module_database_url)
    try:
        with live(door.url) as cut:
            assert batch(cut, "label", ids, add=["before"])["failed"] == 0
            door.shut()
            report = batch(cut, "label", ids, add=["after"])
            door.reopen()
    finally:
        door.close()
    assert report["done"] == 0
    assert all("database" in told["error"] for told in report["documents"])
    assert [listed(client)[number]["tags"] for number in ids] == [["before"], ["before"]]
