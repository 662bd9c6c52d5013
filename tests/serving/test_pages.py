"""A document as it is printed, over HTTP: pages, images, tables, and text from place to place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from hashlib import sha256

import httpx
import psycopg
import pytest
from PIL import Image

from helix.storage.stored_bytes import replace_layout
from tests.support import sample_documents as documents
from tests.support.live_server import live, upload
from tests.support.printed_documents import HEIGHT, PAGES, START, TABLE, TEXT, WIDTH

PDF = documents.pdf("Results of the quarter", "Revenue: $39,669")
DIGEST = sha256(PDF).hexdigest()


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


@pytest.fixture
def report(client: httpx.Client, sql: psycopg.Connection) -> str:
    """The path of a printed document that was uploaded."""
    (told,) = upload(client, PDF, "report.pdf").json()["documents"]
    _read(sql, told["id"])
    return f"/v1/documents/{told['id']}"


def _read(sql: psycopg.Connection, document_id: int) -> None:
    sql.execute("UPDATE documents SET text = %s, status = 'ready'", (TEXT,))
    replace_layout(sql, "default", document_id, PAGES, (TABLE,))


def _error(client: httpx.Client, path: str, **params: object) -> tuple[int, str]:
    answer = client.get(path, params=params)  # type: ignore[arg-type]
    return answer.status_code, answer.json()["error"]


def test_pages_and_tables_are_listed(client: httpx.Client, report: str) -> None:
    assert client.get(f"{report}/pages").json() == {
        "pages": [
            {"number": page.number, "label": page.label, "width": WIDTH, "height": HEIGHT,
             "start": page.start, "end": page.end} for page in PAGES
        ]
    }  # fmt: skip
    assert client.get(f"{report}/tables").json() == {
        "tables": [
            {"start": TABLE.start, "end": TABLE.end, "page": 2, "caption": "Results",
             "units": "in millions", "rows": [["Revenue"], ["Cost"]],
             "columns": [["Three Months Ended", "July 1, 2023"]],
             "cells": [[cell.row, cell.column, cell.start, cell.end] for cell in TABLE.cells]}
        ]
    }  # fmt: skip


def test_a_document_without_pages_says_so(client: httpx.Client, sql: psycopg.Connection) -> None:
    (told,) = upload(client, b"Plain words.").json()["documents"]
    path = f"/v1/documents/{told['id']}"
    assert client.get(f"{path}/pages").json() == {"pages": []}
    assert client.get(f"{path}/tables").json() == {"tables": []}
    assert client.get(f"{path}/boxes", params={"start": 0, "end": 5}).json() == {"boxes": []}
    assert _error(client, f"{path}/pages/1.png") == (
        404, f"document {told['id']} has no printed pages: it is a text file"
    )  # fmt: skip


def test_a_page_is_an_image_that_only_its_reader_keeps(client: httpx.Client, report: str) -> None:
    answer = client.get(f"{report}/pages/2.png", params={"scale": 0.5})
    picture = Image.open(io.BytesIO(answer.content))
    assert (picture.format, picture.size) == ("PNG", (298, 421))  # A4, half a pixel a point
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    tag = answer.headers["etag"]
    same = {"headers": {"If-None-Match": tag}}
    known = client.get(f"{report}/pages/2.png", params={"scale": 0.5}, **same)  # type: ignore[arg-type]
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    for asked, status in (("*", 304), (f'"x", W/{tag}', 304), ('W/"x"', 200), (f"x{tag}", 200)):
        headers = {"If-None-Match": asked}
        answer = client.get(f"{report}/pages/2.png", params={"scale": 0.5}, headers=headers)
        assert answer.status_code == status, asked
    gone = client.get(f"{report}/pages/99.png", headers={"If-None-Match": "*"})
    assert gone.status_code == 404
    others = [(1, 0.5), (2, 0.6)]
    for number, scale in others:
        other = client.get(f"{report}/pages/{number}.png", params={"scale": scale}, **same)  # type: ignore[arg-type]
        assert other.status_code == 200 and other.headers["etag"] != tag


@pytest.mark.parametrize("scale", ["0", "-1", "0.05", "4.5", "1e9", "nan", "inf", "x"])
def test_a_scale_out_of_bounds_is_refused(client: httpx.Client, report: str, scale: str) -> None:
    status, line = _error(client, f"{report}/pages/1.png", scale=scale)
    assert status == 400 and line.startswith("query.scale: Input should be ")


def test_where_the_bytes_are_not_kept_the_answer_says_how_to_keep_them(
    client: httpx.Client, sql: psycopg.Connection, report: str
) -> None:
    sql.execute("UPDATE documents SET file_hash = NULL, source_uri = 'reports/a.pdf'")
    status, said = _error(client, f"{report}/pages/1.png")
    assert status == 404
    assert said.endswith("run `helix ingest --keep-files reports/a.pdf`, or upload it")
    assert client.get(f"{report}/pages").json()["pages"]
    status, said = _error(client, f"{report}/file")
    assert status == 404 and "--keep-files" in said


def test_a_page_that_cannot_be_drawn_is_422(client: httpx.Client, sql: psycopg.Connection) -> None:
    (told,) = upload(client, b"%PDF-1.7\nbroken", "broken.pdf").json()["documents"]
    _read(sql, told["id"])
    assert _error(client, f"/v1/documents/{told['id']}/pages/1.png") == (
        422, "the file is damaged or encrypted: its pages cannot be drawn"
    )  # fmt: skip


def test_a_deleted_documents_pages_are_gone(client: httpx.Client, report: str) -> None:
    image = client.get(f"{report}/pages/1.png")
    assert image.status_code == 200
    client.delete(report)
    same = {"If-None-Match": image.headers["etag"]}
    assert client.get(f"{report}/pages/1.png", headers=same).status_code == 404


@pytest.mark.parametrize("path", ["pages", "tables", "pages/1.png"])
def test_there_is_no_such_document(
    client: httpx.Client, sql: psycopg.Connection, path: str
) -> None:
    assert _error(client, f"/v1/documents/987654321/{path}") == (
        404, "there is no document 987654321: GET /v1/documents lists them"
    )  # fmt: skip


def test_there_is_no_such_page(client: httpx.Client, report: str) -> None:
    for number in (0, 3, -1, 10**20):
        status, said = _error(client, f"{report}/pages/{number}.png")
        assert (status, said.endswith(f"has no page {number}")) == (404, True)
        status, said = _error(client, f"{report}/pages/{number}/text", left=1, top=1)
        assert (status, said.endswith(f"has no page {number}")) == (404, True)


def test_text_leads_to_its_place_and_back(client: httpx.Client, report: str) -> None:
    cell = TABLE.cells[0]
    (box,) = client.get(
        f"{report}/boxes", params={"start": cell.start, "end": cell.end}
    ).json()["boxes"]  # fmt: skip
    assert box.pop("page") == 2
    back = client.get(f"{report}/pages/2/text", params=box).json()
    assert back == {"start": cell.start, "end": cell.end, "spans": [[cell.start, cell.end]]}
    middle = {"left": (box["left"] + box["right"]) / 2, "top": (box["top"] + box["bottom"]) / 2}
    assert client.get(f"{report}/pages/2/text", params=middle).json() == back
    nowhere = client.get(f"{report}/pages/2/text", params={"left": 1, "top": 1}).json()
    assert nowhere == {"start": None, "end": None, "spans": []}
    whole = client.get(f"{report}/boxes", params={"start": 0, "end": len(TEXT)}).json()["boxes"]
    assert [one["page"] for one in whole] == [1, 2, 2]
    assert cell.start > START


@pytest.mark.parametrize(("start", "end"), [(5, 5), (6, 5), (-1, 5), (0, 50_001)])
def test_a_range_that_is_none_is_refused(
    client: httpx.Client, report: str, start: int, end: int
) -> None:
    status, said = _error(client, f"{report}/boxes", start=start, end=end)
    assert status == 400 and "range" in said
