"""Signing in and out with a password, and the classic faults of it."""

from __future__ import annotations

import logging

import psycopg
import pytest
from argon2 import PasswordHasher, extract_parameters
from fastapi import HTTPException

from helix.library.keys import create_key
from helix.serving.sign_in_guard import (
    MOST_OF_ACCOUNT,
    MOST_OF_ACCOUNT_AND_ADDRESS,
    MOST_OF_ADDRESS,
    SignInGuard,
)
from tests.serving.accounts.conftest import PASSWORD, Accounts, email_of
from tests.support.live_server import live
from tests.support.service_process import eventually


def test_a_person_signs_in_is_known_and_signs_out(accounts: Accounts) -> None:
    browser = accounts.browser()
    asked = browser.get("/v1/about")
    assert asked.status_code == 401
    assert 'page="/web/sign-in.html"' in asked.headers["WWW-Authenticate"]
    assert browser.get("/v1/sign-in").json()["password"] is True
    told = browser.post("/v1/session", json={"email": " ADA@example.com", "password": PASSWORD})
    assert told.status_code == 200, told.text
    cookie = told.headers["Set-Cookie"]
    assert cookie.startswith("helix_session=") and "HttpOnly" in cookie
    assert "SameSite=lax" in cookie and "Path=/" in cookie and "Domain" not in cookie
    who = browser.get("/v1/session").json()
    assert (who["tenant"], who["role"]) == ("acme", "owner")
    assert who["person"] == {"id": 1, "email": "ada@example.com", "name": "Ada"}
    assert who["scopes"] == ["ask", "read", "write", "admin"]
    assert browser.get("/v1/about").json()["tenant"] == "acme"
    kept = browser.cookies["helix_session"]
    assert browser.delete("/v1/session").json() == {"next": None}
    assert "helix_session" not in browser.cookies
    browser.cookies["helix_session"] = kept
    assert browser.get("/v1/session").status_code == 401


def test_behind_https_the_cookie_is_secure_and_the_hosts_own(accounts: Accounts) -> None:
    browser = accounts.browser(**{"X-Forwarded-Proto": "https"})
    told = browser.post("/v1/session", json={"email": email_of("ada"), "password": PASSWORD})
    cookie = told.headers["Set-Cookie"]
    assert cookie.startswith("__Host-helix_session=") and "; Secure" in cookie
    secret = cookie.partition("=")[2].partition(";")[0]
    plain = accounts.browser(**{"X-Forwarded-Proto": "https", "Cookie": f"helix_session={secret}"})
    assert plain.get("/v1/session").status_code == 401  # any host of the domain could set that one


def test_each_role_opens_what_its_scopes_do(accounts: Accounts) -> None:
    for name, allowed in {"cat": 2, "bob": 3, "ada": 4}.items():
        browser = accounts.signed_in(name)
        tries = [
            browser.get("/v1/suggestions"), browser.get("/v1/documents"),
            browser.patch("/v1/settings", json={"model": None}), browser.get("/metrics"),
        ]  # fmt: skip
        assert [told.status_code == 200 for told in tries] == [n < allowed for n in range(4)]
        refused = [told for told in tries if told.status_code != 200]
        assert all(told.status_code == 403 and "your role in acme" in told.text for told in refused)


def test_a_role_that_changes_holds_from_the_next_request_on(accounts: Accounts) -> None:
    bob = accounts.signed_in("bob")
    accounts.sql("UPDATE members SET role = 'reader' WHERE person_id = 2")
    assert bob.patch("/v1/settings", json={"model": None}).status_code == 403
    accounts.sql("DELETE FROM members WHERE person_id = 2")
    assert bob.get("/v1/about").status_code == 401


def test_a_disabled_person_is_out_at_once_and_comes_in_no_more(accounts: Accounts) -> None:
    bob = accounts.signed_in("bob")
    accounts.sql("UPDATE people SET disabled_at = now() WHERE id = 2")
    assert bob.get("/v1/about").status_code == 401
    again = {"email": email_of("bob"), "password": PASSWORD}
    assert accounts.browser().post("/v1/session", json=again).status_code == 401


def test_sessions_end_idle_and_at_last(accounts: Accounts) -> None:
    idle, old = accounts.signed_in("ada"), accounts.signed_in("bob")
    accounts.sql("UPDATE sessions SET used_at = now() - interval '169 h' WHERE person_id = 1")
    assert idle.get("/v1/session").status_code == 401
    (((life),),) = accounts.sql(
        "SELECT extract(day FROM expires_at - created_at)::int FROM sessions WHERE person_id = 2"
    )
    assert life == 30
    accounts.sql("UPDATE sessions SET expires_at = now() WHERE person_id = 2")
    assert old.get("/v1/session").status_code == 401


def test_a_use_is_written_down_so_that_a_used_session_goes_on(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    accounts.sql("UPDATE sessions SET used_at = now() - interval '100 h'")
    assert ada.get("/v1/session").status_code == 200
    fresh = "SELECT used_at > now() - interval '1 h' FROM sessions"
    assert eventually(lambda: accounts.sql(fresh) == [(True,)])


def test_a_session_that_was_planted_is_not_the_one_that_is_signed_in(accounts: Accounts) -> None:
    attacker = accounts.signed_in("cat")
    planted = attacker.cookies["helix_session"]
    victim = accounts.browser()
    victim.cookies["helix_session"] = planted
    told = victim.post("/v1/session", json={"email": email_of("ada"), "password": PASSWORD})
    assert told.status_code == 200
    assert planted not in told.headers["Set-Cookie"]
    assert attacker.get("/v1/session").status_code == 401  # it ended when its place was taken


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    ],
    ids=["another site", "another port", "a sandbox"],
)
def test_another_sites_page_changes_nothing_by_the_cookie(
    accounts: Accounts, headers: dict[str, str]
) -> None:
    ada = accounts.signed_in("ada")
    for name, value in headers.items():
        ada.headers[name] = value
    assert ada.patch("/v1/settings", json={"model": None}).status_code in (401, 403)
    assert ada.delete("/v1/session").status_code in (401, 403)
    assert ada.get("/ask", params={"q": "Why?"}).status_code in (401, 403)
    del ada.headers["Origin"], ada.headers["Sec-Fetch-Site"]
    assert ada.get("/v1/session").status_code == 200


def test_without_an_origin_a_change_shows_the_token(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    del ada.headers["Origin"], ada.headers["Sec-Fetch-Site"]
    csrf = ada.get("/v1/session").json()["csrf"]
    body = {"model": None}
    assert ada.patch("/v1/settings", json=body).status_code == 403
    wrong = {"X-CSRF-Token": csrf[:-1]}
    assert ada.patch("/v1/settings", json=body, headers=wrong).status_code == 403
    right = {"X-CSRF-Token": csrf}
    assert ada.patch("/v1/settings", json=body, headers=right).status_code == 200


def test_pages_that_cors_allows_have_no_session(database_url: str, accounts: Accounts) -> None:
    with live(database_url, auth="accounts", cors_origins="https://app.example") as client:
        secret = accounts.signed_in("ada").cookies["helix_session"]
        headers = {"Origin": "https://app.example", "Cookie": f"helix_session={secret}"}
        told = client.get("/v1/session", headers=headers)
        assert told.status_code == 401
        assert "access-control-allow-credentials" not in told.headers


def test_wrong_passwords_and_unknown_addresses_read_alike(accounts: Accounts) -> None:
    texts = set()
    for email in (email_of("ada"), email_of("nobody"), "no address"):
        told = accounts.browser().post("/v1/session", json={"email": email, "password": "x" * 12})
        assert told.status_code == 401
        texts.add(told.text)
    assert len(texts) == 1


def test_an_unknown_address_takes_as_long(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hash of the same cost each, which is nearly all of the time."""
    compared: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, stored: str, password: str) -> bool:
        compared.append(stored)
        return verify(self, stored, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    for name in ("ada", "nobody"):
        wrong = {"email": email_of(name), "password": "wrong horse"}
        assert accounts.browser().post("/v1/session", json=wrong).status_code == 401
    known, unknown = map(extract_parameters, compared)
    assert known == unknown


def test_guessing_is_stopped_whether_there_is_such_an_account_or_not(accounts: Accounts) -> None:
    for name in ("ada", "nobody"):
        wrong = {"email": email_of(name), "password": "wrong horse"}
        browser = accounts.browser()
        tries = [
            browser.post("/v1/session", json=wrong) for _ in range(MOST_OF_ACCOUNT_AND_ADDRESS + 1)
        ]
        assert {told.status_code for told in tries[:-1]} == {401}
        assert tries[-1].status_code == 429 and int(tries[-1].headers["Retry-After"]) > 1
        right = {"email": email_of(name).upper(), "password": PASSWORD}
        assert browser.post("/v1/session", json=right).status_code == 429


def test_guessing_from_many_addresses_is_stopped_later() -> None:
    guard = SignInGuard()
    for n in range(MOST_OF_ACCOUNT):
        guard.check(f"192.0.2.{n}", "ada")
    with pytest.raises(HTTPException, match="too many tries"):
        guard.check("192.0.2.200", "ada")
    guard.check("192.0.2.200", "bob")


def test_tries_of_links_keep_nobody_else_from_theirs() -> None:
    guard = SignInGuard()
    for n in range(MOST_OF_ACCOUNT + 1):
        guard.check(f"192.0.2.{n}")
    for _ in range(MOST_OF_ADDRESS):
        guard.check("192.0.2.200")
    with pytest.raises(HTTPException, match="too many tries"):
        guard.check("192.0.2.200")


def test_who_is_a_member_of_nothing_comes_in_nowhere(accounts: Accounts) -> None:
    eve = {"email": email_of("eve"), "password": PASSWORD}
    told = accounts.browser().post("/v1/session", json=eve)
    assert (told.status_code, "Set-Cookie" in told.headers) == (403, False)
    other = {"email": email_of("bob"), "password": PASSWORD, "tenant": "beta"}
    assert accounts.browser().post("/v1/session", json=other).status_code == 403


def test_a_person_of_two_tenants_changes_between_them(accounts: Accounts) -> None:
    dan = accounts.signed_in("dan")
    who = dan.get("/v1/session").json()
    assert (who["tenant"], who["role"]) == ("acme", "reader")
    moved = dan.patch("/v1/session", json={"tenant": "beta"})
    assert (moved.json()["tenant"], moved.json()["role"]) == ("beta", "owner")
    assert dan.get("/v1/about").json()["tenant"] == "beta"
    assert dan.get("/v1/about", params={"tenant_id": "acme"}).status_code == 403
    bob = accounts.signed_in("bob")
    assert bob.patch("/v1/session", json={"tenant": "beta"}).status_code == 403
    assert bob.get("/v1/about").json()["tenant"] == "acme"


def test_keys_work_beside_accounts_and_sessions_are_none_without_them(
    accounts: Accounts, database_url: str
) -> None:
    with psycopg.connect(database_url) as connection:
        _, key = create_key(connection, "beta")
    as_key = {"Authorization": f"Bearer {key}"}
    ada = accounts.signed_in("ada")
    assert ada.get("/v1/about", headers=as_key).json()["tenant"] == "beta"  # what is shown counts
    assert ada.get("/v1/about", headers={"Authorization": "Bearer hx_no"}).status_code == 401
    with accounts.browser() as other:
        assert other.patch("/v1/settings", json={"model": None}, headers=as_key).status_code == 200
        assert other.get("/v1/members", headers=as_key).status_code == 403
    with live(database_url, auth="keys") as client:
        client.cookies["helix_session"] = ada.cookies["helix_session"]
        assert client.get("/v1/about").status_code == 401
        assert client.get("/v1/session").status_code == 404


def test_the_audit_log_tells_who_came_and_who_was_refused_and_no_secret(
    accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "helix"):
        ada = accounts.signed_in("ada")
        wrong = {"email": email_of("ada"), "password": "wrong horse"}
        accounts.browser().post("/v1/session", json=wrong)
        ada.patch("/v1/members/3", json={"role": "editor"})
        secret = ada.cookies["helix_session"]
        csrf = ada.get("/v1/session").json()["csrf"]
        ada.delete("/v1/session")
    written = "SELECT count(*) >= 4 FROM audit_events"
    assert eventually(lambda: accounts.sql(written) == [(True,)])
    events = accounts.sql("SELECT action, status, person_id, tenant_id, object FROM audit_events")
    assert ("POST /v1/session", 200, 1, "acme", "person 1; session 1; by password") in events
    assert ("POST /v1/session", 401, None, "-", "sign-in") in events
    assert ("PATCH /v1/members/{person_id}", 200, 1, "acme", "person 3; role editor") in events
    assert ("DELETE /v1/session", 200, 1, "acme", "session 1") in events
    own = "\n".join(each.getMessage() for each in caplog.records if each.name[:5] != "httpc")
    logged = own + str(events) + str(accounts.sql("SELECT to_jsonb(s) FROM sessions s"))
    for hidden in (secret, PASSWORD, "wrong horse"):
        assert hidden not in logged
    assert csrf not in own + str(events) and "POST /v1/session 200" in own
