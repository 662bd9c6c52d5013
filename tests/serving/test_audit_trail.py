"""The entries that a server writes into its audit log, and their display by the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from helix.cli import cli
from helix.library.audit import StoredEvent, list_events
from helix.library.keys import create_key, list_keys, revoke_key
from tests.support.live_server import live, new_content, upload

SECRET_TEXT = "The password of the vault is xyzzy."


@pytest.fixture
def sql(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@contextmanager
def _as(url: str, secret: str | None, **settings: object) -> Iterator[httpx.Client]:
    """A client with the key; what its server noted is written when the block ends."""
    with live(url, auth="keys", **settings) as client:
        if secret:
            client.headers["Authorization"] = f"Bearer {secret}"
        yield client


def _told(sql: psycopg.Connection, kind: str) -> list[StoredEvent]:
    return [each for each in list_events(sql, timedelta(hours=1)) if each.kind == kind]


def test_writes_uses_and_refusals_are_told_without_their_texts(
    database_url: str, sql: psycopg.Connection
) -> None:
    key_id, secret = create_key(sql, "acme", scopes=["ask", "write"])
    with _as(database_url, secret) as client:
        stored = upload(client, SECRET_TEXT.encode(), "vault.txt", title="Of the vault").json()
        number = stored["documents"][0]["id"]
        assert client.patch(f"/v1/documents/{number}", json={"tags": ["top"]}).status_code == 200
        assert client.get("/v1/documents").status_code == 403
        assert client.post("/v1/query", json={"question": SECRET_TEXT}).status_code == 200
        assert client.post("/v1/query", json={"question": ""}).status_code == 400
        for path in ("/v1/runs", "/nowhere/../../vault%00"):
            client.get(path, headers={"Authorization": "Bearer hx_wrong"})
        batch = {"action": "label", "ids": [number], "add": ["more"], "remove": []}
        assert client.post("/v1/documents/batch", json=batch).status_code == 200
    written = {each.action: each for each in _told(sql, "write")}
    assert {action: each.object for action, each in written.items()} == {
        "POST /v1/documents": f"run {stored['run_id']}",
        "PATCH /v1/documents/{document_id}": f"document {number}",
        "POST /v1/documents/batch": "label of 1 documents",
    }
    assert {(e.tenant, e.key_id, e.address) for e in written.values()} == {
        ("acme", key_id, "127.0.0.1")
    }
    lacked, unknown = sorted(_told(sql, "refusal"), key=lambda each: -(each.status or 0))
    assert (lacked.status, lacked.object, lacked.key_id) == (403, "scope read", key_id)
    assert (unknown.status, unknown.tenant, unknown.key_id) == (401, "-", None)
    (used,) = _told(sql, "key_use")
    assert (used.key_id, used.n) == (key_id, 1)
    (key,) = list_keys(sql)
    assert key.used_at is not None and key.used_at >= key.created_at
    everything = str(list_events(sql, timedelta(hours=1)))
    assert "vault" not in everything and "xyzzy" not in everything and secret[7:] not in everything


def test_what_is_made_or_brought_in_is_told_by_its_id_and_what_changed_nothing_is_not(
    database_url: str, sql: psycopg.Connection
) -> None:
    _, secret = create_key(sql, "acme", scopes=["ask", "read", "write"])
    with _as(database_url, secret) as client:
        stored = upload(client, b"Refunds take 30 days.", "refunds.txt").json()
        number = stored["documents"][0]["id"]
        begun = client.post("/v1/conversations", json={"title": "Of the vault"}).json()["id"]
        assert client.post("/v1/conversations", json={"id": "of-the-vault"}).status_code == 201
        exported = client.get(f"/v1/conversations/{begun}/export").json()
        imported = client.post("/v1/conversations/import", json=exported).json()["id"]
        cards = {"file": ("cards.csv", b"front,back\r\nvault?,xyzzy\r\n")}
        deck = client.post("/v1/study/import", files=cards).json()["id"]
        label = {"action": "label", "ids": [number], "add": ["more"]}
        for batch in (label, label, {"action": "delete", "ids": [987654]}):
            assert client.post("/v1/documents/batch", json=batch).status_code == 200
        tried = client.post("/v1/prompts/judge/preview", json={"text": "Judge."})
        assert tried.status_code == 200, tried.text
    assert [(each.action, each.object, each.n) for each in _told(sql, "write")] == [
        ("POST /v1/documents", f"run {stored['run_id']}", 1),
        ("POST /v1/conversations", f"conversation {begun}", 1),
        ("POST /v1/conversations", "conversation", 1),
        ("POST /v1/conversations/import", f"import of conversation {imported}", 1),
        ("POST /v1/study/import", f"import of study set {deck}", 1),
        ("POST /v1/documents/batch", "label of 1 documents", 1),
    ]
    assert "vault" not in str(list_events(sql, timedelta(hours=1)))


def test_a_flood_of_refusals_is_a_row(database_url: str, sql: psycopg.Connection) -> None:
    key_id, secret = create_key(sql, "acme")
    revoke_key(sql, key_id)
    with _as(database_url, secret) as client:
        for _ in range(60):
            assert client.get("/v1/runs").status_code == 401
    refused = _told(sql, "refusal")
    assert sum(each.n for each in refused) == 60 and len(refused) <= 30


def test_nothing_is_kept_where_nothing_is_to_be(database_url: str, sql: psycopg.Connection) -> None:
    _, secret = create_key(sql, "acme")
    with _as(database_url, secret, audit_days=0) as client:
        assert upload(client, new_content()).status_code == 202
        assert client.get("/metrics").status_code == 403
    assert list_events(sql, timedelta(hours=1)) == []
    (key,) = list_keys(sql)
    assert key.used_at is not None


def test_the_command_shows_commands_too(
    database_url: str, sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    for name, value in (values | {"COLUMNS": "120"}).items():
        monkeypatch.setenv(name, value)
    runner = CliRunner()
    assert "nothing was recorded" in runner.invoke(cli, ["audit"]).stderr
    runner.invoke(cli, ["keys", "create", "--tenant", "acme"])
    (key,) = list_keys(sql)
    runner.invoke(cli, ["keys", "set", str(key.id), "--scopes", "ask"])
    runner.invoke(cli, ["keys", "revoke", str(key.id)])
    table = runner.invoke(cli, ["audit", "--since", "1h", "--tenant", "acme"]).stdout
    assert "helix keys create" in table and f"key {key.id}" in table
    lines = runner.invoke(cli, ["audit", "--json"]).stdout.splitlines()
    assert [json.loads(line)["action"] for line in lines] == [
        "helix keys create", "helix keys set", "helix keys revoke",
    ]  # fmt: skip
    assert runner.invoke(cli, ["audit", "--since", "yesterday"]).exit_code == 2
    assert runner.invoke(cli, ["tenants", "erase", "acme", "--yes"]).exit_code == 0
    (left,) = list_events(sql, timedelta(hours=1))
    assert (left.action, left.tenant) == ("helix tenants erase", "acme")
