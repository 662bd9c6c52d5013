"""Sharing over HTTP: who sees what of it, who may change it, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.conversations.receipts.erasure import erase_tenant
from helix.library.keys import KEY_SCOPES, create_key
from helix.library.spaces import Member, let_in, let_out
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.serving.accounts.conftest import Accounts, email_of, fill
from tests.support.live_server import OFFLINE, live
from tests.support.tenants import bring_in, marker

SECRET = marker("acme")
OPEN_TEXT = "Refunds are accepted within thirty days of purchase."
SECRET_TEXT = f"The password of the vault is {SECRET}.\n\nThe vault is in the cellar."
ASKED_SECRET = "What is the password of the vault?"
ASKED_OPEN = "Within how many days are refunds accepted?"
NEVER = "0" * 32


@dataclass
class Shared:
    """Ada's conversation about the board's document and then the library's, with its messages."""

    accounts: Accounts
    ada: httpx.Client
    cat: httpx.Client
    board: int
    conversation: str
    of_secret: int
    of_open: int
    answer_id: str

    def share(self, **about: object) -> dict[str, Any]:
        told = self.ada.post("/v1/shares", json={"conversation_id": self.conversation, **about})
        assert told.status_code == 201, told.text
        return dict(told.json())

    def id_of(self, name: str) -> int:
        ((number,),) = self.accounts.sql("SELECT id FROM people WHERE email = %s", email_of(name))
        assert isinstance(number, int)
        return number

    def board_is_for(self, name: str, let: bool = True) -> None:
        with psycopg.connect(self.accounts.url, autocommit=True) as connection:
            who = Member(person=email_of(name))
            (let_in if let else let_out)(connection, "acme", self.board, who)

    def read(self, share: dict[str, Any], browser: httpx.Client | None = None) -> dict[str, Any]:
        told = (browser or self.cat).get(f"/v1/shared/{share['id']}")
        assert told.status_code == 200, told.text
        return dict(told.json())


@pytest.fixture
def shared(database_url: str) -> Iterator[Shared]:
    embedder = build_embedder(load_settings(database_url=database_url, **OFFLINE))
    with live(database_url) as client:
        bring_in(client, database_url, embedder, "acme", "open", OPEN_TEXT)
        hidden = bring_in(client, database_url, embedder, "acme", "secret", SECRET_TEXT)
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    with live(database_url, auth="accounts", public_link_days=30) as client:
        accounts = Accounts(str(client.base_url).rstrip("/"), database_url)
        ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
        board = ada.post("/v1/spaces", json={"name": "Board"}).json()["id"]
        ada.post(f"/v1/spaces/{board}/documents", json={"move": [hidden.document]})
        conversation = ada.post("/v1/conversations", json={}).json()["id"]
        first, answer_id = _ask(ada, conversation, ASKED_SECRET)
        second, _ = _ask(ada, conversation, ASKED_OPEN)
        yield Shared(accounts, ada, cat, board, conversation, first, second, answer_id)


def _ask(browser: httpx.Client, conversation: str, question: str) -> tuple[int, str]:
    asked = {"question": question, "stream": False}
    told = browser.post(f"/v1/conversations/{conversation}/messages", json=asked)
    assert told.status_code == 200, told.text
    return told.json()["message_id"], told.json()["answer_id"]


def _alone(browser: httpx.Client, question: str) -> tuple[str, int]:
    """A conversation of its own for one question."""
    conversation = browser.post("/v1/conversations", json={}).json()["id"]
    return conversation, _ask(browser, conversation, question)[0]


def test_a_reader_sees_the_sources_that_they_may_read_and_how_many_others_there_are(
    shared: Shared,
) -> None:
    conversation, message = _alone(shared.ada, ASKED_OPEN)
    share = shared.share(conversation_id=conversation, message_id=message, everyone=True)
    (seen,) = shared.read(share)["messages"]
    assert "thirty days" in seen["answer"] and not seen["hidden"]
    assert seen["citations"][0]["title"] == "Notes on open" and seen["closed_sources"] == 0
    assert seen["support"]["statements"]

    share = shared.share(message_id=shared.of_secret, people=[shared.id_of("cat")])
    assert [one["email"] for one in share["people"]] == [email_of("cat")]
    view = shared.read(share)
    (seen,) = view["messages"]
    assert (seen["answer"], seen["hidden"], seen["closed_sources"]) == (None, True, 1)
    assert seen["question"] == ASKED_SECRET and seen["citations"] == []
    told = json.dumps(view)
    assert SECRET not in told and "Notes on secret" not in told
    assert shared.answer_id not in told and "document_id" not in told

    shared.board_is_for("cat")
    (seen,) = shared.read(share)["messages"]
    assert SECRET in seen["answer"] and SECRET in seen["citations"][0]["quote"]
    shared.board_is_for("cat", let=False)
    assert SECRET not in json.dumps(shared.read(share))


def test_words_are_shown_to_others_only_where_the_author_says_so_and_may_read_them(
    shared: Shared,
) -> None:
    share = shared.share(message_id=shared.of_secret, everyone=True, words=True)
    view = shared.read(share)
    (seen,) = view["messages"]
    assert SECRET in seen["answer"] and not seen["hidden"]
    assert seen["citations"] == [] and seen["closed_sources"] == 1
    assert "Notes on secret" not in json.dumps(view) and seen["support"] is None

    def set_role(role: str) -> None:
        shared.accounts.sql(
            "UPDATE members SET role = %s WHERE tenant_id = 'acme' AND person_id = %s",
            role, shared.id_of("ada"),
        )  # fmt: skip

    set_role("reader")  # the board is not hers any more
    assert SECRET not in json.dumps(shared.read(share))
    assert SECRET not in json.dumps(shared.read(share, shared.ada))
    set_role("owner")
    assert SECRET in json.dumps(shared.read(share))
    shared.ada.patch(f"/v1/shares/{share['id']}", json={"words": False})
    assert SECRET not in json.dumps(shared.read(share))


def test_an_answer_is_whole_where_all_it_says_stands_in_what_its_reader_may_read(
    shared: Shared,
) -> None:
    share = shared.share(everyone=True)
    first, second = shared.read(share)["messages"]
    assert first["hidden"] and first["support"] is None
    assert "thirty days" in second["answer"]  # found among others, and resting on the library's
    assert [one["title"] for one in second["citations"]] == ["Notes on open"]
    shared.accounts.sql(
        "UPDATE messages SET response = jsonb_set(response, '{support,statements,0,status}',"
        " '\"borne out\"') WHERE id = %s", shared.of_open,
    )  # fmt: skip
    assert [one["hidden"] for one in shared.read(share)["messages"]] == [True, True]
    shared.accounts.sql(
        "UPDATE messages SET response = jsonb_set(response, '{support,statements,0,status}',"
        " '\"quoted\"') || jsonb_build_object('answer', 'Vault. ' || (response ->> 'answer'))"
        " WHERE id = %s", shared.of_open,
    )  # fmt: skip
    assert shared.read(share)["messages"][1]["hidden"]  # a word that no statement has
    shared.board_is_for("cat")
    assert not any(one["hidden"] for one in shared.read(share)["messages"])


def test_files_and_images_of_a_conversation_are_no_sources_of_its_readers(shared: Shared) -> None:
    conversation, message = _alone(shared.ada, ASKED_OPEN)
    share = shared.share(conversation_id=conversation, message_id=message, everyone=True)
    assert not shared.read(share)["messages"][0]["hidden"]
    files = {"file": ("own.txt", b"My own file.")}
    told = shared.ada.post(f"/v1/conversations/{conversation}/attachments", files=files)
    assert told.status_code == 202, told.text
    (seen,) = shared.read(share)["messages"]
    assert "thirty days" in seen["answer"] and seen["citations"]  # of the library's document
    shared.accounts.sql(
        "UPDATE messages SET response = jsonb_set(jsonb_set(jsonb_set(response,"
        " '{citations,0,document_id}', '4711'), '{citations,0,quote}', '\"My own file.\"'),"
        " '{support,statements,0,spans,0,document_id}', '4711')"
        " WHERE conversation_id = %s", conversation,
    )  # fmt: skip
    (seen,) = shared.read(share)["messages"]
    assert seen["hidden"] and (seen["citations"], seen["closed_sources"]) == ([], 1)
    shared.ada.patch(f"/v1/shares/{share['id']}", json={"words": True})
    view = shared.read(share)
    assert "thirty days" in view["messages"][0]["answer"] and "My own" not in json.dumps(view)


def test_a_group_everyone_and_nobody(shared: Shared) -> None:
    bob, dan = shared.accounts.signed_in("bob"), shared.accounts.browser()
    signed = {"email": email_of("dan"), "password": "correct horse", "tenant": "beta"}
    assert dan.post("/v1/session", json=signed).status_code == 200
    group = shared.ada.post("/v1/groups", json={"name": "research"}).json()["id"]
    share = shared.share(groups=[group])
    path = f"/v1/shared/{share['id']}"
    assert [each.get(path).status_code for each in (shared.cat, bob, dan)] == [404, 404, 404]
    shared.ada.put(f"/v1/groups/{group}/members/{shared.id_of('cat')}")
    assert [each.get(path).status_code for each in (shared.cat, bob, dan)] == [200, 404, 404]
    assert [one["id"] for one in shared.cat.get("/v1/shared").json()["shared"]] == [share["id"]]
    assert bob.get("/v1/shared").json() == {"shared": []}
    shared.ada.delete(f"/v1/groups/{group}/members/{shared.id_of('cat')}")
    assert shared.cat.get(path).status_code == 404
    shared.ada.patch(f"/v1/shares/{share['id']}", json={"everyone": True})
    # of another tenant nobody is everyone
    assert [each.get(path).status_code for each in (shared.cat, bob, dan)] == [200, 200, 404]
    shared.ada.delete(f"/v1/shares/{share['id']}")
    assert shared.cat.get(path).text == shared.cat.get(f"/v1/shared/{NEVER}").text
    assert shared.cat.get("/v1/shared").json() == {"shared": []}


def test_shares_are_their_authors_and_ids_tell_nothing(shared: Shared) -> None:
    share = shared.share(people=[shared.id_of("cat")])
    path = f"/v1/shares/{share['id']}"
    for browser in (shared.cat, shared.accounts.signed_in("bob")):
        for method, place, body in (
            ("PATCH", path, {"everyone": True}), ("DELETE", path, None),
            ("POST", f"{path}/links", {"days": 1}), ("DELETE", f"{path}/links/1", None),
        ):  # fmt: skip
            told = browser.request(method, place, json=body)
            never = browser.request(method, place.replace(share["id"], NEVER), json=body)
            assert (told.status_code, told.text) == (404, never.text), place
        for thing in (
            {"conversation_id": shared.conversation},
            {"conversation_id": shared.conversation, "message_id": shared.of_secret},
            {"answer_id": shared.answer_id}, {"answer_id": NEVER},
        ):  # fmt: skip
            assert browser.post("/v1/shares", json=thing).status_code == 404, thing
    (eve,) = shared.accounts.sql("SELECT id FROM people WHERE email = %s", email_of("eve"))
    assert shared.ada.patch(path, json={"people": [eve[0]]}).status_code == 404
    assert shared.ada.patch(path, json={"groups": [4711]}).status_code == 404
    assert shared.cat.get(f"/v1/shared/{share['id']}").status_code == 200  # it is as it was
    for extra in ({"author": 1}, {"tenant_id": "beta"}, {"person_id": 1}, {"id": NEVER}):
        assert shared.ada.patch(path, json=extra).status_code == 400, extra
        new = {"conversation_id": shared.conversation, **extra}
        assert shared.ada.post("/v1/shares", json=new).status_code == 400, extra
    by_answer = shared.ada.post("/v1/shares", json={"answer_id": shared.answer_id}).json()
    assert by_answer["message_id"] == shared.of_secret
    assert shared.share(message_id=shared.of_secret)["id"] == by_answer["id"]


def test_no_key_shares_or_reads_what_is_shared(shared: Shared) -> None:
    share = shared.share(everyone=True)
    with psycopg.connect(shared.accounts.url, autocommit=True) as connection:
        for only in (None, ["Library"]):
            _, key = create_key(connection, "acme", scopes=KEY_SCOPES, spaces=only)
            bearer = {"Authorization": f"Bearer {key}"}
            for path in ("/v1/shares", "/v1/shared", f"/v1/shared/{share['id']}"):
                told = httpx.get(f"{shared.accounts.address}{path}", headers=bearer)
                assert told.status_code == 403, path
    for path in ("/v1/shares", "/v1/shared", f"/v1/shared/{share['id']}"):
        assert httpx.get(f"{shared.accounts.address}{path}").status_code == 401


def test_a_public_link_shows_the_answers_words_until_it_ends(shared: Shared) -> None:
    share = shared.share(message_id=shared.of_secret)
    path = f"/v1/shares/{share['id']}/links"
    assert shared.ada.post(path, json={"days": 31}).status_code == 400
    made = shared.ada.post(path, json={"days": 7}).json()
    page, _, secret = made["link"].partition("#link=")
    assert page.startswith(shared.accounts.address) and len(secret) == 43
    stored = shared.accounts.sql("SELECT to_jsonb(l)::text FROM share_links l")
    assert secret not in str(stored)

    def look(link: str = secret) -> httpx.Response:
        return httpx.post(f"{shared.accounts.address}/v1/public/look", json={"link": link})

    told = look()
    assert told.headers["cache-control"] == "no-store"
    view = told.json()
    (seen,) = view["messages"]
    assert SECRET in seen["answer"] and (seen["citations"], seen["closed_sources"]) == ([], 1)
    assert view["author"] is None and "Notes" not in told.text and "comments" not in view
    assert shared.answer_id not in told.text
    never = look("x" * 43)
    assert (never.status_code, look("").status_code) == (404, 404)
    for ends, undo in (
        ("UPDATE share_links SET expires_at = now()",
         "UPDATE share_links SET expires_at = now() + interval '1 day'"),
        ("UPDATE people SET disabled_at = now() WHERE name = 'Ada'",
         "UPDATE people SET disabled_at = NULL"),
    ):  # fmt: skip
        shared.accounts.sql(ends)
        assert (look().status_code, look().text) == (404, never.text)
        shared.accounts.sql(undo)
        assert look().status_code == 200
    assert shared.ada.delete(f"{path}/{made['id']}").status_code == 200
    assert (look().status_code, look().text) == (404, never.text)
    whole = shared.share()
    told = shared.ada.post(f"/v1/shares/{whole['id']}/links", json={"days": 1})
    assert told.status_code == 400  # a conversation goes on, and nobody would think of it


def test_without_the_setting_there_are_no_public_links(shared: Shared) -> None:
    share = shared.share(message_id=shared.of_secret)
    made = shared.ada.post(f"/v1/shares/{share['id']}/links", json={"days": 7}).json()
    secret = made["link"].partition("#link=")[2]
    with live(shared.accounts.url, auth="accounts") as other:
        assert other.post("/v1/public/look", json={"link": secret}).status_code == 404
        accounts = Accounts(str(other.base_url).rstrip("/"), shared.accounts.url)
        ada = accounts.signed_in("ada")
        told = ada.post(f"/v1/shares/{share['id']}/links", json={"days": 1})
        assert told.status_code == 403
        assert ada.get("/v1/shares").json()["public_link_days"] == 0


def test_comments_are_of_who_wrote_them_and_the_author_may_remove_them(shared: Shared) -> None:
    bob = shared.accounts.signed_in("bob")
    share = shared.share(people=[shared.id_of("cat")])
    path = f"/v1/shared/{share['id']}/comments"
    new = {"message_id": shared.of_open, "text": " Is that so? "}
    assert bob.post(path, json=new).status_code == 404
    by_cat = shared.cat.post(path, json=new).json()["id"]
    by_ada = shared.ada.post(path, json={**new, "text": "It is."}).json()["id"]
    told = shared.read(share)["comments"]
    assert [(one["author"], one["text"], one["mine"], one["removable"]) for one in told] == [
        ("Cat", "Is that so?", True, True), ("Ada", "It is.", False, False),
    ]  # fmt: skip
    for wrong in ({**new, "message_id": 4711}, {**new, "text": "  "}, {**new, "person_id": 1}):
        assert shared.cat.post(path, json=wrong).status_code in (400, 404), wrong
    edited = {"text": "Is that really so?"}
    assert shared.cat.patch(f"{path}/{by_cat}", json=edited).status_code == 200
    assert shared.ada.patch(f"{path}/{by_cat}", json=edited).status_code == 404
    assert shared.cat.patch(f"{path}/{by_ada}", json=edited).status_code == 404
    assert shared.cat.delete(f"{path}/{by_ada}").status_code == 404
    assert shared.read(share)["comments"][0]["edited_at"]
    other = shared.share(message_id=shared.of_open, everyone=True)
    elsewhere = f"/v1/shared/{other['id']}/comments/{by_cat}"
    assert shared.cat.delete(elsewhere).status_code == 404  # it is not of this share
    assert shared.ada.delete(f"{path}/{by_cat}").status_code == 200
    assert [one["id"] for one in shared.read(share)["comments"]] == [by_ada]
    shared.ada.patch(f"/v1/shares/{share['id']}", json={"people": []})
    assert shared.cat.post(path, json=new).status_code == 404


def _events(browser: httpx.Client, share: dict[str, Any]) -> Iterator[str]:
    with browser.stream("GET", f"/v1/shared/{share['id']}/events") as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("event: "):
                yield line.removeprefix("event: ")


def test_who_follows_is_told_of_changes_and_of_the_end(shared: Shared) -> None:
    share = shared.share(people=[shared.id_of("cat")])
    events = _events(shared.cat, share)
    assert next(events) == "changed"
    shared.board_is_for("cat")
    assert next(events) == "changed"
    _ask(shared.ada, shared.conversation, ASKED_OPEN)
    assert next(events) == "changed"
    shared.ada.patch(f"/v1/shares/{share['id']}", json={"people": []})
    assert next(one for one in events if one == "gone")
    assert list(events) == []


def test_a_share_goes_with_its_conversation_its_author_and_its_reader(shared: Shared) -> None:
    share = shared.share(people=[shared.id_of("cat")], message_id=shared.of_open)
    comment = {"message_id": shared.of_open, "text": "Mine."}
    shared.cat.post(f"/v1/shared/{share['id']}/comments", json=comment)
    shared.ada.post(f"/v1/shares/{share['id']}/links", json={"days": 1})
    shared.ada.delete(f"/v1/members/{shared.id_of('cat')}")
    counts = "SELECT (SELECT count(*) FROM share_readers), (SELECT count(*) FROM comments)"
    assert shared.accounts.sql(counts) == [(0, 0)]
    assert shared.ada.delete(f"/v1/conversations/{shared.conversation}").status_code == 204
    left = "SELECT (SELECT count(*) FROM shares), (SELECT count(*) FROM share_links)"
    assert shared.accounts.sql(left) == [(0, 0)]


def test_erasing_a_tenant_erases_what_was_shared_and_said(shared: Shared) -> None:
    share = shared.share(people=[shared.id_of("cat")], message_id=shared.of_open)
    comment = {"message_id": shared.of_open, "text": "Mine."}
    assert shared.cat.post(f"/v1/shared/{share['id']}/comments", json=comment).status_code == 201
    shared.ada.post(f"/v1/shares/{share['id']}/links", json={"days": 1})
    with psycopg.connect(shared.accounts.url, autocommit=True) as connection:
        connection.execute("UPDATE runs SET status = 'done'")
        with connection.transaction():
            erase_tenant(connection, "acme")
    for table in ("shares", "share_readers", "share_links", "comments"):
        assert shared.accounts.sql(f"SELECT count(*) FROM {table}") == [(0,)], table


def test_the_audit_log_has_who_shared_and_with_whom_by_ids_alone(shared: Shared) -> None:
    cat = shared.id_of("cat")
    share = shared.share(people=[cat], message_id=shared.of_secret, words=True)
    link = shared.ada.post(f"/v1/shares/{share['id']}/links", json={"days": 3}).json()["link"]
    secret = link.partition("#link=")[2]
    httpx.post(f"{shared.accounts.address}/v1/public/look", json={"link": secret})
    shared.ada.delete(f"/v1/shares/{share['id']}")
    logged: list[tuple[object, ...]] = []
    for _ in range(200):  # written aside, a moment later
        logged = shared.accounts.sql(
            "SELECT action, object FROM audit_events WHERE action LIKE '%%/v1/shares%%'"
            " AND kind = 'write' ORDER BY id"
        )
        if len(logged) == 3:
            break
    assert [action for action, _ in logged] == [
        "POST /v1/shares", "POST /v1/shares/{share_id}/links", "DELETE /v1/shares/{share_id}",
    ]  # fmt: skip
    objects = [str(each) for _, each in logged]
    assert objects[0] == f"share {share['id']}; people {cat}; words True"
    assert objects[1].startswith(f"share {share['id']}; public link ")
    assert secret not in str(shared.accounts.sql("SELECT to_jsonb(a)::text FROM audit_events a"))
