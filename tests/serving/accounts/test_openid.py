"""Answers of a provider that are not good: each is refused, whoever made it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from helix.serving.routes.accounts.openid import path_of_ours
from tests.serving.accounts.conftest import Accounts, fill
from tests.support.live_server import live

KEYS = {name: RSAKey.generate_key(2048, {"kid": name, "alg": "RS256"}) for name in ("one", "two")}


class Provider:
    """A provider that says what a test has it say, signed with the key ``signs``."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.signs, self.shows = "one", ["one"]
        self.issuer_told: str | None = None
        self.asked: list[dict[str, list[str]]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(provider.documents()[self.path])

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                provider.asked.append(parse_qs(body.decode()))
                self._send({"access_token": "a", "token_type": "Bearer",
                            "id_token": provider.id_token()})  # fmt: skip

            def _send(self, value: object) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def documents(self) -> dict[str, Any]:
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer_told or self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "id_token_signing_alg_values_supported": ["none", "HS256", "RS256"],
            },
            "/jwks": {"keys": [KEYS[name].as_dict(private=False) for name in self.shows]},
        }

    def id_token(self) -> str:
        if self.signs == "nobody":
            return jwt.encode({"alg": "none"}, self.claims, KEYS["one"], algorithms=["none"])
        header = {"alg": "RS256", "kid": self.signs}
        return jwt.encode(header, self.claims, KEYS[self.signs])


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def accounts(database_url: str, provider: Provider) -> Iterator[Accounts]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    given = {"name": "corp", "issuer": provider.url, "client_id": "helix",
             "client_secret": "s", "groups": "groups", "tenant": "acme"}  # fmt: skip
    with live(database_url, auth="accounts", oidc=[given]) as client:
        yield Accounts(str(client.base_url).rstrip("/"), database_url)


def sign_in(
    accounts: Accounts, provider: Provider, change: dict[str, Any], **more: str
) -> tuple[httpx.Client, httpx.Response]:
    """A browser after the provider sent it back with claims that are right but for ``change``."""
    browser = accounts.browser()
    asked = browser.get("/v1/sign-in/corp", params={"next": "/#/library"})
    sent = {
        name: values[0]
        for name, values in parse_qs(urlsplit(asked.headers["Location"]).query).items()
    }
    assert sent["code_challenge_method"] == "S256" and sent["response_type"] == "code"
    now = int(time.time())
    claims = {
        "iss": provider.url, "aud": "helix", "sub": "a-1", "nonce": sent["nonce"], "iat": now,
        "exp": now + 300, "email": "ada@example.com", "email_verified": True, "groups": ["staff"],
    }  # fmt: skip
    provider.claims = {k: v for k, v in {**claims, **change}.items() if v is not None}
    answer = {"code": "c", "state": sent["state"], **more}
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    del browser.headers["Origin"]
    back = browser.get("/v1/sign-in/corp/callback", params=answer, headers=headers)
    browser.headers["Origin"] = accounts.address
    return browser, back


def test_a_good_answer_signs_in_and_the_groups_are_the_claims(
    accounts: Accounts, provider: Provider
) -> None:
    browser, back = sign_in(accounts, provider, {}, iss=provider.url)
    assert (back.status_code, back.headers["Location"]) == (303, "/#/library")
    assert len(provider.asked[0]["code_verifier"][0]) >= 43
    assert browser.get("/v1/session").json()["person"]["email"] == "ada@example.com"
    groups = "SELECT g.name FROM group_members JOIN groups g ON g.id = group_id ORDER BY 1"
    assert accounts.sql(groups) == [("staff",)]
    sign_in(accounts, provider, {"groups": ["research", "\x00", ""], "email": None})
    assert accounts.sql(groups) == [("research",)]
    rows = "SELECT subject, person_id FROM identities"
    assert accounts.sql(rows) == [("a-1", 1)]


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"}, {"iss": None}, {"aud": "another"}, {"aud": None},
        {"aud": ["another"], "azp": "helix"}, {"aud": ["helix", "another"], "azp": "another"},
        {"nonce": "of another sign-in"}, {"nonce": None}, {"exp": int(time.time()) - 3600},
        {"exp": None}, {"sub": None}, {"iat": int(time.time()) + 7200},
    ],
    ids=lambda change: " ".join(f"{key}={type(value).__name__}" for key, value in change.items()),
)  # fmt: skip
def test_a_token_with_a_wrong_claim_opens_nothing(
    accounts: Accounts, provider: Provider, change: dict[str, Any]
) -> None:
    browser, back = sign_in(accounts, provider, change)
    assert back.headers["Location"] == "/web/sign-in.html?problem=provider"
    assert browser.get("/v1/session").status_code == 401
    assert accounts.sql("SELECT FROM sessions") == []


@pytest.mark.parametrize("signs", ["two", "nobody"])
def test_a_token_of_another_key_or_of_none_opens_nothing(
    accounts: Accounts, provider: Provider, signs: str
) -> None:
    provider.signs = signs
    browser, _ = sign_in(accounts, provider, {})
    assert browser.get("/v1/session").status_code == 401


def test_a_key_that_was_changed_is_fetched(accounts: Accounts, provider: Provider) -> None:
    sign_in(accounts, provider, {})
    provider.signs, provider.shows = "two", ["two"]
    browser, _ = sign_in(accounts, provider, {})
    assert browser.get("/v1/session").status_code == 200
    provider.signs = "one"  # the old one counts no more
    browser, _ = sign_in(accounts, provider, {})
    assert browser.get("/v1/session").status_code == 401


@pytest.mark.parametrize("more", [{"state": "x"}, {"state": ""}, {"code": ""},
                                  {"iss": "https://evil.example"}], ids=str)  # fmt: skip
def test_an_answer_that_this_browser_did_not_ask_for_opens_nothing(
    accounts: Accounts, provider: Provider, more: dict[str, str]
) -> None:
    browser, back = sign_in(accounts, provider, {}, **more)
    assert "problem" in back.headers["Location"]
    assert browser.get("/v1/session").status_code == 401
    assert provider.asked == []  # nor was the provider asked about the code


def test_a_victims_browser_takes_no_answer_of_anothers_sign_in(
    accounts: Accounts, provider: Provider
) -> None:
    attacker = accounts.browser()
    asked = attacker.get("/v1/sign-in/corp")
    state = parse_qs(urlsplit(asked.headers["Location"]).query)["state"][0]
    victim = accounts.browser()
    victim.get("/v1/sign-in/corp/callback", params={"code": "attackers", "state": state})
    assert victim.get("/v1/session").status_code == 401 and provider.asked == []


def test_a_provider_that_is_another_issuer_signs_nobody_in(
    accounts: Accounts, provider: Provider
) -> None:
    provider.issuer_told = "https://evil.example"
    told = accounts.browser().get("/v1/sign-in/corp")
    assert told.headers["Location"] == "/web/sign-in.html?problem=provider"
    assert accounts.browser().get("/v1/sign-in/nowhere").status_code == 404


def test_who_has_no_account_or_a_disabled_one_does_not_come_in(
    accounts: Accounts, provider: Provider
) -> None:
    for change in ({"email": "stranger@example.com", "sub": "s"},
                   {"email_verified": False, "sub": "liar"}):  # fmt: skip
        browser, _ = sign_in(accounts, provider, change)
        assert browser.get("/v1/session").status_code == 401
    assert accounts.sql("SELECT FROM identities") == []
    sign_in(accounts, provider, {})
    accounts.sql("UPDATE people SET disabled_at = now() WHERE id = 1")
    browser, _ = sign_in(accounts, provider, {})
    assert browser.get("/v1/session").status_code == 401


def test_with_a_role_of_the_provider_strangers_become_members(
    database_url: str, provider: Provider
) -> None:
    given = {"name": "corp", "issuer": provider.url, "client_id": "helix", "role": "reader",
             "tenant": "acme"}  # fmt: skip
    with live(database_url, auth="accounts", oidc=[given]) as client:
        accounts = Accounts(str(client.base_url).rstrip("/"), database_url)
        browser, _ = sign_in(
            accounts, provider, {"email": "new@example.com", "sub": "n", "role": "owner"}
        )
        who = browser.get("/v1/session").json()
        assert (who["tenant"], who["role"]) == ("acme", "reader")
        browser, _ = sign_in(accounts, provider, {"email_verified": False, "sub": "x"})
        assert browser.get("/v1/session").status_code == 401


def test_mcp_names_its_providers_and_takes_their_tokens_for_itself_alone(
    accounts: Accounts, provider: Provider
) -> None:
    client, resource = accounts.browser(), f"{accounts.address}/mcp"
    named = client.get("/.well-known/oauth-protected-resource/mcp").json()
    assert (named["resource"], named["authorization_servers"]) == (resource, [provider.url])
    sign_in(accounts, provider, {"sub": "a-1"})
    sign_in(accounts, provider, {"sub": "c-1", "email": "cat@example.com"})
    now = int(time.time())
    good = {"iss": provider.url, "aud": resource, "sub": "c-1", "iat": now, "exp": now + 300}

    def called(change: dict[str, Any], key: str = "one") -> int:
        provider.claims = {k: v for k, v in {**good, **change}.items() if v is not None}
        provider.signs = key
        headers = {"Authorization": f"Bearer {provider.id_token()}",
                   "Accept": "application/json, text/event-stream"}  # fmt: skip
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        return client.post("/mcp", json=body, headers=headers).status_code

    assert called({}) == 200
    wrong: list[dict[str, Any]] = [
        {"aud": "helix"}, {"aud": None}, {"iss": "https://evil.example"}, {"exp": now - 3600},
        {"exp": None}, {"sub": "stranger"}, {"sub": None},
    ]  # fmt: skip
    assert [called(change) for change in wrong] == [401] * len(wrong)
    assert called({}, "two") == 401
    accounts.sql("UPDATE people SET disabled_at = now() WHERE email = 'cat@example.com'")
    assert called({}) == 401
    assert called({"sub": "a-1"}) == 200


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("/#/library", "/#/library"), ("/?q=1#/ask", "/?q=1#/ask"), ("//evil.example", "/"),
        ("https://evil.example", "/"), ("/\\evil.example", "/"), ("/a\nb", "/"), ("", "/"),
        ("javascript:alert(1)", "/"), ("/\t/evil.example", "/"), ("/%2F%2Fevil", "/%2F%2Fevil"),
    ],
)  # fmt: skip
def test_the_way_back_is_a_path_of_this_server(wanted: str, found: str) -> None:
    assert path_of_ours(wanted) == found
