"""One's own sessions, password and personal access tokens."""

from __future__ import annotations

import re

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from helix.app import create_app
from helix.serving.key_scopes import NEEDED, PEOPLE_ONLY, Standing
from helix.serving.routes.accounts.session import NOT_OWN
from helix.settings import load_settings
from tests.serving.accounts.conftest import PASSWORD, Accounts, email_of
from tests.support.live_server import OFFLINE


def token_of(browser: httpx.Client, *scopes: str, **more: object) -> dict[str, str]:
    told = browser.post("/v1/account/tokens", json={"scopes": scopes, **more})
    assert told.status_code == 201, told.text
    return {"Authorization": f"Bearer {told.json()['token']}"}


def test_a_token_does_what_its_scopes_and_its_person_may(accounts: Accounts) -> None:
    bob, nobody = accounts.signed_in("bob"), accounts.browser()
    beyond = bob.post("/v1/account/tokens", json={"scopes": ["admin"]})
    assert beyond.status_code == 403
    reads, writes = token_of(bob, "read"), token_of(bob, "ask", "read", "write", name="laptop")
    assert nobody.get("/v1/documents", headers=reads).status_code == 200
    assert nobody.get("/v1/suggestions", headers=reads).status_code == 403
    change = {"model": None}
    assert nobody.patch("/v1/settings", json=change, headers=writes).status_code == 200
    for path in ("/v1/session", "/v1/members", "/v1/account/tokens"):
        assert nobody.get(path, headers=writes).status_code == 403  # none makes another
    accounts.sql("UPDATE members SET role = 'reader' WHERE person_id = 2")
    assert nobody.patch("/v1/settings", json=change, headers=writes).status_code == 403
    assert nobody.get("/v1/documents", headers=writes).status_code == 200
    accounts.sql("UPDATE members SET role = 'editor' WHERE person_id = 2")
    assert nobody.patch("/v1/settings", json=change, headers=writes).status_code == 200


def test_a_password_that_somebody_else_resets_ends_tokens_and_ones_own_change_does_not(
    accounts: Accounts,
) -> None:
    bob = accounts.signed_in("bob")
    program = accounts.browser(**token_of(bob, "read"))
    own = {"password": "another horse", "old_password": PASSWORD}
    assert bob.patch("/v1/account", json=own).status_code == 200
    assert program.get("/v1/documents").status_code == 200
    link = accounts.signed_in("ada").post("/v1/members/2/link").json()["link"]
    used = {"link": link.partition("#link=")[2], "password": "a third horse"}
    assert accounts.browser().post("/v1/links/use", json=used).status_code == 200
    assert program.get("/v1/documents").status_code == 401


@pytest.mark.parametrize(
    "end",
    [
        "UPDATE people SET disabled_at = now() WHERE id = 2",
        "DELETE FROM members WHERE person_id = 2",
        "DELETE FROM people WHERE id = 2",
    ],
    ids=["disabled", "no member", "deleted"],
)
def test_tokens_end_with_their_person(accounts: Accounts, end: str) -> None:
    token = token_of(accounts.signed_in("bob"), "read")
    assert accounts.browser().get("/v1/documents", headers=token).status_code == 200
    accounts.sql(end)
    assert accounts.browser().get("/v1/documents", headers=token).status_code == 401


def test_tokens_are_listed_and_revoked_by_their_person_alone(accounts: Accounts) -> None:
    bob, cat = accounts.signed_in("bob"), accounts.signed_in("cat")
    token = token_of(bob, "read", name="laptop", days=30)
    (listed,) = bob.get("/v1/account/tokens").json()["tokens"]
    assert (listed["name"], listed["scopes"]) == ("laptop", ["read"])
    assert token["Authorization"].removeprefix("Bearer ")[7:] not in str(listed)
    assert cat.get("/v1/account/tokens").json() == {"tokens": []}
    assert cat.delete(f"/v1/account/tokens/{listed['id']}").status_code == 404
    assert bob.delete(f"/v1/account/tokens/{listed['id']}").status_code == 200
    assert accounts.browser().get("/v1/documents", headers=token).status_code == 401
    assert bob.get("/v1/account/tokens").json() == {"tokens": []}


def test_a_person_ends_a_session_elsewhere_and_nobody_elses(accounts: Accounts) -> None:
    here, there, cat = (accounts.signed_in(name) for name in ("bob", "bob", "cat"))
    listed = here.get("/v1/account/sessions").json()["sessions"]
    assert sorted(each["current"] for each in listed) == [False, True]
    assert "token" not in str(listed) and "csrf" not in str(listed)
    (other,) = (each["id"] for each in listed if not each["current"])
    assert cat.delete(f"/v1/account/sessions/{other}").status_code == 404
    assert there.get("/v1/session").status_code == 200
    assert here.delete(f"/v1/account/sessions/{other}").status_code == 200
    assert there.get("/v1/session").status_code == 401
    assert here.get("/v1/session").status_code == 200


def test_a_new_password_needs_the_old_one_and_ends_other_sessions(accounts: Accounts) -> None:
    here, there = accounts.signed_in("bob"), accounts.signed_in("bob")
    new = {"password": "another horse"}
    for old in ({}, {"old_password": "wrong horse"}):
        told = here.patch("/v1/account", json={**new, **old})
        assert (told.status_code, told.json()["error"]) == (403, NOT_OWN)
    right = {"old_password": PASSWORD}
    unnamed = {"name": "B\0b", **new, **right}  # nothing is changed, or all of it
    assert here.patch("/v1/account", json=unnamed).status_code == 400
    assert here.patch("/v1/account", json={"password": "short", **right}).status_code == 400
    assert there.get("/v1/session").status_code == 200
    assert here.patch("/v1/account", json={**new, **right}).status_code == 200
    assert here.get("/v1/session").status_code == 200
    assert there.get("/v1/session").status_code == 401
    signed = accounts.browser().post("/v1/session", json={"email": email_of("bob"), **new})
    assert signed.status_code == 200
    assert here.patch("/v1/account", json={"name": "Bobby"}).status_code == 200
    assert here.get("/v1/session").json()["person"]["name"] == "Bobby"


def test_every_route_of_accounts_is_in_the_table() -> None:
    def routes(auth: str) -> set[tuple[str, str]]:
        settings = load_settings(database_url="postgresql://nowhere/none", auth=auth, **OFFLINE)
        return {
            (method, context.path)
            for context in iter_route_contexts(create_app(settings).routes)
            if isinstance(context.original_route, APIRoute) and context.path is not None
            for method in context.methods or ()
        }

    assert routes("accounts") - routes("off") == set(PEOPLE_ONLY)
    assert not set(PEOPLE_ONLY) & set(NEEDED)


def test_who_opens_which_route_of_accounts(accounts: Accounts) -> None:
    """Nobody, a reader and an owner on each; what a role opens is never a 401 or 403."""
    opens: dict[Standing, int] = {"anybody": 0, "person": 1, "owner": 2}
    callers = [accounts.browser(), accounts.signed_in("cat"), accounts.signed_in("ada")]
    last = ("DELETE", "/v1/session")
    for method, template in sorted(PEOPLE_ONLY, key=lambda route: route == last):
        needed, path = PEOPLE_ONLY[method, template], template
        for name in re.findall(r"\{(\w+)\}", template):
            path = path.replace(f"{{{name}}}", "people" if name == "kind" else "987654321")
        codes = [caller.request(method, path, json={}).status_code for caller in callers]
        refused = [code in (401, 403) for code in codes]
        assert refused == [n < opens[needed] for n in range(3)], (method, template, codes)
