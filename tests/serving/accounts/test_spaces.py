"""Spaces of people: what members read, by themselves or in a group, and whose conversations are."""

from __future__ import annotations

from hashlib import sha256

import httpx
import psycopg

from helix.domain.contract import REFUSAL
from helix.library.keys import create_key
from helix.library.people.claims import access_of_identity
from helix.library.spaces import Member, let_in, let_out
from tests.serving.accounts.conftest import PASSWORD, Accounts, email_of
from tests.support.live_server import upload

NEVER = "0" * 32
"""An id as the server gives them, which no conversation has."""


def _space(owner: httpx.Client, name: str, **about: object) -> int:
    made = owner.post("/v1/spaces", json={"name": name, **about})
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def _listed(browser: httpx.Client) -> set[int]:
    return {row["id"] for row in browser.get("/v1/documents").json()["documents"]}


def test_members_read_what_is_everybodys_or_given_to_them_or_their_group(
    accounts: Accounts,
) -> None:
    ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
    sent = {
        name: upload(ada, f"Words for {name}.".encode(), f"{name}.txt").json()["documents"][0]["id"]
        for name in ("all", "board", "lab")
    }
    assert _listed(cat) == set(sent.values())  # there is no space but the library
    board, lab = _space(ada, "Board"), _space(ada, "Lab")
    for space, name in ((board, "board"), (lab, "lab")):
        told = ada.post(f"/v1/spaces/{space}/documents", json={"move": [sent[name]]}).json()
        assert told["failed"] == 0
    assert _listed(ada) == set(sent.values())
    assert _listed(cat) == {sent["all"]}
    hidden = cat.get(f"/v1/documents/{sent['board']}")
    never = cat.get("/v1/documents/987654321")
    assert hidden.text.replace(str(sent["board"]), "987654321") == never.text
    assert cat.post("/v1/spaces", json={"name": "Mine"}).status_code == 403

    with psycopg.connect(accounts.url, autocommit=True) as connection:
        connection.execute("INSERT INTO groups (tenant_id, name) VALUES ('acme', 'research')")
        connection.execute(
            "INSERT INTO group_members SELECT 'acme', g.id, p.id FROM groups g, people p"
            " WHERE p.email = %s", (email_of("cat"),),
        )  # fmt: skip
        let_in(connection, "acme", board, Member(person=email_of("cat")))
        assert _listed(cat) == {sent["all"], sent["board"]}
        let_in(connection, "acme", lab, Member(group="research"))
        assert _listed(cat) == set(sent.values())
        connection.execute("DELETE FROM group_members")
        let_out(connection, "acme", board, Member(person=email_of("cat")))
        assert _listed(cat) == {sent["all"]}
    ada.patch(f"/v1/spaces/{lab}", json={"everyone": True})
    ada.patch("/v1/spaces/0", json={"everyone": False})
    assert _listed(cat) == {sent["lab"]} and _listed(ada) == set(sent.values())
    assert [one["name"] for one in cat.get("/v1/spaces").json()["spaces"]] == ["Lab"]


def test_a_conversation_is_its_persons_alone(accounts: Accounts) -> None:
    ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
    own = cat.post("/v1/conversations", json={"title": "Of Cat"}).json()["id"]
    assert _conversations(cat) == {own} and _conversations(ada) == set()
    for method, path in (
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/export"),
        ("GET", "/attachments"),
    ):
        told = ada.request(method, f"/v1/conversations/{own}{path}")
        never = ada.request(method, f"/v1/conversations/{NEVER}{path}")
        assert (told.status_code, told.text.replace(own, NEVER)) == (404, never.text)
    assert cat.get(f"/v1/conversations/{own}").json()["title"] == "Of Cat"


def test_an_answer_is_found_by_its_text_by_whoever_asked_alone(accounts: Accounts) -> None:
    ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
    with psycopg.connect(accounts.url, autocommit=True) as connection:
        keys = [create_key(connection, "acme", spaces=each)[1] for each in (None, ["0"])]
    programs = [accounts.browser(Authorization=f"Bearer {key}") for key in keys]
    of_refusal = f"/v1/answers/{sha256(REFUSAL.encode()).hexdigest()}/proof"
    question = "Is Ada to be dismissed?"
    streamed = cat.get("/ask", params={"q": question})
    told = cat.post("/v1/query", json={"question": question, "conversation_id": "asked"})
    assert streamed.status_code == 200 and told.json()["answer"] == REFUSAL
    for other in (ada, *programs):
        found = other.get(of_refusal)
        assert found.status_code == 404 and "dismissed" not in found.text
    proof = cat.get(of_refusal).json()["proof"]
    assert (proof["answer_id"], proof["question"]) == (told.json()["answer_id"], question)
    for other in programs:
        asked = other.get("/ask", params={"q": "What is the capital of Mongolia?"})
        assert asked.status_code == 200
        assert other.get(of_refusal).json()["proof"]["answer_id"] == asked.headers["X-Answer-Id"]


def test_what_was_asked_before_accounts_is_the_owners_and_the_tenants_keys(
    accounts: Accounts,
) -> None:
    with psycopg.connect(accounts.url, autocommit=True) as connection:
        _, key = create_key(connection, "acme", "loose")
        _, limited = create_key(connection, "acme", "limited", spaces=["0"])
    programs = [accounts.browser(Authorization=f"Bearer {each}") for each in (key, limited)]
    old = programs[0].post("/v1/conversations", json={"title": "Old"}).json()["id"]
    ada, bob, cat = (accounts.signed_in(name) for name in ("ada", "bob", "cat"))
    dan = accounts.browser()
    login = {"email": email_of("dan"), "password": PASSWORD, "tenant": "acme"}
    assert dan.post("/v1/session", json=login).json()["tenant"] == "acme"  # owner of beta alone
    for other in (bob, cat, dan, programs[1]):
        assert _conversations(other) == set()
        for method, body in (("GET", None), ("PATCH", {"title": "Mine"}), ("DELETE", None)):
            told = other.request(method, f"/v1/conversations/{old}", json=body)
            never = other.request(method, f"/v1/conversations/{NEVER}", json=body)
            assert (told.status_code, told.text.replace(old, NEVER)) == (404, never.text)
        asked = {"question": "What did you say?", "stream": False}
        assert other.post(f"/v1/conversations/{old}/messages", json=asked).status_code == 404
    renamed = ada.patch(f"/v1/conversations/{old}", json={"title": "Of all"})
    assert renamed.status_code == 200
    assert programs[0].get(f"/v1/conversations/{old}").json()["title"] == "Of all"
    shared = ada.post("/v1/shares", json={"conversation_id": old, "everyone": True})
    assert cat.get(f"/v1/shared/{shared.json()['id']}").status_code == 200
    accounts.sql("UPDATE members SET role = 'owner' WHERE person_id IN"
                 " (SELECT id FROM people WHERE email = %s)", email_of("bob"))  # fmt: skip
    accounts.sql("UPDATE members SET role = 'editor' WHERE person_id IN"
                 " (SELECT id FROM people WHERE email = %s)", email_of("ada"))  # fmt: skip
    assert (_conversations(bob), _conversations(ada)) == ({old}, set())
    assert cat.get(f"/v1/shared/{shared.json()['id']}").status_code == 404
    assert _conversations(programs[0]) == {old}


def _conversations(browser: httpx.Client) -> set[str]:
    return {one["id"] for one in browser.get("/v1/conversations").json()["conversations"]}


def test_an_access_token_of_a_provider_opens_its_persons_spaces_alone(accounts: Accounts) -> None:
    ada = accounts.signed_in("ada")
    _space(ada, "Board")
    with psycopg.connect(accounts.url, autocommit=True) as connection:
        for name in ("ada", "cat"):
            connection.execute(
                "INSERT INTO identities (issuer, subject, person_id)"
                " SELECT 'https://id.example', %s, id FROM people WHERE email = %s",
                (name, email_of(name)),
            )
        for name, spaces in (("ada", None), ("cat", (0,))):
            opened = access_of_identity(connection, "https://id.example", name, "acme")
            assert opened is not None and opened.spaces == spaces


def test_a_reader_learns_from_anothers_study_set_and_does_not_delete_it(accounts: Accounts) -> None:
    bob, cat, dan = (accounts.signed_in(name) for name in ("bob", "cat", "dan"))
    dan.patch("/v1/session", json={"tenant": "acme"})
    upload(bob, b"Words for all.", "all.txt")
    sets = [cat.post("/v1/study", json={"kind": "quiz"}).json()["id"] for _ in range(2)]
    for number in sets:
        assert dan.get(f"/v1/study/{number}").status_code == 200
        assert dan.patch(f"/v1/study/{number}", json={"title": "Dan's"}).status_code == 403
        assert dan.delete(f"/v1/study/{number}").status_code == 403
    assert dan.delete("/v1/study/987654321").status_code == 404
    assert cat.patch(f"/v1/study/{sets[0]}", json={"title": "Cat's"}).json()["title"] == "Cat's"
    for browser, number in ((cat, sets[0]), (bob, sets[1])):  # its maker, and an editor
        assert browser.delete(f"/v1/study/{number}").status_code == 204
