"""A person who is erased: no table has a word of theirs, and nobody else loses one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from helix.conversations.receipts.erasure import erase_person
from tests.conversations.receipts.test_document_erasure import found_in
from tests.serving.accounts.conftest import Accounts
from tests.support.cli_runner import helix
from tests.support.service_process import eventually

WORD = "zyxquorv"


def values_of(accounts: Accounts) -> dict[str, str]:
    return {"DATABASE_URL": accounts.url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


def ask(browser: httpx.Client, question: str) -> str:
    body = {"question": question, "conversation_id": "plan"}
    told = browser.post("/v1/query", json=body)
    assert told.status_code == 200, told.text
    return str(told.json()["answer_id"])


def planted(accounts: Accounts, bob: httpx.Client, cat: httpx.Client) -> str:
    """One of each thing of bob's that may have his words, and a word of cat's on his; a token."""
    answer = ask(bob, f"What is {WORD}?")
    note = {"rating": "up", "note": WORD}
    assert bob.post(f"/v1/answers/{answer}/feedback", json=note).status_code == 201
    made = bob.post("/v1/shares", json={"conversation_id": "plan", "everyone": True})
    assert made.status_code == 201, made.text
    share = made.json()["id"]
    message = accounts.sql("SELECT min(id) FROM messages")[0][0]
    said = {"message_id": message, "text": f"I know {WORD} too."}
    assert cat.post(f"/v1/shared/{share}/comments", json=said).status_code == 201
    name = bob.get("/v1/conversations").json()["conversations"][0]["id"]
    file = {"file": (f"{WORD}.txt", f"A {WORD} is a bird.".encode())}
    told = bob.post(f"/v1/conversations/{name}/attachments", files=file)
    assert told.status_code == 202, told.text
    token = bob.post("/v1/account/tokens", json={"name": WORD, "scopes": ["ask"]})
    assert token.status_code == 201, token.text
    return str(token.json()["token"])


def test_who_is_erased_leaves_no_word_and_takes_nobodys(accounts: Accounts) -> None:
    bob, cat = accounts.signed_in("bob"), accounts.signed_in("cat")
    token = planted(accounts, bob, cat)
    ask(cat, "What is kept?")
    erase = ("user", "erase", "Bob@example.com", "--yes")
    values = values_of(accounts)
    refused = helix(*erase, **values)
    assert refused.returncode == 1 and "has not ended: wait" in refused.stderr
    assert {"messages", "answers", "feedback", "files", "comments"} <= found_in(accounts.url, WORD)
    accounts.sql("UPDATE runs SET status = 'done'")
    done = helix(*erase, **values)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Bob@example.com is erased: 1 conversations, 1 answers, ")
    assert found_in(accounts.url, f"{WORD}|bob@example") == set()
    assert bob.get("/v1/session").status_code == 401
    keyed = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{accounts.address}/v1/documents", headers=keyed).status_code == 401
    assert len(cat.get("/v1/conversations").json()["conversations"]) == 1
    again = helix(*erase, **values)
    assert again.returncode == 1 and "there is no account of Bob@example.com" in again.stderr


def test_a_tenant_that_loses_its_owner_is_named(accounts: Accounts) -> None:
    asked = helix("user", "erase", "ada@example.com", stdin="n\n", **values_of(accounts))
    assert asked.returncode == 1 and accounts.signed_in("ada")
    done = helix("user", "erase", "ada@example.com", "--yes", **values_of(accounts))
    assert done.returncode == 0, done.stderr
    assert "acme has no owner" in done.stderr


@pytest.mark.parametrize("name", ["plan", "other"])
def test_what_is_asked_while_its_asker_is_erased_is_in_no_conversation(
    accounts: Accounts, name: str
) -> None:
    bob = accounts.signed_in("bob")
    ask(bob, "What is kept?")
    [(number,)] = accounts.sql("SELECT id FROM people WHERE email = 'bob@example.com'")
    body = {"question": f"What is {WORD}?", "conversation_id": name}
    with ThreadPoolExecutor() as pool:
        with psycopg.connect(accounts.url) as connection:
            erase_person(connection, int(str(number)))
            told = pool.submit(bob.post, "/v1/query", json=body)
            eventually(lambda: told.done() or waits(accounts))
        assert told.result().status_code == 404
    assert found_in(accounts.url, WORD) == set()
    assert accounts.sql("SELECT FROM conversations") == []


def waits(accounts: Accounts) -> bool:
    """True where a request waits for what the erasure holds."""
    found = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    return bool(accounts.sql(found))
