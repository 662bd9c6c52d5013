"""Public links, comments, followers, and how what is shared ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import psycopg

from helix.conversations.receipts.erasure import erase_tenant
from tests.serving.accounts.conftest import Accounts
from tests.serving.accounts.sharing.conftest import (
    ASKED_OPEN,
    SECRET,
    Shared,
    ask,
)
from tests.support.live_server import live
from tests.support.service_process import eventually


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
    with psycopg.connect(shared.accounts.url, autocommit=True) as connection:
        for spaces in ([shared.board], [0]):  # who read it in between has to read it again
            placed = "UPDATE documents SET spaces = %s WHERE id = (SELECT min(id) FROM documents)"
            assert connection.execute(placed, (spaces,)).rowcount == 1
    assert next(events) == "changed"
    ask(shared.ada, shared.conversation, ASKED_OPEN)
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

    def logged() -> list[tuple[object, ...]]:
        return shared.accounts.sql(
            "SELECT action, object FROM audit_events WHERE action LIKE '%%/v1/shares%%'"
            " AND kind = 'write' ORDER BY id"
        )

    assert eventually(lambda: len(logged()) == 3)  # written aside, a moment later
    assert [action for action, _ in logged()] == [
        "POST /v1/shares", "POST /v1/shares/{share_id}/links", "DELETE /v1/shares/{share_id}",
    ]  # fmt: skip
    objects = [str(each) for _, each in logged()]
    assert objects[0] == f"share {share['id']}; people {cat}; words True"
    assert objects[1].startswith(f"share {share['id']}; public link ")
    assert secret not in str(shared.accounts.sql("SELECT to_jsonb(a)::text FROM audit_events a"))
