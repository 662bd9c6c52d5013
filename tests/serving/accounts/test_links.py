"""Invitations, resets and members: what a link opens, once, and what it does not."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from helix.library.people.invitations import reset_link
from tests.serving.accounts.conftest import PASSWORD, Accounts, email_of


def secret_of(link: str) -> str:
    """The secret, which stands in the fragment alone."""
    page, _, secret = link.partition("#link=")
    assert page.endswith("/web/sign-in.html") and len(secret) == 43
    return secret


def invited(accounts: Accounts, email: str, role: str = "reader") -> str:
    ada = accounts.signed_in("ada")
    told = ada.post("/v1/invitations", json={"email": email, "role": role})
    assert told.status_code == 201, told.text
    return secret_of(told.json()["link"])


def test_an_invitation_makes_one_account_with_its_role(
    accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "helix"):
        link = invited(accounts, "New@Example.com", "editor")
        browser = accounts.browser()
        purpose = browser.post("/v1/links/look", json={"link": link}).json()
        assert purpose == {"tenant": "acme", "email": "new@example.com", "role": "editor",
                           "resets": False}  # fmt: skip
        use = {"link": link, "password": PASSWORD, "name": "Newt", "email": "other@example.com"}
        told = browser.post("/v1/links/use", json=use).json()
    assert (told["person"]["email"], told["role"]) == ("new@example.com", "editor")
    assert browser.get("/v1/session").json()["person"]["name"] == "Newt"
    for path, more in (("look", {}), ("use", {"password": PASSWORD})):
        again = accounts.browser().post(f"/v1/links/{path}", json={"link": link, **more})
        assert again.status_code == 410
    own = [each.getMessage() for each in caplog.records if each.name[:5] != "httpc"]
    assert link not in str(own) and "POST /v1/links/use 200" in str(own)


def test_a_link_that_many_use_at_once_makes_one_account(accounts: Accounts) -> None:
    link = invited(accounts, "new@example.com")

    def use(_: int) -> int:
        body = {"link": link, "password": PASSWORD}
        return accounts.browser().post("/v1/links/use", json=body).status_code

    with ThreadPoolExecutor(6) as pool:
        codes = sorted(pool.map(use, range(6)))
    assert codes == [200, 410, 410, 410, 410, 410]


def test_a_link_that_ended_or_was_taken_back_opens_nothing(accounts: Accounts) -> None:
    ended, back = invited(accounts, "x@example.com"), invited(accounts, "y@example.com")
    accounts.sql("UPDATE invitations SET expires_at = now() WHERE email = 'x@example.com'")
    ada = accounts.signed_in("ada")
    (listed,) = ada.get("/v1/invitations").json()["invitations"]
    assert listed["email"] == "y@example.com" and "token" not in str(listed)
    assert ada.delete(f"/v1/invitations/{listed['id']}").status_code == 200
    for link in (ended, back, "x" * 43, ""):
        body = {"link": link, "password": PASSWORD}
        assert accounts.browser().post("/v1/links/use", json=body).status_code == 410


def test_a_link_does_no_more_than_whoever_made_it_may_do_now(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    ids = {each["email"]: each["id"] for each in ada.get("/v1/members").json()["members"]}
    of_bob = ada.post(f"/v1/members/{ids[email_of('bob')]}/link").json()["link"]
    links = [invited(accounts, "back@example.com", "owner"), secret_of(of_bob)]
    new = {"password": "another horse"}

    def opens(link: str) -> bool:
        look = accounts.browser().post("/v1/links/look", json={"link": link})
        return look.status_code == 200

    assert all(map(opens, links))
    for ends, undo in (
        ("UPDATE members SET role = 'editor' WHERE role = 'owner' AND tenant_id = 'acme'",
         "UPDATE members SET role = 'owner' WHERE tenant_id = 'acme' AND person_id IN"
         " (SELECT id FROM people WHERE name = 'Ada')"),
        ("UPDATE people SET disabled_at = now() WHERE name = 'Ada'",
         "UPDATE people SET disabled_at = NULL"),
    ):  # fmt: skip
        accounts.sql(ends)
        for link in links:
            assert not opens(link)
            use = {"link": link, **new}
            assert accounts.browser().post("/v1/links/use", json=use).status_code == 410
        accounts.sql(undo)
        assert all(map(opens, links))
    accounts.sql("INSERT INTO members (tenant_id, person_id, role)"
                 " SELECT 'beta', id, 'reader' FROM people WHERE name = 'Bob'")  # fmt: skip
    assert list(map(opens, links)) == [True, False]  # who keeps beta has a say in Bob's account
    accounts.signed_in("bob")


def test_nobody_gives_themselves_a_role_or_a_tenant(accounts: Accounts) -> None:
    link = invited(accounts, "new@example.com")
    body = {"link": link, "password": PASSWORD}
    for given in ({"role": "owner"}, {"tenant": "beta"}, {"person_id": 1}):
        told = accounts.browser().post("/v1/links/use", json={**body, **given})
        assert told.status_code == 400
    cat = accounts.signed_in("cat")
    for more in ({"role": "owner"}, {"email": "ada@example.com"}, {"disabled_at": None}):
        assert cat.patch("/v1/account", json={"name": "Cat", **more}).status_code == 400
    assert cat.patch("/v1/session", json={"tenant": "acme", "role": "owner"}).status_code == 400
    assert cat.patch("/v1/members/3", json={"role": "owner"}).status_code == 403
    assert cat.get("/v1/session").json()["role"] == "reader"


def test_an_address_with_an_account_keeps_its_password(accounts: Accounts) -> None:
    link = invited(accounts, email_of("dan"), "owner")
    body = {"link": link, "password": "of somebody else"}
    assert accounts.browser().post("/v1/links/use", json=body).status_code == 409
    assert accounts.signed_in("bob").post("/v1/links/join", json={"link": link}).status_code == 410
    dan = accounts.signed_in("dan")  # who is a reader there, and stays one
    assert dan.post("/v1/links/join", json={"link": link}).json() == {"tenant": "acme"}
    assert dan.get("/v1/session").json()["role"] == "reader"
    eve = invited(accounts, email_of("eve"), "editor")
    accounts.sql("INSERT INTO members (tenant_id, person_id, role) VALUES ('beta', 5, 'reader')")
    there = accounts.signed_in("eve")
    assert there.post("/v1/links/join", json={"link": eve}).json() == {"tenant": "acme"}
    assert {each["tenant"] for each in there.get("/v1/session").json()["tenants"]} == {
        "acme", "beta",
    }  # fmt: skip


def test_whoever_was_taken_out_comes_back_by_an_invitation_and_their_password(
    accounts: Accounts,
) -> None:
    cat, ada = accounts.signed_in("cat"), accounts.signed_in("ada")
    before = {"link": invited(accounts, email_of("cat"), "owner"), "password": PASSWORD}
    token = cat.post("/v1/account/tokens", json={"scopes": ["ask"]}).json()["token"]
    assert ada.delete("/v1/members/3").status_code == 200
    assert accounts.browser().post("/v1/links/use", json=before).status_code == 410
    link, browser = invited(accounts, email_of("cat"), "editor"), accounts.browser()
    body = {"link": link, "email": email_of("ada"), "password": "another horse"}
    told = browser.post("/v1/links/use", json=body)
    assert (told.status_code, "use its password" in told.text) == (409, True)
    told = browser.post("/v1/links/use", json=body | {"password": PASSWORD})
    assert (told.json()["person"]["email"], told.json()["role"]) == (email_of("cat"), "editor")
    assert cat.get("/v1/session").status_code == 401, "what had ended stays so"
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{accounts.address}/v1/about", headers=headers).status_code == 401
    assert browser.post("/v1/links/use", json=body | {"password": PASSWORD}).status_code == 410
    dan, more = accounts.signed_in("dan"), invited(accounts, email_of("dan"), "owner")
    use = {"link": more, "password": PASSWORD}
    assert accounts.browser().post("/v1/links/use", json=use).json()["role"] == "reader"
    assert dan.get("/v1/session").status_code == 200, "no password was changed"


def test_passwords_are_not_guessed_by_an_invitation(accounts: Accounts) -> None:
    body = {"link": invited(accounts, email_of("dan")), "password": "wrong horse"}
    codes = [accounts.browser().post("/v1/links/use", json=body).status_code for _ in range(11)]
    assert codes == [409] * 10 + [429]


def test_an_owner_gives_a_member_a_new_password_and_no_member_of_others(
    accounts: Accounts,
) -> None:
    cat, ada = accounts.signed_in("cat"), accounts.signed_in("ada")
    first = secret_of(ada.post("/v1/members/3/link").json()["link"])
    link = secret_of(ada.post("/v1/members/3/link").json()["link"])
    new = {"password": "another horse"}
    assert accounts.browser().post("/v1/links/use", json={"link": first, **new}).status_code == 410
    used = accounts.browser().post("/v1/links/use", json={"link": link, **new})
    assert used.json()["person"]["email"] == email_of("cat")
    assert cat.get("/v1/session").status_code == 401  # the sessions that there were have ended
    old = {"email": email_of("cat"), "password": PASSWORD}
    assert accounts.browser().post("/v1/session", json=old).status_code == 401
    assert ada.post("/v1/members/4/link").status_code == 403  # dan owns beta
    assert ada.post("/v1/members/5/link").status_code == 404  # eve is nobody's
    assert accounts.signed_in("bob").post("/v1/members/3/link").status_code == 403


def test_a_link_for_a_new_password_signs_in_whatever_tenant_the_command_named(
    accounts: Accounts,
) -> None:
    with psycopg.connect(accounts.url) as connection:
        link = reset_link(connection, "default", 1)  # `helix user set ada@example.com --link`
    use = {"link": link, "password": "another horse"}
    used = accounts.browser().post("/v1/links/use", json=use)
    assert (used.status_code, used.json()["tenant"]) == (200, "acme")


def test_an_owner_changes_roles_and_a_tenant_keeps_one(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    assert ada.patch("/v1/members/1", json={"role": "reader"}).status_code == 409
    assert ada.delete("/v1/members/1").status_code == 409
    assert ada.patch("/v1/members/2", json={"role": "owner"}).json() == {"role": "owner"}
    assert ada.patch("/v1/members/2", json={"role": "king"}).status_code == 400
    bob = accounts.signed_in("bob")
    assert bob.delete("/v1/members/1").status_code == 200
    assert ada.get("/v1/session").status_code == 401
    assert bob.patch("/v1/members/5", json={"role": "reader"}).status_code == 404
    names = [each["name"] for each in bob.get("/v1/members").json()["members"]]
    assert names == ["Bob", "Cat", "Dan"]


def test_groups_have_members_of_their_tenant_alone(accounts: Accounts) -> None:
    ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
    number = ada.post("/v1/groups", json={"name": "research"}).json()["id"]
    assert ada.post("/v1/groups", json={"name": "research"}).status_code == 409
    assert ada.put(f"/v1/groups/{number}/members/3").status_code == 200
    assert ada.put(f"/v1/groups/{number}/members/5").status_code == 404
    assert cat.put(f"/v1/groups/{number}/members/2").status_code == 403
    (group,) = cat.get("/v1/groups").json()["groups"]
    assert group == {"id": number, "name": "research", "source": "local", "members": 1}
    (member,) = cat.get(f"/v1/groups/{number}/members").json()["members"]
    assert member["email"] == email_of("cat")
    dan = accounts.signed_in("dan")
    dan.patch("/v1/session", json={"tenant": "beta"})
    assert dan.get("/v1/groups").json() == {"groups": []}
    assert dan.get(f"/v1/groups/{number}/members").status_code == 404
    assert dan.delete(f"/v1/groups/{number}").status_code == 404
    assert ada.delete(f"/v1/groups/{number}/members/3").status_code == 200
    assert ada.delete(f"/v1/groups/{number}").status_code == 200
    assert cat.get("/v1/groups").json() == {"groups": []}


def test_a_link_begins_with_no_name_that_its_sender_made_up(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    asked = {"email": "new@example.com", "role": "reader"}
    for host in ("evil.example.com", "203.0.113.9", "127.0.0.1.evil.example.com:80"):
        forged = ada.post("/v1/invitations", json=asked, headers={"Host": host})
        assert forged.status_code in (400, 403), forged.text
        if forged.status_code == 400:
            assert "set HELIX_URL" in forged.json()["error"]
    assert ada.get("/v1/invitations").json()["invitations"] == []
    headers = {"Host": "evil.example.com", "Origin": "http://evil.example.com"}
    told = ada.post("/v1/members/2/link", json={}, headers=headers)
    assert told.status_code == 400 and "set HELIX_URL" in told.json()["error"]
    assert accounts.sql("SELECT count(*) FROM invitations") == [(0,)]
