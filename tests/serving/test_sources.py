"""Sources over HTTP: added, synced, changed, removed; and whom they are hidden from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import carried_out

FOLDER = {"name": "Crates", "kind": "folder"}


@pytest.fixture
def shared(tmp_path: Path, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", wire.base_url)
    monkeypatch.setenv("HELIX_SOURCE_FOLDERS", str(tmp_path))
    (tmp_path / "shared").mkdir()
    for n in range(3):
        (tmp_path / "shared" / f"{n}.md").write_text(f"Crate {n} holds {n + 7} lanterns.")
    return tmp_path / "shared"


@pytest.fixture
def client(durable_database_url: str) -> Iterator[httpx.Client]:
    with live(durable_database_url) as client:
        yield client


def _added(client: httpx.Client, shared: Path, **more: object) -> int:
    answer = client.post("/v1/sources", json={**FOLDER, "address": str(shared), **more})
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["id"]
    return number


def _work(url: str) -> None:
    asyncio.run(carried_out(url))


def test_a_source_is_added_and_followed(
    client: httpx.Client,
    durable_database_url: str,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HELIX_REMOVALS", "1")
    number = _added(client, shared)
    _work(durable_database_url)
    told = client.get(f"/v1/sources/{number}").json()
    assert (told["documents"], told["last_error"], told["run_id"]) == (3, "", None)
    assert (told["every_seconds"], told["has_secrets"], told["gone"]) == (3600, False, [])
    assert "secrets" not in told and "trusted" not in told
    listed = client.get("/v1/sources").json()
    assert [each["name"] for each in listed["sources"]] == ["Crates"]
    assert listed["kinds"][0]["name"] == "folder"

    (document,) = rows(durable_database_url, "SELECT id FROM documents WHERE file_name = '0.md'")
    source = client.get(f"/v1/documents/{document[0]}").json()["source"]
    assert source == {
        "id": number, "name": "Crates", "kind": "folder", "key": "0.md", "url": ""
    }  # fmt: skip

    for n in (0, 1):
        (shared / f"{n}.md").unlink()
    for body in ({"dry_run": True}, {}):
        assert client.post(f"/v1/sources/{number}/sync", json=body).status_code == 202
        _work(durable_database_url)
        told = client.get(f"/v1/sources/{number}").json()
        if body:
            assert told["preview"]["waiting"] == ["0.md", "1.md"]
    assert [entry["key"] for entry in told["gone"]] == ["0.md", "1.md"]
    assert client.post(f"/v1/sources/{number}/sync").status_code == 202, "no body: as usual"
    _work(durable_database_url)
    client.post(f"/v1/sources/{number}/sync", json={"yes": True})
    _work(durable_database_url)
    assert client.get(f"/v1/sources/{number}").json()["documents"] == 1

    run_id = client.delete(f"/v1/sources/{number}").json()["run_id"]
    assert run_id is not None
    _work(durable_database_url)
    assert client.get(f"/v1/sources/{number}").status_code == 404
    assert rows(durable_database_url, "SELECT count(*) FROM documents") == [(0,)]


def test_a_folder_that_is_not_allowed_is_opened_by_nobody(
    client: httpx.Client, durable_database_url: str, shared: Path
) -> None:
    number = _added(client, Path("/etc"))
    _work(durable_database_url)
    told = client.get(f"/v1/sources/{number}").json()
    assert "HELIX_SOURCE_FOLDERS" in told["last_error"] and told["documents"] == 0


def test_a_trusted_source_that_is_led_elsewhere_is_trusted_no_more(
    client: httpx.Client, durable_database_url: str, shared: Path
) -> None:
    number = _added(client, shared)
    with psycopg.connect(durable_database_url) as connection:
        connection.execute("UPDATE sources SET trusted = true")
    client.patch(f"/v1/sources/{number}", json={"tags": ["crates"]})
    assert rows(durable_database_url, "SELECT trusted FROM sources") == [(True,)]
    changed = client.patch(f"/v1/sources/{number}", json={"address": "/etc"})
    assert changed.json()["address"] == "/etc"
    assert rows(durable_database_url, "SELECT trusted FROM sources") == [(False,)]


def test_its_secrets_are_led_nowhere_else(
    durable_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_SECRETS_KEY", "5" * 64)
    place = {"address": "https://git.example.com/team/notes.git", "options": {"branch": "main"}}
    asked = {"name": "Notes", "kind": "git", **place, "secrets": {"token": "tok-1"}}
    with live(durable_database_url) as client:
        made = client.post("/v1/sources", json={**asked, "paused": True}).json()
        path, stored = f"/v1/sources/{made['id']}", "SELECT address, options, secrets FROM sources"
        before = rows(durable_database_url, stored)
        for change in ({"address": "https://elsewhere.example/x.git"}, {"options": {"user": "x"}}):
            answer = client.patch(path, json=change)
            assert answer.status_code == 400 and "to its address alone" in answer.json()["error"]
        assert rows(durable_database_url, stored) == before
        assert client.patch(path, json={**place, "tags": ["a"]}).status_code == 200
        moved = {"address": "https://elsewhere.example/x.git", "secrets": {"token": "tok-2"}}
        assert client.patch(path, json=moved).json()["address"] == moved["address"]


def test_a_source_is_paused_and_left(
    client: httpx.Client, durable_database_url: str, shared: Path
) -> None:
    number = _added(client, shared, paused=True)
    assert client.get(f"/v1/sources/{number}").json()["run_id"] is None
    answer = client.patch(f"/v1/sources/{number}", json={"paused": False, "every_seconds": 0})
    assert (answer.json()["state"], answer.json()["every_seconds"]) == ("active", None)
    client.post(f"/v1/sources/{number}/sync", json={})
    busy = client.post(f"/v1/sources/{number}/sync", json={"dry_run": True})
    assert busy.status_code == 409 and "syncs this source already" in busy.json()["error"]
    _work(durable_database_url)
    left = client.delete(f"/v1/sources/{number}", params={"keep_documents": True})
    assert left.json() == {"run_id": None}
    assert rows(durable_database_url, "SELECT count(*) FROM documents") == [(3,)]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"name": "12"}, 400, "no number alone"),
        ({"kind": "tape"}, 400, "no kind of source"),
        ({"spaces": [77]}, 404, "no space 77"),
        ({"secrets": {"password": "x"}}, 400, "has no secret"),
        ({"every_seconds": 5}, 400, "60 seconds to a year"),
        ({"speed": 1}, 400, "speed"),
    ],
)
def test_what_cannot_be_is_refused(
    client: httpx.Client, shared: Path, body: dict[str, object], status: int, said: str
) -> None:
    answer = client.post("/v1/sources", json={**FOLDER, "address": str(shared), **body})
    assert answer.status_code == status and said in answer.json()["error"]


def test_who_is_limited_to_spaces_sees_theirs_alone(
    durable_database_url: str, shared: Path
) -> None:
    url = durable_database_url
    with live(url, auth="keys") as client, psycopg.connect(url, autocommit=True) as connection:
        whole = create_key(connection, "t", scopes=["read", "write", "admin"])[1]
        client.headers["Authorization"] = f"Bearer {whole}"
        board = client.post("/v1/spaces", json={"name": "Board"}).json()["id"]
        limited = create_key(connection, "t", scopes=["read", "write", "admin"], spaces=["Board"])
        open_source = _added(client, shared, name="Open")
        both = _added(client, shared, name="Both", spaces=[0, board])
        own = _added(client, shared, name="Own", spaces=[board])
        mapped = _added(client, shared, name="Mapped", spaces=[board], group_map={"g": [board]})

        client.headers["Authorization"] = f"Bearer {limited[1]}"
        listed = client.get("/v1/sources").json()["sources"]
        assert [each["id"] for each in listed] == [own]
        for hidden in (open_source, both, mapped):
            assert client.get(f"/v1/sources/{hidden}").status_code == 404
            assert client.post(f"/v1/sources/{hidden}/sync", json={}).status_code == 404
            assert client.patch(f"/v1/sources/{hidden}", json={"paused": True}).status_code == 404
            assert client.delete(f"/v1/sources/{hidden}").status_code == 404
        assert client.post(f"/v1/sources/{own}/sync", json={}).status_code == 202
        mine = _added(client, shared, name="Mine")
        assert client.get(f"/v1/sources/{mine}").json()["spaces"] == [board]
        elsewhere = {**FOLDER, "address": str(shared), "name": "X"}
        for more in ({"spaces": [0]}, {"spaces": [board], "group_map": {"g": [0]}}):
            refused = client.post("/v1/sources", json={**elsewhere, **more})
            assert refused.status_code in (403, 404), refused.text
        assert client.patch(f"/v1/sources/{mine}", json={"spaces": [0]}).status_code == 404
