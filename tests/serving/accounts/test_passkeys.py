"""Passkeys: added, listed, used and removed by their person; and where there are none."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import HTTPException

from helix.conversations.receipts.erasure import erase_tenant
from helix.library.people import passkey_ceremonies
from helix.library.people.browser_sessions import delete_old_sessions
from helix.library.people.invitations import reset_link
from helix.library.people.passkey_ceremonies import MOST, NoPasskeys, RelyingParty, relying_party
from helix.serving.sign_in_guard import (
    MOST_CHALLENGES_OF_ADDRESS,
    MOST_OF_ACCOUNT_AND_ADDRESS,
    SignInGuard,
)
from tests.serving.accounts.conftest import PASSWORD, Accounts, email_of, fill, options_of
from tests.support.authenticator import Authenticator, decoded
from tests.support.live_server import live
from tests.support.service_process import eventually


def test_a_passkey_is_added_used_renamed_and_removed(named: Accounts) -> None:
    bob = named.signed_in("bob")
    assert bob.get("/v1/account/passkeys").json() == {"available": True, "passkeys": []}
    held = named.authenticator(bob, " laptop ")
    (listed,) = bob.get("/v1/account/passkeys").json()["passkeys"]
    assert (listed["name"], listed["used_at"]) == ("laptop", None)
    browser = named.browser()
    assert browser.get("/v1/sign-in").json()["passkeys"] is True
    told = named.shows(browser, held)
    assert told.status_code == 200, told.text
    assert told.json()["person"]["email"] == email_of("bob")
    assert browser.get("/v1/session").json()["role"] == "editor"
    place = f"/v1/account/passkeys/{listed['id']}"
    assert bob.patch(place, json={"name": "old laptop"}).status_code == 200
    assert bob.patch(place, json={"name": " "}).status_code == 400
    (listed,) = bob.get("/v1/account/passkeys").json()["passkeys"]
    assert listed["name"] == "old laptop" and listed["used_at"] > listed["created_at"]
    assert bob.delete(place).status_code == 200
    assert named.shows(named.browser(), held).status_code == 401
    assert browser.get("/v1/session").status_code == 200  # a session goes on


def test_a_browser_is_asked_for_a_key_that_knows_its_person(named: Accounts) -> None:
    bob = named.signed_in("bob")
    first = options_of(bob, "account/passkeys", PASSWORD)
    wanted = first["authenticatorSelection"]
    assert (wanted["residentKey"], wanted["userVerification"]) == ("required", "required")
    assert (first["rp"]["id"], first["attestation"]) == ("localhost", "none")
    assert len(decoded(first["user"]["id"])) == 32
    held = named.authenticator(bob)
    again = options_of(bob, "account/passkeys", PASSWORD)
    assert [decoded(each["id"]) for each in again["excludeCredentials"]] == [held.credential_id]
    assert decoded(again["user"]["id"]) == held.user_handle  # one account at the authenticator
    asked = options_of(named.browser(), "session/passkey")
    assert asked["userVerification"] == "required"
    assert asked.get("allowCredentials", []) == []  # it names nobody's


def test_the_session_is_new_and_that_of_the_browser_ends(named: Accounts) -> None:
    held = named.authenticator(named.signed_in("ada"))
    attacker = named.signed_in("cat")
    victim = named.browser()
    victim.cookies["helix_session"] = attacker.cookies["helix_session"]
    told = named.shows(victim, held)
    assert attacker.cookies["helix_session"] not in told.headers["Set-Cookie"]
    assert attacker.get("/v1/session").status_code == 401
    assert named.sql("SELECT method FROM sessions ORDER BY id DESC LIMIT 1") == [("passkey",)]


def test_behind_https_the_cookie_of_a_challenge_is_secure_and_the_hosts_own(
    accounts: Accounts,
) -> None:
    at = {"X-Forwarded-Proto": "https", "Host": "helix.example.com"}
    browser = accounts.browser(**at, Origin="https://helix.example.com")
    told = browser.post("/v1/session/passkey/challenge")
    assert told.json()["options"]["rpId"] == "helix.example.com"
    cookie = told.headers["Set-Cookie"]
    assert cookie.startswith("__Host-helix_passkey=") and "; Secure" in cookie
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Max-Age=600" in cookie


def test_a_challenge_of_one_server_is_met_at_another_and_two_tabs_have_one_each(
    named: Accounts,
) -> None:
    held = named.authenticator(named.signed_in("bob"))
    browser = named.browser()
    first, second = (options_of(browser, "session/passkey") for _ in range(2))
    with live(named.url, auth="accounts", url=named.pages) as client:
        client.cookies.update(browser.cookies)
        for options in (second, first):
            shown = {"credential": held.get(options)}
            assert client.post("/v1/session/passkey", json=shown).status_code == 200


def test_an_authenticator_that_does_not_count_signs_in_again(named: Accounts) -> None:
    held = named.authenticator(named.signed_in("bob"))
    held.step = 0
    assert [named.shows(named.browser(), held).status_code for _ in range(2)] == [200, 200]


def test_a_person_of_two_tenants_begins_with_the_one_they_name(named: Accounts) -> None:
    held, browser = named.authenticator(named.signed_in("dan")), named.browser()
    for tenant, code in (("beta", 200), ("gamma", 403)):
        shown = {"credential": held.get(options_of(browser, "session/passkey")), "tenant": tenant}
        told = browser.post("/v1/session/passkey", json=shown)
        assert (told.status_code, told.json().get("tenant", "gamma")) == (code, tenant)
    named.sql("DELETE FROM members WHERE person_id = 4")
    assert named.shows(browser, held).status_code == 403


def test_adding_needs_the_password_and_guessing_it_is_stopped(named: Accounts) -> None:
    bob = named.signed_in("bob")  # a try too
    place = "/v1/account/passkeys/challenge"
    tries = [
        bob.post(place, json={"password": "wrong horse"}).status_code
        for _ in range(MOST_OF_ACCOUNT_AND_ADDRESS)
    ]
    assert tries == [403] * (MOST_OF_ACCOUNT_AND_ADDRESS - 1) + [429]
    assert bob.post(place, json={"password": PASSWORD}).status_code == 429


def test_whom_a_provider_signs_in_adds_none(named: Accounts) -> None:
    """Nobody whom the provider locks out is to have another way in."""
    bob = named.signed_in("bob")
    named.sql("UPDATE people SET password_hash = NULL WHERE id = 2")
    assert bob.get("/v1/account/passkeys").json()["available"] is False
    told = bob.post("/v1/account/passkeys/challenge", json={"password": PASSWORD})
    assert told.status_code == 403


def test_an_account_has_so_many_at_most(named: Accounts) -> None:
    bob = named.signed_in("bob")
    options = options_of(bob, "account/passkeys", PASSWORD)
    named.sql(
        "INSERT INTO passkeys (person_id, name, credential_id, public_key, user_handle, sign_count)"
        " SELECT 2, 'one', n::text::bytea, '', 'h', 0 FROM generate_series(1, %s) AS n",
        MOST,
    )
    late = {"name": "late", "credential": Authenticator(named.pages).create(options)}
    assert bob.post("/v1/account/passkeys", json=late).status_code == 400
    told = bob.post("/v1/account/passkeys/challenge", json={"password": PASSWORD})
    assert (told.status_code, "20 passkeys at most" in told.text) == (400, True)


def test_nobody_elses_is_listed_renamed_or_removed(named: Accounts) -> None:
    bob, cat = named.signed_in("bob"), named.signed_in("cat")
    named.authenticator(bob)
    (listed,) = bob.get("/v1/account/passkeys").json()["passkeys"]
    place = f"/v1/account/passkeys/{listed['id']}"
    assert cat.get("/v1/account/passkeys").json()["passkeys"] == []
    assert cat.patch(place, json={"name": "mine"}).status_code == 404
    assert cat.delete(place).status_code == 404
    assert bob.get("/v1/account/passkeys").json()["passkeys"] == [listed]


def test_a_password_that_somebody_else_resets_ends_them_and_ones_own_change_does_not(
    named: Accounts,
) -> None:
    bob, count = named.signed_in("bob"), "SELECT count(*) FROM passkeys"
    held = named.authenticator(bob)
    new = {"password": "another horse", "old_password": PASSWORD}
    assert bob.patch("/v1/account", json=new).status_code == 200
    assert named.shows(named.browser(), held).status_code == 200
    with psycopg.connect(named.url) as connection:
        link = reset_link(connection, "acme", 2)
    used = {"link": link, "password": "a third horse"}
    assert named.browser().post("/v1/links/use", json=used).status_code == 200
    assert named.sql(count) == [(0,)]
    assert named.shows(named.browser(), held).status_code == 401


def test_challenges_go_with_their_time_and_passkeys_with_their_person(named: Accounts) -> None:
    bob = named.signed_in("bob")
    named.authenticator(bob)
    options_of(bob, "account/passkeys", PASSWORD)
    options_of(named.browser(), "session/passkey")
    left = "SELECT (SELECT count(*) FROM passkeys), (SELECT count(*) FROM passkey_challenges)"
    assert named.sql(left) == [(1, 2)]
    named.sql("UPDATE passkey_challenges SET expires_at = now() WHERE person_id IS NULL")
    with psycopg.connect(named.url) as connection:
        assert delete_old_sessions(connection) == 1
    named.sql("DELETE FROM people WHERE id = 2")
    assert named.sql(left) == [(0, 0)]


def test_erasing_a_tenant_erases_passkeys_of_those_who_are_in_no_other(named: Accounts) -> None:
    for name in ("bob", "dan"):
        named.authenticator(named.signed_in(name))
    with psycopg.connect(named.url) as connection:
        erase_tenant(connection, "acme")
    assert named.sql("SELECT person_id FROM passkeys") == [(4,)]  # dan is of beta too


def test_the_audit_log_tells_of_passkeys(named: Accounts) -> None:
    bob = named.signed_in("bob")
    held = named.authenticator(bob)
    named.shows(named.browser(), held)
    named.shows(named.browser(), Authenticator(named.pages))
    bob.delete("/v1/account/passkeys/1")
    place = "/v1/account/passkeys"
    wanted = {
        ("POST /v1/session/passkey", 200, 2, "person 2; session 2; by passkey"),
        ("POST /v1/session/passkey", 401, None, "passkey"),
        (f"POST {place}", 201, 2, "passkey 1"),
        (f"DELETE {place}/{{passkey_id}}", 200, 2, "passkey 1"),
    }
    events = "SELECT action, status, person_id, object FROM audit_events"
    assert eventually(lambda: wanted <= set(named.sql(events)))


def test_challenges_of_an_address_are_limited_apart_from_tries() -> None:
    guard = SignInGuard()
    for _ in range(MOST_CHALLENGES_OF_ADDRESS):
        guard.check_challenge("192.0.2.1")
    with pytest.raises(HTTPException, match="too many tries"):
        guard.check_challenge("192.0.2.1")
    guard.check("192.0.2.1", "ada")
    guard.check_challenge("192.0.2.2")


@pytest.mark.parametrize(
    ("base", "party"),
    [
        ("https://Helix.Example.com", ("helix.example.com", "https://helix.example.com")),
        ("https://helix.example.com:443/h", ("helix.example.com", "https://helix.example.com")),
        ("https://h.example:8443", ("h.example", "https://h.example:8443")),
        ("http://localhost:8080", ("localhost", "http://localhost:8080")),
        ("http://a.localhost", ("a.localhost", "http://a.localhost")),
        ("http://helix.example.com", None),
        ("https://192.0.2.1", None),
        ("http://127.0.0.1:8080", None),
        ("https://[::1]:8080", None),
    ],
    ids=str,
)
def test_the_party_is_the_servers_public_address(base: str, party: tuple[str, str] | None) -> None:
    if party is not None:
        assert relying_party(base) == RelyingParty(*party)
        return
    with pytest.raises(NoPasskeys, match="set HELIX_URL"):
        relying_party(base)


def test_without_the_extra_none_is_offered_and_the_error_names_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passkey_ceremonies, "_is_installed", lambda: False)
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    with live(database_url, auth="accounts", url=Accounts.pages) as client:
        without = Accounts(str(client.base_url).rstrip("/"), database_url)
        bob = without.signed_in("bob")
        assert bob.get("/v1/sign-in").json()["passkeys"] is False
        assert bob.get("/v1/account/passkeys").json()["available"] is False
        told = bob.post("/v1/session/passkey/challenge")
        assert (told.status_code, "helix-answers[passkeys]" in told.text) == (404, True)


def test_at_an_address_without_a_name_none_is_offered(accounts: Accounts) -> None:
    browser = accounts.browser()
    assert browser.get("/v1/sign-in").json()["passkeys"] is False
    told = browser.post("/v1/session/passkey/challenge")
    assert (told.status_code, "set HELIX_URL" in told.text) == (404, True)
