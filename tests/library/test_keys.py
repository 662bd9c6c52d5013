"""API keys: what is stored of one, whom it lets in, and the command that makes and revokes them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import psycopg
import pytest
from typer.testing import CliRunner, Result

from helix.cli import cli
from helix.errors import BadRequest
from helix.library.keys import (
    KEY_SCOPES,
    access_of_key,
    create_key,
    list_keys,
    revoke_key,
    set_end,
    set_scopes,
)
from tests.support.fake_embedder import opened
from tests.support.live_server import live

SECRET = re.compile(r"hx_[A-Za-z0-9_-]{43}")


@pytest.fixture
def sql(module_database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        yield connection
        connection.execute("DELETE FROM api_keys")


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url, auth="keys") as client:
        yield client


def _as(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_of_a_key_only_its_hash_and_its_beginning_are_stored(sql: psycopg.Connection) -> None:
    key_id, secret = create_key(sql, "acme", "intranet")
    assert SECRET.fullmatch(secret)
    (row,) = sql.execute("SELECT to_jsonb(api_keys) FROM api_keys").fetchall()
    assert row[0]["key_hash"] == sha256(secret.encode()).hexdigest()
    assert (row[0]["id"], row[0]["hint"]) == (key_id, secret[:7])
    assert secret[7:] not in str(row)
    assert len({create_key(sql, "acme", "")[1] for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("tenant", "name"), [("", "n"), ("a b", "n"), ("acme", "x" * 101), ("acme", "a\x1b[31m")]
)
def test_a_key_that_cannot_be_made(sql: psycopg.Connection, tenant: str, name: str) -> None:
    with pytest.raises(BadRequest):
        create_key(sql, tenant, name)
    assert list_keys(sql) == []


async def test_a_key_opens_its_tenant_until_it_is_revoked(
    sql: psycopg.Connection, module_database_url: str
) -> None:
    first, opens_acme = create_key(sql, "acme")
    second, opens_too = create_key(sql, "acme", "another")
    _, opens_other = create_key(sql, "other")
    async with opened(module_database_url, pool_size=1) as store:
        found = [await access_of_key(store, key) for key in (opens_acme, opens_too, opens_other)]
        assert [each and each.tenant for each in found] == ["acme", "acme", "other"]
        assert found[0] and found[0].id == first
        assert revoke_key(sql, first)
        assert await access_of_key(store, opens_acme) is None
        assert (still := await access_of_key(store, opens_too)) and still.tenant == "acme"
        for no_key in ("", "hx_", "hx_" + "a" * 43, opens_too + "a", opens_too.upper(), "\ud800"):
            assert await access_of_key(store, no_key) is None
    assert not revoke_key(sql, first) and not revoke_key(sql, 2**62)
    assert [key.id for key in list_keys(sql, "acme")] == [first, second]
    assert [key.tenant for key in list_keys(sql)] == ["acme", "acme", "other"]
    assert [key.revoked_at is None for key in list_keys(sql)] == [False, True, True]


def test_a_wrong_key_a_revoked_one_and_an_expired_one_are_told_the_same(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    key_id, revoked = create_key(sql, "acme")
    _, good = create_key(sql, "acme")
    ended, expired = create_key(sql, "acme")
    sql.execute("UPDATE api_keys SET expires_at = now() WHERE id = %s", (ended,))
    assert client.get("/v1/runs", headers=_as(revoked)).status_code == 200
    revoke_key(sql, key_id)
    refused: list[list[tuple[str, str]]] = [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer hx_short")],
        [("Authorization", f"Basic {good}")],
        [("Authorization", good)],
        [("Authorization", f"Bearer {good}x")],
        [("Authorization", f"Bearer {revoked}")],
        [("Authorization", f"Bearer {expired}")],
        [("Authorization", "Bearer hx_" + "a" * 43)],
        [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")],
    ]
    answers = [client.get("/v1/runs", headers=headers) for headers in refused]
    assert {(a.status_code, a.headers["www-authenticate"]) for a in answers} == {(401, "Bearer")}
    tried = [len(headers) == 1 and "Bearer hx_" in headers[0][1] for headers in refused]
    told = {(key, answer.json()["error"]) for key, answer in zip(tried, answers, strict=True)}
    assert {(key, line.partition(":")[0]) for key, line in told} == {
        (False, "an API key is needed"),
        (True, "this API key is not known, or no longer"),
    }
    assert len(told) == 2 and "\n" not in str(told) and revoked[3:] not in str(told)
    for headers in (_as(good), {"Authorization": f"bearer  {good}"}):
        assert client.get("/v1/runs", headers=headers).status_code == 200


def test_a_key_answers_for_its_own_tenant_alone(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    _, secret = create_key(sql, "acme")
    create_key(sql, "there")
    asked = ["acme", "there", "nowhere", "", "a b", "ACME"]
    answers = [
        client.get("/v1/runs", params={"tenant_id": tenant}, headers=_as(secret))
        for tenant in asked
    ]
    assert [answer.status_code for answer in answers] == [200] + [403] * 5
    assert len({answer.text for answer in answers[1:]}) == 1
    # who has no key learns nothing by naming a tenant
    assert client.get("/v1/runs", params={"tenant_id": "there"}).status_code == 401
    page = {"url": "https://example.com", "tenant_id": "there"}
    both = [
        client.post("/v1/documents/url", json=page, headers=_as(secret)),
        client.post(
            "/v1/documents", files={"file": b"words"}, data={"tenant_id": "there"},
            headers=_as(secret),
        ),
        client.patch(
            "/v1/documents/1", json={"tags": [], "tenant_id": "there"}, headers=_as(secret)
        ),
    ]  # fmt: skip
    assert [(answer.status_code, answer.text) for answer in both] == [(403, answers[1].text)] * 3
    assert sql.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_what_needs_no_key(client: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/", "/web/app.js"):
        assert client.get(path).status_code == 200


def _status(client: httpx.Client, path: str, secret: str | None = None) -> int:
    headers = _as(secret) if secret else {}
    return client.get(path, headers=headers, follow_redirects=True).status_code


CLOSED = ("/metrics", "/docs", "/redoc", "/openapi.json", "/v1/privacy", "/v1/evals/last")


def test_what_is_closed_to_strangers(client: httpx.Client, sql: psycopg.Connection) -> None:
    _, secret = create_key(sql, "acme", scopes=KEY_SCOPES)
    assert [_status(client, path) for path in CLOSED] == [401] * 6
    assert [_status(client, path, "hx_" + "a" * 43) for path in CLOSED] == [401] * 6
    assert [_status(client, path, secret) for path in CLOSED] == [200] * 6
    shell = client.get("/docs", headers={"If-None-Match": "*"})
    assert (shell.status_code, shell.headers["cache-control"]) == (401, "no-store")
    assert "API" in shell.text  # a browser with a key draws the description in it


def test_what_a_setting_opens_to_strangers(
    module_database_url: str, sql: psycopg.Connection
) -> None:
    _, asks = create_key(sql, "acme", scopes=["ask"])
    public = "metrics, docs,privacy,EVALS"
    with live(module_database_url, auth="keys", public=public) as opened:
        assert [_status(opened, path) for path in CLOSED] == [200] * 6
        assert opened.get("/v1/privacy").json()["stored"]["documents"] == 0
        assert _status(opened, "/v1/about") == 401
        # a key that is shown is looked at all the same
        assert [_status(opened, path, asks) for path in CLOSED] == [403, 200, 200, 200, 403, 403]


def test_a_key_does_what_its_scopes_say(client: httpx.Client, sql: psycopg.Connection) -> None:
    paths = {"ask": "/v1/suggestions", "read": "/v1/documents", "admin": "/metrics"}
    for scope, own in paths.items():
        key_id, secret = create_key(sql, "acme", scopes=[scope])
        assert _status(client, own, secret) == 200 and _status(client, "/v1/about", secret) == 200
        for other in paths.values():
            assert _status(client, other, secret) == (200 if other == own else 403)
        refused = client.delete("/v1/documents/1", headers=_as(secret))
        assert refused.status_code == 403 and "the scope write" in refused.json()["error"]
        assert set_scopes(sql, key_id, ["write"])
        assert client.delete("/v1/documents/1", headers=_as(secret)).status_code == 404
        assert _status(client, own, secret) == 403


def test_a_key_ends_when_it_expires(client: httpx.Client, sql: psycopg.Connection) -> None:
    key_id, secret = create_key(sql, "acme", life=timedelta(days=90))
    assert _status(client, "/v1/runs", secret) == 200
    (key,) = list_keys(sql)
    assert key.expires_at and key.expires_at - key.created_at == timedelta(days=90)
    sql.execute("UPDATE api_keys SET expires_at = now()")
    refused = client.get("/v1/runs", headers=_as(secret))
    assert refused.status_code == 401
    assert refused.text == client.get("/v1/runs", headers=_as("hx_" + "a" * 43)).text
    assert set_end(sql, key_id, None)
    assert _status(client, "/v1/runs", secret) == 200


@pytest.mark.parametrize("life", [timedelta(), timedelta(days=-1), timedelta(days=3651)])
def test_a_length_of_life_that_cannot_be(sql: psycopg.Connection, life: timedelta) -> None:
    key_id, _ = create_key(sql, "acme")
    with pytest.raises(BadRequest, match="3650 days at most"):
        create_key(sql, "acme", life=life)
    with pytest.raises(BadRequest, match="3650 days at most"):
        set_end(sql, key_id, life)


@pytest.mark.parametrize("scopes", [[], ["ask", "all"], ["Ask"]])
def test_scopes_that_there_are_not(sql: psycopg.Connection, scopes: list[str]) -> None:
    with pytest.raises(BadRequest, match="some of ask, read, write, admin"):
        create_key(sql, "acme", scopes=scopes)


def test_to_an_earlier_server_a_key_opens_all_or_nothing(sql: psycopg.Connection) -> None:
    """During an upgrade such a server may still run, and it knows no scopes."""
    for scopes, tenant in ((KEY_SCOPES, "acme"), (KEY_SCOPES[:3], None)):
        _, secret = create_key(sql, "acme", scopes=scopes)
        digest = sha256(secret.encode()).hexdigest()
        assert sql.execute("SELECT tenant_of_key(%s)", (digest,)).fetchone() == (tenant,)


def test_no_key_gets_into_the_log(
    client: httpx.Client, sql: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "helix")
    _, secret = create_key(sql, "acme")
    client.get("/v1/runs", headers=_as(secret))
    client.get("/v1/runs", headers=_as(secret[:-1]))
    client.get("/v1/runs", params={"key": secret}, headers={"Authorization": secret})
    server = [r for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert any("/v1/runs 200" in record.getMessage() for record in server)
    assert all(secret[7:-1] not in record.getMessage() for record in server)


@pytest.fixture
def command(
    module_database_url: str, sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> CliRunner:  # fmt: skip
    monkeypatch.chdir(tmp_path)  # away from any .env
    values = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
        "COLUMNS": "160",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return CliRunner()


def _keys(command: CliRunner, *arguments: str) -> Result:
    return command.invoke(cli, ["keys", *arguments])


async def _opens(url: str, secret: str) -> str | None:
    async with opened(url, pool_size=1) as store:
        found = await access_of_key(store, secret)
    return found.tenant if found else None


def test_making_listing_and_revoking(command: CliRunner, module_database_url: str) -> None:
    made = _keys(command, "create", "--tenant", "acme", "--name", "the [red] one")
    assert made.exit_code == 0, made.output
    assert SECRET.fullmatch(made.stdout.strip())
    (key_id,) = re.findall(r"^key (\d+) of acme", made.stderr)
    secret = made.stdout.strip()
    assert asyncio.run(_opens(module_database_url, secret)) == "acme"

    _keys(command, "create", "--tenant", "other")
    assert "of default, shown this once" in _keys(command, "create", "--name", "kiosk").stderr
    listed = _keys(command, "list", "--tenant", "acme").stdout
    assert "the [red] one" in listed and secret[:7] in listed and "other" not in listed
    assert secret[:8] not in listed
    assert "other" in _keys(command, "list").stdout

    assert _keys(command, "revoke", key_id).stdout == f"key {key_id} is revoked\n"
    assert asyncio.run(_opens(module_database_url, secret)) is None
    again = _keys(command, "revoke", key_id)
    assert again.exit_code == 1 and again.stderr.count("\n") == 1


def test_scopes_and_end_are_shown_and_set(command: CliRunner, sql: psycopg.Connection) -> None:
    _keys(command, "create", "--tenant", "acme", "--scopes", "ask, READ", "--expires", "90d")
    (key,) = list_keys(sql)
    listed = _keys(command, "list").stdout
    assert key.expires_at and "ask,read" in listed and f"{key.expires_at:%Y-%m-%d}" in listed
    changed = _keys(command, "set", str(key.id), "--scopes", "write", "--expires", "never")
    assert changed.stdout == f"key {key.id} is changed\n"
    (key,) = list_keys(sql)
    assert (key.scopes, key.expires_at) == (["write"], None)
    for wrong in (["--scopes", "all"], ["--expires", "soon"], ["--expires", "0d"], []):
        refused = _keys(command, "set", str(key.id), *wrong)
        assert refused.exit_code == 2, refused.output
    assert _keys(command, "set", str(key.id + 9), "--expires", "1h").exit_code == 1


@pytest.mark.parametrize(
    "arguments", [("create", "--tenant", "a b"), ("list", "--tenant", "")], ids=["create", "list"]
)
def test_a_command_that_is_given_no_tenant(command: CliRunner, arguments: tuple[str, ...]) -> None:
    refused = _keys(command, *arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("helix: a tenant is named") and refused.stderr.count("\n") == 1
