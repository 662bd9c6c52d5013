"""Names of conversations are one's own: another's keeps none from one, and is not told."""

from __future__ import annotations

import httpx
import pytest
from psycopg import connect

from helix.library.keys import create_key
from tests.serving.accounts.conftest import Accounts


def ask(browser: httpx.Client, name: str) -> httpx.Response:
    return browser.post("/v1/query", json={"question": "Why?", "conversation_id": name})


@pytest.mark.parametrize("name", ["plan", "a plan/of two"])
def test_people_have_conversations_of_one_name(accounts: Accounts, name: str) -> None:
    bob, cat = accounts.signed_in("bob"), accounts.signed_in("cat")
    path = f"/v1/conversations/{name.replace('/', '%2F')}"
    for browser in (bob, bob, cat):
        told = ask(browser, name)
        assert (told.status_code, told.json()["conversation_id"]) == (200, name)
    found = [browser.get("/v1/conversations").json()["conversations"] for browser in (bob, cat)]
    assert [[each["messages"] for each in of_one] for of_one in found] == [[2], [1]]
    if "/" not in name:
        assert bob.get(path).json()["messages"] == 2
        assert cat.get(path).json()["id"] == found[1][0]["id"] != found[0][0]["id"]
        shared = cat.post("/v1/shares", json={"conversation_id": name, "everyone": True})
        assert shared.status_code == 201, shared.text
        assert cat.get("/v1/shares", params={"conversation_id": name}).json()["shares"]
        assert cat.delete(path).status_code == 204
        assert (bob.get(path).status_code, cat.get(path).status_code) == (200, 404)
    assert cat.get(f"/v1/conversations/{found[0][0]['id']}").status_code == 404


def test_a_name_that_another_has_is_free_to_begin(accounts: Accounts) -> None:
    bob, cat = accounts.signed_in("bob"), accounts.signed_in("cat")
    for browser in (bob, cat):
        made = [browser.post("/v1/conversations", json={"id": "plan"}) for _ in range(2)]
        assert [each.status_code for each in made] == [201, 409]
        assert made[1].json()["error"] == "there is a conversation plan already"
        sent = {"question": "Why?", "stream": False}
        told = browser.post("/v1/conversations/plan/messages", json=sent)
        assert (told.status_code, told.json()["conversation_id"]) == (200, made[0].json()["id"])


def test_keys_of_the_whole_tenant_share_their_names(accounts: Accounts) -> None:
    with connect(accounts.url, autocommit=True) as connection:
        keys = [create_key(connection, "acme", scopes=("ask",))[1] for _ in range(2)]
    for key in keys:
        browser = httpx.Client(
            base_url=accounts.address, headers={"Authorization": f"Bearer {key}"}
        )
        assert ask(browser, "plan").status_code == 200
    told = browser.get("/v1/conversations/plan").json()
    assert (told["id"], told["messages"]) == ("plan", 2)
