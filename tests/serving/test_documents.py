"""Documents over HTTP: the real application, real Postgres, the worker's part done by SQL."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from helix.library import documents
from helix.library.access import Library, Row
from helix.library.errors import NotFound
from helix.library.run_files import set_file
from tests.support.live_server import (
    count,
    live,
    make_ready,
    new_content,
    upload,
    upload_ready,
)
from tests.support.repository import ROOT
from tests.support.service_process import CuttableDatabase


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


def test_the_list_pages_through_all_in_every_order(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    sql.execute(
        "INSERT INTO documents (title, source_uri, content_hash, size, updated_at)"
        " SELECT 'Title ' || n % 4, 'source/' || n, '', n % 3, now() - n % 5 * interval '1 ms'"
        " FROM generate_series(1, 25) n"
    )
    keys = {
        "updated": lambda d: (d["updated_at"], d["id"]),
        "size": lambda d: (d["size"], d["id"]),
        "title": lambda d: (d["title"], d["id"]),
    }
    for sort, key in keys.items():
        seen: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            params: dict[str, Any] = {"limit": 7, "sort": sort} | (
                {"after": after} if after else {}
            )
            page = client.get("/v1/documents", params=params).json()
            assert page["total"] == 25
            seen += page["documents"]
            if not (after := page["next"]):
                break
        assert len(seen) == 25
        assert seen == sorted(seen, key=key, reverse=sort != "title")


def test_the_list_searches_and_filters(client: httpx.Client, sql: psycopg.Connection) -> None:
    for title, status in (("100% sure", "ready"), ("100 sure", "failed"), ("a_b", "ready")):
        sql.execute(
            "INSERT INTO documents (title, source_uri, content_hash, status)"
            " VALUES (%s, %s, '', %s)",
            (title, f"of/{title}", status),
        )

    def found(**params: str) -> set[str]:
        answer = client.get("/v1/documents", params=params).json()
        assert answer["total"] == len(answer["documents"])
        return {document["title"] for document in answer["documents"]}

    assert found(q="100%") == {"100% sure"}
    assert found(q="A_B") == {"a_b"}
    assert found(q="of/") == {"100% sure", "100 sure", "a_b"}
    assert found(q="sure", status="failed") == {"100 sure"}
    assert found(q="\\") == set()


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "after=nonsense", "after=WyJ0aXRsZSIsImEiLDFd", "status=x", "sort=x",
     "q=%00", "after=WyJ1cGRhdGVkIiw5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OSwxXQ", "tags=a", "metadata=x"],
)  # fmt: skip
def test_a_list_that_cannot_be_given(client: httpx.Client, query: str) -> None:
    response = client.get(f"/v1/documents?{query}")
    assert response.status_code == 400 and "\n" not in response.json()["error"]


def test_a_document_is_given_with_text_that_its_chunks_are_slices_of(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    text = "Süß 𝕏 first. Second ☃ half."
    document_id = upload(client, text.encode()).json()["documents"][0]["id"]
    make_ready(sql, document_id, text, [(0, 12), (12, 20), (20, len(text))], page=3)
    document = client.get(f"/v1/documents/{document_id}").json()
    assert document["text"] == text and document["pages"] == 3
    assert [section["heading_path"] for section in document["outline"]] == [["Top"]]
    ids = [chunk["id"] for chunk in document["chunks"]]
    for n, marks in enumerate(document["chunks"]):
        chunk = client.get(f"/v1/chunks/{marks['id']}").json()
        assert chunk["content"] == text[marks["start"] : marks["end"]]
        assert (chunk["previous"], chunk["next"]) == (
            ids[n - 1] if n else None, ids[n + 1] if n < 2 else None,
        )  # fmt: skip
        assert chunk["document_id"] == document_id and chunk["title"] == document["title"]
        assert (chunk["page"], chunk["heading_path"], chunk["label"]) == (3, ["Top"], "page 3")
        assert (marks["page"], marks["heading_path"], marks["label"]) == (3, ["Top"], "page 3")
    without = client.get(f"/v1/documents/{document_id}", params={"text": "false"}).json()
    assert "text" not in without and len(without["chunks"]) == 3
    (listed,) = client.get("/v1/documents").json()["documents"]
    assert (listed["chunks"], listed["pages"]) == (3, 3)


@pytest.mark.parametrize(
    ("path", "told"),
    [("documents?limit=201", "query.limit: Input should be less than or equal to 200"),
     ("documents?status=x", "query.status: Input should be 'processing', 'ready' or 'failed'"),
     ("documents/abc", "path.document_id: Input should be a valid integer, unable to parse"
      " string as an integer"),
     ("search", "query.q: Field required")],
)  # fmt: skip
def test_a_malformed_value_is_told_with_what_it_may_be(
    client: httpx.Client, path: str, told: str
) -> None:
    response = client.get(f"/v1/{path}")
    assert (response.status_code, response.json()) == (400, {"error": told})


def test_a_request_without_its_body_is_told_what_to_send(client: httpx.Client) -> None:
    response = client.post("/v1/documents/batch")
    told = "the body is no JSON object: send one, with Content-Type: application/json"
    assert (response.status_code, response.json()) == (400, {"error": told})


def test_an_unknown_key_is_told_on_one_line(client: httpx.Client) -> None:
    response = client.patch("/v1/documents/1", json={"ti\ntel": "T"})
    assert response.status_code == 400
    assert response.json() == {"error": '"ti tel" is no key of this request'}


@pytest.mark.parametrize(
    "path", ["documents/987654", "documents/99999999999999999999", "chunks/987654",
             "documents/987654/file"],
)  # fmt: skip
def test_what_is_not_there(client: httpx.Client, path: str) -> None:
    response = client.get(f"/v1/{path}")
    assert response.status_code == 404 and "error" in response.json()
    assert client.get("/v1/documents/abc").status_code == 400


@pytest.mark.parametrize("part_bytes", [7, documents.PART_BYTES])
def test_the_file_comes_back_as_it_was(
    part_bytes: int, client: httpx.Client, sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PART_BYTES", part_bytes)  # the server runs in this process
    html = b"<!doctype html><title>T</title><script>alert(1)</script><p>Words of a page.</p>"
    document_id = upload(client, html, "a 'q'; ü.html").json()["documents"][0]["id"]
    response = client.get(f"/v1/documents/{document_id}/file")
    assert response.content == html
    assert response.headers["content-length"] == str(len(html))
    assert response.headers["content-disposition"] == (
        "attachment; filename=\"a 'q'; u.html\"; filename*=UTF-8''a%20%27q%27%3B%20%C3%BC.html"
    )
    assert response.headers["x-content-type-options"] == "nosniff"
    named = client.patch(f"/v1/documents/{document_id}", json={"file_name": "new.html"})
    assert named.status_code == 200, named.text
    renamed = client.get(f"/v1/documents/{document_id}/file").headers["content-disposition"]
    assert renamed == "attachment; filename=\"new.html\"; filename*=UTF-8''new.html"
    placed = client.patch(f"/v1/documents/{document_id}", json={"file_name": '../../x\\y"%.txt'})
    assert placed.json()["file_name"] == 'y"%.txt'
    renamed = client.get(f"/v1/documents/{document_id}/file").headers["content-disposition"]
    assert renamed == "attachment; filename=\"y__.txt\"; filename*=UTF-8''y%22%25.txt"
    coming = upload(client, b"Words.", "words.txt", source_uri="crm:deal/42").json()["documents"][0]
    own = client.get(f"/v1/documents/{coming['id']}/file").headers["content-disposition"]
    assert own == "attachment; filename=\"words.txt\"; filename*=UTF-8''words.txt"


def test_a_file_that_is_deleted_while_it_is_read_is_cut_short() -> None:
    class Deleted(Library):
        def __init__(self) -> None:
            self.left = [{"part": b"abc", "place": None}]

        async def data(self, statement: str, values: Mapping[str, Any]) -> Row | None:
            return self.left.pop() if self.left else None

    async def read() -> None:
        parts = documents.file_parts(
            Deleted(), documents.OriginalFile("s", "", "text", "hash", 2**21)
        )
        assert await anext(parts) == b"abc"
        with pytest.raises(NotFound):
            await anext(parts)

    asyncio.run(read())


def test_deleting_removes_all_of_it(client: httpx.Client, sql: psycopg.Connection) -> None:
    data = new_content()
    document_id = upload_ready(client, sql, data)
    other_id = upload_ready(client, sql, new_content())
    for number, key in enumerate((document_id, other_id)):
        sql.execute(
            "INSERT INTO embedding_cache (key, model, vector) VALUES (%s, 'm', %s)",
            (f"key-{key}-0", bytes([number])),
        )
    again = client.post(f"/v1/documents/{document_id}/reingest").json()["run_id"]
    assert client.delete(f"/v1/documents/{document_id}").status_code == 204
    assert client.get(f"/v1/documents/{document_id}").status_code == 404
    assert client.delete(f"/v1/documents/{document_id}").status_code == 404
    left = sql.execute("SELECT document_id, count(*) FROM chunks GROUP BY 1").fetchall()
    assert left == [(other_id, 2)]
    assert sql.execute("SELECT key FROM embedding_cache").fetchall() == [(f"key-{other_id}-0",)]
    assert data not in [row[0] for row in sql.execute("SELECT data FROM files")]
    assert sql.execute(
        "SELECT status, reason, file_hash FROM run_files WHERE run_id = %s", (again,)
    ).fetchall() == [("cancelled", "its document was deleted", None)]
    with sql.transaction():  # what a worker in the middle of it is told
        assert not set_file(sql, again, 0, "added")


def test_a_deletion_that_fails_in_the_middle_deletes_nothing(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    document_id = upload_ready(client, sql, new_content())
    client.post(f"/v1/documents/{document_id}/reingest")
    tables = ("documents", "chunks", "files", "run_files WHERE status = 'queued'")
    before = [count(sql, table) for table in tables]
    sql.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
        "CREATE TRIGGER refuse BEFORE DELETE ON files FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        response = client.delete(f"/v1/documents/{document_id}")
    finally:
        sql.execute("DROP FUNCTION refuse CASCADE")
    assert response.status_code == 503 and response.json()["error"].count("\n") == 0
    assert [count(sql, table) for table in tables] == before == [1, 2, 1, 1]
    assert client.delete(f"/v1/documents/{document_id}").status_code == 204


def test_a_document_that_is_called_as_anothers_id_is_not_deleted_with_it(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    document_id = upload_ready(client, sql, new_content())
    namesake = upload_ready(client, sql, new_content(), source_uri=str(document_id))
    assert client.delete(f"/v1/documents/{document_id}").status_code == 204
    assert client.get(f"/v1/documents/{namesake}").status_code == 200


def test_bytes_that_another_document_keeps_stay(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    data = new_content()
    one = upload_ready(client, sql, data, source_uri="one")
    two = upload_ready(client, sql, data, source_uri="two")
    assert one != two and count(sql, "files") == 1
    assert client.delete(f"/v1/documents/{one}").status_code == 204
    assert client.get(f"/v1/documents/{two}/file").content == data
    assert client.delete(f"/v1/documents/{two}").status_code == 204
    assert count(sql, "files") == 0


def test_reading_an_upload_again(client: httpx.Client, sql: psycopg.Connection) -> None:
    document_id = upload_ready(client, sql, new_content(), title="Chosen")
    first = client.post(f"/v1/documents/{document_id}/reingest")
    assert first.status_code == 202
    again = client.post(f"/v1/documents/{document_id}/reingest")
    assert again.json() == first.json()  # one at a time
    row = sql.execute(
        "SELECT document_id, title, keep_file, file_hash IS NOT NULL FROM run_files"
        " WHERE run_id = %s", (first.json()["run_id"],),
    ).fetchone()  # fmt: skip
    assert row == (document_id, "Chosen", True, True)
    assert client.get(f"/v1/documents/{document_id}").json()["status"] == "ready"

    sql.execute("INSERT INTO documents (id, title, source_uri, content_hash) VALUES (0,'T','p','')")
    refused = client.post("/v1/documents/0/reingest")
    assert refused.status_code == 409 and "p" in refused.json()["error"]
    assert client.post("/v1/documents/987654/reingest").status_code == 404


def test_a_page_may_upload_and_delete_from_an_origin_that_is_let_in(database_url: str) -> None:
    with live(database_url, cors_origins="https://app.example.com") as client:
        origin = {"Origin": "https://app.example.com"}
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            headers = origin | {
                "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "authorization,x-stainless-os",
            }
            told = client.options("/v1/documents", headers=headers)
            assert (
                told.status_code == 200 and method in told.headers["access-control-allow-methods"]
            )
            assert "x-stainless-os" in told.headers["access-control-allow-headers"]
        shown = client.get("/v1/documents", headers=origin).headers
        exposed = shown["access-control-expose-headers"].lower().split(", ")
        assert {"retry-after", "x-request-id", "content-disposition"} <= set(exposed)
        assert (
            "access-control-allow-origin"
            not in client.options(
                "/v1/documents", headers=headers | {"Origin": "https://other.example.com"}
            ).headers
        )


def test_without_a_database_all_of_it_is_503(database_url: str) -> None:
    door = CuttableDatabase(database_url)
    try:
        with live(door.url) as client:
            door.shut()
            requests = [
                lambda: upload(client, new_content()),
                lambda: client.get("/v1/documents"),
                lambda: client.get("/v1/runs/1/events"),
                lambda: client.delete("/v1/documents/1"),
            ]
            with ThreadPoolExecutor(4) as pool:
                answers = list(pool.map(lambda send: send(), requests))
            assert [answer.status_code for answer in answers] == [503] * 4
            assert all(answer.json()["error"].count("\n") == 0 for answer in answers)
            door.reopen()
            assert upload(client, new_content()).status_code == 202
    finally:
        door.close()


def test_every_endpoint_is_documented(client: httpx.Client) -> None:
    told = (ROOT / "docs" / "http.md").read_text()
    paths = client.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        shown = re.sub(r"\{\w+_id\}", "{id}", path).replace("{number}", "{n}")
        for method in methods:
            assert f"`{method.upper()} {shown}" in told, (method, path)


def test_a_title_has_no_characters_that_nobody_sees(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    number = upload_ready(client, sql, new_content(), title="An invoice \u202efdp.exe")
    place = f"/v1/documents/{number}"
    assert client.get(place).json()["title"] == "An invoice fdp.exe"
    changed = client.patch(place, json={"title": "B\u202egnp", "file_name": "b\u202egnp.exe"})
    assert changed.json() == {"id": number, "title": "Bgnp", "file_name": "bgnp.exe"}
    assert client.patch(place, json={"title": "\u202e\u200b"}).status_code == 400


def test_what_people_change_is_listed_and_found(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    number = upload_ready(client, sql, b"Pumps are sold in spring.")
    facts = {"company": "Meridian Harbor, Inc.", "kind": "10-Q", "period": "Q3 2023"}
    change = {"title": "Pumps", "file_name": "pumps 7.pdf", "facts": facts}
    changed = client.patch(f"/v1/documents/{number}", json=change)
    assert changed.json() == {"id": number, **change}
    document = client.get(f"/v1/documents/{number}").json()
    assert (document["title"], document["file_name"]) == ("Pumps", "pumps 7.pdf")
    assert document["facts"] == facts | {"period_end": "2023-09-28"}

    def listed(**params: str) -> list[int]:
        found = client.get("/v1/documents", params=params).json()["documents"]
        return [each["id"] for each in found]

    for params in (
        {"q": "pumps 7"}, {"company": "MERIDIAN HARBOR"}, {"kind": "10-q"},
        {"company": "Meridian Harbor Inc", "kind": "10-Q"},
    ):  # fmt: skip
        assert listed(**params) == [number], params
    for params in ({"company": "Meridian"}, {"kind": "policy"}, {"q": "pumps 8"}):
        assert listed(**params) == [], params
    client.patch(f"/v1/documents/{number}", json={"facts": {"company": None}})
    assert listed(company="Meridian Harbor") == []
    assert client.patch("/v1/documents/999999999", json=change).status_code == 404
