"""Uploads and web pages over HTTP: the real application, real Postgres, no worker."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from helix.domain.file_kinds import title_from_name
from helix.library.uploads import clean_name
from tests.support.live_server import (
    count,
    end_run,
    live,
    make_ready,
    new_content,
    upload,
    upload_ready,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


def test_an_upload_is_stored_with_a_run_that_will_read_it(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    data = new_content()
    response = upload(client, data, "../folder/refund-policy.txt")
    assert response.status_code == 202, response.text
    digest = hashlib.sha256(data).hexdigest()
    (document,) = response.json()["documents"]
    assert document == {
        "id": document["id"], "title": "Refund Policy", "status": "processing",
        "source_uri": f"upload:{digest[:16]}/refund-policy.txt", "duplicate": False,
    }  # fmt: skip
    row = sql.execute(
        "SELECT f.document_id, f.content_hash, f.file_hash, f.keep_file, f.media, f.size, f.title,"
        " r.kind, r.status, b.data, d.file_hash FROM run_files f JOIN runs r ON r.id = f.run_id"
        " JOIN files b ON b.content_hash = f.file_hash JOIN documents d ON d.id = f.document_id"
        " WHERE r.id = %s",
        (response.json()["run_id"],),
    ).fetchall()
    assert row == [(
        document["id"], digest, digest, True, "text", len(data), None, "upload", "queued", data,
        digest,
    )]  # fmt: skip


def test_workers_hear_of_an_upload(client: httpx.Client, sql: psycopg.Connection) -> None:
    sql.execute("LISTEN helix_runs")
    run_id = upload(client, new_content()).json()["run_id"]
    (heard,) = sql.notifies(timeout=60, stop_after=1)
    assert heard.payload == str(run_id)


def test_the_same_bytes_are_one_document_whatever_they_are_called(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    data = new_content()
    first = upload(client, data, "one.txt").json()
    again = upload(client, data, "two.txt")
    assert again.status_code == 202 and again.json()["run_id"] == first["run_id"]
    assert again.json()["documents"] == [{**first["documents"][0], "duplicate": True}]

    make_ready(sql, first["documents"][0]["id"], data.decode(), [(0, 5)])
    end_run(sql, first["run_id"])
    settled = upload(client, data, "three.txt")
    assert settled.status_code == 200 and settled.json()["run_id"] is None
    assert settled.json()["documents"][0]["status"] == "ready"
    assert (count(sql, "documents"), count(sql, "runs"), count(sql, "files")) == (1, 1, 1)


@pytest.mark.parametrize("times", [40, pytest.param(1000, marks=pytest.mark.soak)])
def test_parallel_identical_uploads_are_one_document(
    client: httpx.Client, sql: psycopg.Connection, times: int
) -> None:
    data = new_content()
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda n: upload(client, data, f"{n}.txt"), range(times)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({(a.json()["run_id"], a.json()["documents"][0]["id"]) for a in answers}) == 1
    assert [a.json()["documents"][0]["duplicate"] for a in answers].count(False) == 1
    assert (count(sql, "documents"), count(sql, "runs"), count(sql, "run_files")) == (1, 1, 1)


def test_requests_with_the_same_files_in_other_orders_all_succeed(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    contents = [new_content() for _ in range(4)]
    orders = list(itertools.permutations(contents))

    def send(order: tuple[bytes, ...]) -> httpx.Response:
        return client.post("/v1/documents", files=[("files", ("a.txt", data)) for data in order])

    with ThreadPoolExecutor(12) as pool:
        assert {answer.status_code for answer in pool.map(send, orders)} == {202}
    assert (count(sql, "documents"), count(sql, "run_files")) == (4, 4)


def test_a_document_that_failed_is_tried_again(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    data = new_content()
    first = upload(client, data).json()
    sql.execute("UPDATE documents SET status = 'failed', error = 'broken'")
    end_run(sql, first["run_id"])
    again = upload(client, data, "other.txt")
    assert again.status_code == 202 and again.json()["run_id"] > first["run_id"]
    (document,) = again.json()["documents"]
    assert document["id"] == first["documents"][0]["id"] and document["status"] == "processing"
    assert count(sql, "documents") == 1


def test_an_upload_under_a_source_uri_replaces_the_one_before(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    old, newer, newest = (new_content() for _ in range(3))
    document_id = upload_ready(client, sql, old, source_uri="handbook", title="Handbook")
    second = upload(client, newer, source_uri="handbook").json()
    assert second["documents"][0] == {
        "id": document_id, "title": "Handbook", "source_uri": "handbook", "status": "ready",
        "duplicate": False,
    }  # fmt: skip
    assert client.get(f"/v1/documents/{document_id}").json()["text"] == old.decode()
    third = upload(client, newest, source_uri="handbook").json()
    states = sql.execute("SELECT run_id, status, reason FROM run_files ORDER BY run_id").fetchall()
    assert states[1:] == [
        (second["run_id"], "cancelled", "replaced by a later upload"),
        (third["run_id"], "queued", ""),
    ]
    kept = {row[0] for row in sql.execute("SELECT data FROM files")}
    assert kept == {old, newest}  # what is read, and what is to come
    elsewhere = upload(client, newest, source_uri="another").json()
    assert elsewhere["documents"][0]["id"] != document_id


def test_an_upload_of_what_was_ingested_from_a_path_is_that_document(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    data = new_content()
    sql.execute(
        "INSERT INTO documents (title, source_uri, content_hash) VALUES ('T', 'docs/t.txt', %s)",
        (hashlib.sha256(data).hexdigest(),),
    )
    same = upload(client, data, source_uri="docs/t.txt")
    assert (same.status_code, same.json()["run_id"]) == (200, None)
    assert same.json()["documents"][0]["duplicate"]
    again = upload(client, data).json()
    assert again["run_id"] is None and again["documents"] == same.json()["documents"]
    assert count(sql, "documents") == 1


def test_several_files_are_one_run(client: httpx.Client, sql: psycopg.Connection) -> None:
    one, two = new_content(), new_content()
    sent = [("file", ("1.txt", one)), ("files", ("2.txt", two)), ("x", ("3.txt", one))]
    response = client.post("/v1/documents", files=sent)
    documents = response.json()["documents"]
    assert [d["duplicate"] for d in documents] == [False, False, True]
    assert documents[0]["id"] == documents[2]["id"] != documents[1]["id"]
    assert (count(sql, "runs"), count(sql, "run_files")) == (1, 2)


@pytest.mark.parametrize(
    ("name", "data", "status", "told"),
    [
        ("big.txt", b"x" * (2**20 + 1), 413, "big.txt: larger than 1 MB"),
        ("a.png", PNG, 415, "a.png: "),
        ("a.txt", PNG, 415, "a.txt: "),
        ("a.txt", b"", 400, "a.txt: the file is empty"),
    ],
)
def test_one_bad_file_and_nothing_is_stored(
    client: httpx.Client, sql: psycopg.Connection, name: str, data: bytes, status: int, told: str
) -> None:
    sent = [("file", ("good.txt", new_content())), ("file", (name, data))]
    response = client.post("/v1/documents", files=sent)
    assert response.status_code == status, response.text
    assert response.json()["error"].startswith(told)
    assert [count(sql, t) for t in ("documents", "files", "runs", "run_files")] == [0, 0, 0, 0]


def test_a_body_too_large_is_refused_before_it_has_come(client: httpx.Client) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="f"; filename="endless.txt"\r\n\r\n'
        while sent < 200:
            sent += 1
            yield b"x" * 2**18

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = client.post("/v1/documents", content=endless(), headers=headers)
    assert response.status_code == 413 and "endless.txt" in response.text

    many = [("file", (f"{n}.txt", b"x" * 2**20)) for n in range(5)]  # each within the limit
    assert client.post("/v1/documents", files=many).status_code == 413


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--b--\r\n"),
        ("multipart/form-data; boundary=b", b"rubbish"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf of it',
        ),
    ],
)
def test_a_body_without_whole_files_is_a_bad_request(
    client: httpx.Client, sql: psycopg.Connection, content_type: str, body: bytes
) -> None:
    response = client.post("/v1/documents", content=body, headers={"Content-Type": content_type})
    assert response.status_code == 400 and "error" in response.json()
    assert count(sql, "documents") == 0


def test_fields_that_do_not_fit(client: httpx.Client, sql: psycopg.Connection) -> None:
    for fields in ({"title": "a\0b"}, {"source_uri": "x" * 2001}, {"source_uri": "ü" * 1500}):
        response = upload(client, new_content(), **fields)
        assert response.status_code == 400, fields
    two = [("file", ("1.txt", new_content())), ("file", ("2.txt", new_content()))]
    assert client.post("/v1/documents", files=two, data={"title": "T"}).status_code == 400
    assert count(sql, "documents") == 0


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Plan.docx", "Plan.docx"),
        ("a\x00b\x1b[31m\u202e.txt", "ab[31m.txt"),
        ("", "file"), ("..", "file"), ("dir/", "file"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        (".env", ".env"),
    ],
)  # fmt: skip
def test_names(sent: str, name: str) -> None:
    assert clean_name(sent) == name and title_from_name(name)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("filename*=UTF-8''na%C3%AFve%20plan.txt", "naïve plan.txt"),
        ("filename=\"x.txt\"; filename*=utf-8'en'%e2%82%ac.txt", "€.txt"),
        ("filename*=ISO-8859-1''n%E4h.txt; filename=\"x.txt\"", "näh.txt"),
        ("filename*=nonsense''a.txt", "a.txt"),
        ("filename=\"x.txt\"; filename*=UTF-8''", "x.txt"),
        ("filename=\"x.txt\"; filename*=utf\x00''a.txt", "x.txt"),
        ('filename="a %22b%22%0D%0A 100%25.txt"', 'a "b" 100%25.txt'),
        ('filename="na\u00efve.txt"', "naïve.txt"),
        ('filename="=?utf-8?B?bmHDr3ZlLnR4dA==?="', "naïve.txt"),
        ('filename="=?utf-8?Q?na=C3=AF?= =?utf-8?Q?ve.txt?="', "naïve.txt"),
        ('filename="=?ü?B?bmE=?=.txt"', "=?ü?B?bmE=?=.txt"),
        ('filename="=?nonsense?B?bmE=?=.txt"', "=?nonsense?B?bmE=?=.txt"),
    ],
)
def test_a_name_is_read_however_a_client_writes_it(
    client: httpx.Client, sql: psycopg.Connection, written: str, name: str
) -> None:
    head = f'--b\r\nContent-Disposition: form-data; name="file"; {written}\r\n\r\n'
    body = head.encode() + new_content() + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = client.post("/v1/documents", content=body, headers=headers)
    assert response.status_code == 202, response.text
    assert response.json()["documents"][0]["source_uri"].partition("/")[2] == name


def test_uploads_deletions_and_stops_at_once_leave_nothing_half_done(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    contents = [new_content() for _ in range(3)]

    def act(seed: int) -> list[int]:
        chance = random.Random(seed)
        codes = []
        for _ in range(12):
            response = upload(client, chance.choice(contents))
            codes.append(response.status_code)
            document = response.json()["documents"][0]["id"]
            run_id = response.json()["run_id"]
            method, path = chance.choice([
                ("DELETE", f"/v1/documents/{document}"),
                ("POST", f"/v1/documents/{document}/reingest"),
                ("POST", f"/v1/runs/{run_id}/cancel"),
            ])  # fmt: skip
            codes.append(client.request(method, path).status_code)
        return codes

    with ThreadPoolExecutor(8) as pool:
        codes = {code for codes in pool.map(act, range(8)) for code in codes}
    assert codes <= {200, 202, 204, 404}
    waiting = "SELECT FROM run_files f WHERE f.status = 'queued'"
    for what, wrong in {
        "bytes nobody needs": "SELECT FROM files b WHERE NOT EXISTS (SELECT FROM documents"
        " WHERE file_hash = b.content_hash)",
        "documents that nobody will read": "SELECT FROM documents d WHERE status = 'processing'"
        f" AND NOT EXISTS ({waiting} AND f.document_id = d.id)",
        "files without bytes": f"{waiting} AND file_hash IS NULL",
        "files without document": f"{waiting} AND NOT EXISTS"
        " (SELECT FROM documents WHERE id = f.document_id)",
    }.items():
        assert sql.execute(wrong).fetchall() == [], what


def test_a_web_page_is_a_run(client: httpx.Client, sql: psycopg.Connection) -> None:
    page = {"url": "https://example.com/docs?a=1", "title": "Docs"}
    first = client.post("/v1/documents/url", json=page)
    assert first.status_code == 202
    assert client.post("/v1/documents/url", json=page).json() == first.json()
    assert sql.execute("SELECT kind, options, status FROM runs").fetchall() == [
        ("url", page, "queued")
    ]
    unknown = client.post("/v1/documents/url", json=page | {"tag": ["a"]})
    assert (unknown.status_code, unknown.json()["error"]) == (
        400,
        '"tag" is no key of this request',
    )


@pytest.mark.parametrize(
    "url",
    ["", "ftp://example.com", "file:///etc/passwd", "https://", "http://user:pw@example.com/",
     "example.com", "http://a b/", "http://[::1", "http://x:99999/", "https://a\r\nb/", "x" * 3000],
)  # fmt: skip
def test_an_address_that_is_none(client: httpx.Client, sql: psycopg.Connection, url: str) -> None:
    response = client.post("/v1/documents/url", json={"url": url})
    assert response.status_code == 400 and "url" in response.json()["error"]
    assert "pw" not in response.text and count(sql, "runs") == 0
