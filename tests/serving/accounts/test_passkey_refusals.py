"""Passkeys that open nothing and are not added: each fault alone, and one message for all."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from helix.serving.sign_in_guard import MOST_OF_ADDRESS
from tests.serving.accounts.conftest import PASSWORD, Accounts, options_of
from tests.support.authenticator import PRESENT, VERIFIED, Authenticator, decoded, encoded

REFUSED = (401, {"error": "this passkey opens no account here"})
NOT_ADDED = (400, {"error": "this passkey cannot be added: try again"})
EXPIRE = "UPDATE passkey_challenges SET expires_at = now()"
Told = tuple[int, Any]


def told(response: httpx.Response) -> Told:
    assert "helix_session" not in response.headers.get("Set-Cookie", "")
    return response.status_code, response.json()


def altered(held: Authenticator, **lies: Any) -> Authenticator:
    """The same key, that says something else."""
    lying = copy.copy(held)
    for name, value in lies.items():
        setattr(lying, name, value)
    return lying


LIES: dict[str, dict[str, Any]] = {
    "another origin": {"origin": "http://evil.example"},
    "another port": {"origin": "http://localhost:8081"},
    "another scheme": {"origin": "https://localhost:8080"},
    "another party": {"party": "evil.example"},
    "a person it did not know": {"flags": PRESENT},
    "nobody there": {"flags": VERIFIED},
}


@pytest.mark.parametrize(
    "lies",
    [
        *LIES.values(),
        {"credential_id": b"unknown"},
        {"user_handle": b"another"},
        {"user_handle": b""},
        {"key": Authenticator("").key},
    ],
    ids=[*LIES, "an unknown credential", "another handle", "no handle", "another key"],
)
def test_a_lie_opens_nothing(named: Accounts, lies: dict[str, Any]) -> None:
    held = named.authenticator(named.signed_in("bob"))
    assert told(named.shows(named.browser(), altered(held, **lies))) == REFUSED
    assert named.shows(named.browser(), held).status_code == 200  # the truth does


def _again(accounts: Accounts, held: Authenticator) -> Told:
    browser = accounts.browser()
    shown = {"credential": held.get(options_of(browser, "session/passkey"))}
    assert browser.post("/v1/session/passkey", json=shown).status_code == 200
    return told(browser.post("/v1/session/passkey", json=shown))


def _once_refused(accounts: Accounts, held: Authenticator) -> Told:
    """A challenge that something was refused for is not open either."""
    browser = accounts.browser()
    options = options_of(browser, "session/passkey")
    for lying in (altered(held, party="evil.example"), held):
        shown = {"credential": lying.get(options)}
        answer = told(browser.post("/v1/session/passkey", json=shown))
    return answer


def _expired(accounts: Accounts, held: Authenticator) -> Told:
    browser = accounts.browser()
    shown = {"credential": held.get(options_of(browser, "session/passkey"))}
    accounts.sql(EXPIRE)
    return told(browser.post("/v1/session/passkey", json=shown))


def _elsewhere(accounts: Accounts, held: Authenticator) -> Told:
    """The challenge of one browser, met by another: with its own cookie, or with none."""
    shown = {"credential": held.get(options_of(accounts.browser(), "session/passkey"))}
    thief = accounts.browser()
    assert told(thief.post("/v1/session/passkey", json=shown)) == REFUSED
    options_of(thief, "session/passkey")
    return told(thief.post("/v1/session/passkey", json=shown))


def _own_challenge(accounts: Accounts, held: Authenticator) -> Told:
    """A challenge that the server never made."""
    browser = accounts.browser()
    options = options_of(browser, "session/passkey") | {"challenge": encoded(b"x" * 32)}
    shown = {"credential": held.get(options)}
    return told(browser.post("/v1/session/passkey", json=shown))


def _to_add(accounts: Accounts, held: Authenticator) -> Told:
    """A challenge for adding one."""
    bob = accounts.signed_in("bob")
    options = options_of(bob, "account/passkeys", PASSWORD)
    shown = {"credential": held.get(options | {"rpId": "localhost"})}
    return told(bob.post("/v1/session/passkey", json=shown))


def _counting_back(accounts: Accounts, held: Authenticator) -> Told:
    held.count = 7
    assert accounts.shows(accounts.browser(), held).status_code == 200
    copied = altered(held, count=5)
    return told(accounts.shows(accounts.browser(), copied))


def _counting_no_more(accounts: Accounts, held: Authenticator) -> Told:
    assert accounts.shows(accounts.browser(), held).status_code == 200
    return told(accounts.shows(accounts.browser(), altered(held, step=0)))


def _disabled(accounts: Accounts, held: Authenticator) -> Told:
    accounts.sql("UPDATE people SET disabled_at = now() WHERE id = 2")
    return told(accounts.shows(accounts.browser(), held))


def _removed_meanwhile(accounts: Accounts, held: Authenticator) -> Told:
    browser = accounts.browser()
    shown = {"credential": held.get(options_of(browser, "session/passkey"))}
    accounts.sql("DELETE FROM passkeys")
    return told(browser.post("/v1/session/passkey", json=shown))


@pytest.mark.parametrize(
    "fault",
    [
        _again, _once_refused, _expired, _elsewhere, _own_challenge, _to_add, _counting_back,
        _counting_no_more, _disabled, _removed_meanwhile,
    ],
)  # fmt: skip
def test_a_fault_opens_nothing(
    named: Accounts, fault: Callable[[Accounts, Authenticator], Told]
) -> None:
    held = named.authenticator(named.signed_in("bob"))
    assert fault(named, held) == REFUSED


@pytest.mark.parametrize("lies", LIES.values(), ids=LIES)
def test_a_lie_is_not_added(named: Accounts, lies: dict[str, Any]) -> None:
    lying = altered(Authenticator(named.pages), **lies)
    assert told(named.adds(named.signed_in("bob"), lying)) == NOT_ADDED
    assert named.sql("SELECT FROM passkeys") == []


def test_a_challenge_adds_once_in_time_and_for_its_person_and_browser(named: Accounts) -> None:
    bob, cat = named.signed_in("bob"), named.signed_in("cat")

    def answer(browser: httpx.Client, made: dict[str, Any]) -> Told:
        body = {"name": "laptop", "credential": made}
        return told(browser.post("/v1/account/passkeys", json=body))

    made = [
        Authenticator(named.pages).create(options_of(bob, "account/passkeys", PASSWORD))
        for _ in range(3)
    ]
    assert answer(cat, made[0]) == NOT_ADDED  # nor with bob's cookie:
    cat.cookies["helix_passkey"] = bob.cookies["helix_passkey"]
    assert answer(cat, made[0]) == NOT_ADDED
    other = named.signed_in("bob")
    assert answer(other, made[0]) == NOT_ADDED
    assert answer(bob, made[0])[0] == 201
    assert answer(bob, made[0]) == NOT_ADDED
    to_sign_in = options_of(bob, "session/passkey")
    options = options_of(bob, "account/passkeys", PASSWORD)
    mixed = Authenticator(named.pages).create(options | {"challenge": to_sign_in["challenge"]})
    assert answer(bob, mixed) == NOT_ADDED
    named.sql(EXPIRE)
    assert answer(bob, made[1]) == NOT_ADDED
    assert named.sql("SELECT person_id FROM passkeys") == [(2,)]


def test_a_credential_is_one_persons(named: Accounts) -> None:
    held = named.authenticator(named.signed_in("bob"))
    twin = altered(Authenticator(named.pages), credential_id=held.credential_id)
    assert told(named.adds(named.signed_in("cat"), twin)) == NOT_ADDED
    assert told(named.shows(named.browser(), twin)) == REFUSED
    assert named.shows(named.browser(), held).status_code == 200


def test_tries_of_an_address_are_limited(named: Accounts) -> None:
    browser = named.browser()
    codes = [
        browser.post("/v1/session/passkey", json={"credential": {}}).status_code
        for _ in range(MOST_OF_ADDRESS + 1)
    ]
    assert codes == [401] * MOST_OF_ADDRESS + [429]


@pytest.mark.parametrize("count", [40, pytest.param(150, marks=pytest.mark.soak)])
def test_nothing_malformed_is_an_error_of_the_server(
    named: Accounts, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr("helix.serving.sign_in_guard.MOST_OF_ADDRESS", 10**6)
    chance = random.Random(7)
    bob = named.signed_in("bob")
    held = named.authenticator(bob)
    made = Authenticator(named.pages)
    for n in range(count):
        browser = named.browser()
        shown = _mutated(held.get(options_of(browser, "session/passkey")), chance)
        assert told(browser.post("/v1/session/passkey", json={"credential": shown})) == REFUSED, n
        named.sql("DELETE FROM passkey_challenges")
    monkeypatch.setattr("helix.serving.sign_in_guard.MOST_OF_ACCOUNT_AND_ADDRESS", 10**6)
    monkeypatch.setattr("helix.serving.sign_in_guard.MOST_OF_ACCOUNT", 10**6)
    for n in range(count):
        shown = _mutated(made.create(options_of(bob, "account/passkeys", PASSWORD)), chance)
        body = {"name": "n", "credential": shown}
        status = bob.post("/v1/account/passkeys", json=body).status_code
        assert status in (201, 400), (n, shown)  # what nobody signs may be another, and be well
        named.sql("DELETE FROM passkeys WHERE id > 1")


def _mutated(credential: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The credential with one part of it gone, another, or other bytes."""
    made: dict[str, Any] = json.loads(json.dumps(credential))
    where = made["response"] if chance.random() < 0.8 else made
    name = chance.choice(sorted(where))
    kind = chance.randrange(4)
    if kind == 0 or not isinstance(where[name], str):
        del where[name]
    elif kind == 1:
        where[name] = chance.choice([None, 7, [], {}, "", "é", "AAAA", "=", "\ud800" * 0 + "a"])
    else:
        raw = bytearray(decoded(where[name])) or bytearray(b"x")
        for _ in range(chance.randint(1, 4)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        where[name] = encoded(bytes(raw[: chance.randint(1, len(raw))] if kind == 2 else raw))
    return made
