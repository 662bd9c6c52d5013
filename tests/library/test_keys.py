"""API keys: what is stored of one, whom it lets in, and the command that makes and revokes them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import psycopg
import pytest
from typer.testing import CliRunner, Result

from helix.cli import cli
from helix.errors import BadRequest
from helix.library.keys import create_key, list_keys, revoke_key, tenant_of
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
        found = [await tenant_of(store, key) for key in (opens_acme, opens_too, opens_other)]
        assert found == ["acme", "acme", "other"]
        assert revoke_key(sql, first)
        assert await tenant_of(store, opens_acme) is None
        assert await tenant_of(store, opens_too) == "acme"
        for no_key in ("", "hx_", "hx_" + "a" * 43, opens_too + "a", opens_too.upper(), "\ud800"):
            assert await tenant_of(store, no_key) is None
    assert not revoke_key(sql, first) and not revoke_key(sql, 2**62)
    assert [key.id for key in list_keys(sql, "acme")] == [first, second]
    assert [key.tenant for key in list_keys(sql)] == ["acme", "acme", "other"]
    assert [key.revoked_at is None for key in list_keys(sql)] == [False, True, True]


def test_no_key_a_wrong_one_and_a_revoked_one_are_told_the_same(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    key_id, revoked = create_key(sql, "acme")
    _, good = create_key(sql, "acme")
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
        [("Authorization", "Bearer hx_" + "a" * 43)],
        [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")],
    ]
    answers = [client.get("/v1/runs", headers=headers) for headers in refused]
    assert {(a.status_code, a.headers["www-authenticate"]) for a in answers} == {(401, "Bearer")}
    (told,) = {answer.text for answer in answers}
    assert "\n" not in answers[0].json()["error"] and revoked[3:] not in told
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
    for path in ("/healthz", "/openapi.json", "/docs", "/redoc"):
        assert client.get(path, follow_redirects=True).status_code == 200


def test_no_key_gets_into_the_log(
    client: httpx.Client, sql: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
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
        "COLUMNS": "120",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return CliRunner()


def _keys(command: CliRunner, *arguments: str) -> Result:
    return command.invoke(cli, ["keys", *arguments])


async def _opens(url: str, secret: str) -> str | None:
    async with opened(url, pool_size=1) as store:
        return await tenant_of(store, secret)


def test_making_listing_and_revoking(command: CliRunner, module_database_url: str) -> None:
    made = _keys(command, "create", "--tenant", "acme", "--name", "the [red] one")
    assert made.exit_code == 0, made.output
    assert SECRET.fullmatch(made.stdout.strip())
    (key_id,) = re.findall(r"^key (\d+) of acme", made.stderr)
    secret = made.stdout.strip()
    assert asyncio.run(_opens(module_database_url, secret)) == "acme"

    _keys(command, "create", "--tenant", "other")
    listed = _keys(command, "list", "--tenant", "acme").stdout
    assert "the [red] one" in listed and secret[:7] in listed and "other" not in listed
    assert secret[:8] not in listed
    assert "other" in _keys(command, "list").stdout

    assert _keys(command, "revoke", key_id).stdout == f"key {key_id} is revoked\n"
    assert asyncio.run(_opens(module_database_url, secret)) is None
    again = _keys(command, "revoke", key_id)
    assert again.exit_code == 1 and again.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [("create", "--tenant", "a b"), ("list", "--tenant", "")], ids=["create", "list"]
)
def test_a_command_that_is_given_no_tenant(command: CliRunner, arguments: tuple[str, ...]) -> None:
    refused = _keys(command, *arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("helix: a tenant is named") and refused.stderr.count("\n") == 1
