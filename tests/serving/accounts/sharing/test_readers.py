"""Readers of what is shared: what they see of it, and who may share and change it."""

from __future__ import annotations

import json

import httpx
import psycopg

from helix.library.keys import KEY_SCOPES, create_key
from tests.serving.accounts.conftest import email_of
from tests.serving.accounts.sharing.conftest import (
    ASKED_OPEN,
    ASKED_SECRET,
    NEVER,
    SECRET,
    Shared,
    alone,
)


def test_a_reader_sees_the_sources_that_they_may_read_and_how_many_others_there_are(
    shared: Shared,
) -> None:
    conversation, message = alone(shared.ada, ASKED_OPEN)
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
    conversation, message = alone(shared.ada, ASKED_OPEN)
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


def test_a_receipt_has_words_of_a_conversations_files_for_its_author_alone(shared: Shared) -> None:
    """Whoever has its id; a file that is put to a conversation is no document of the library."""
    shared.accounts.sql(
        "UPDATE answers SET document_ids = '{}', receipt = jsonb_set(jsonb_set(receipt,"
        " '{index,sources,0,document_id}', '4711'), '{citations,0,document_id}', '4711')"
        " WHERE id = %s RETURNING 1", shared.answer_id,
    )  # fmt: skip
    path = f"/v1/answers/{shared.answer_id}"
    own, others = (browser.get(path).json() for browser in (shared.ada, shared.cat))
    assert own["answer"] and own["citations"][0]["quote"]
    assert (others["answer"], others["citations"][0]["quote"]) == (None, None)
    assert own["citations"][0]["quote"] not in json.dumps(others)
    assert [b.get(f"{path}/proof").status_code for b in (shared.cat, shared.ada)] == [409, 409]


def test_a_question_back_of_a_conversation_is_for_its_author_alone(shared: Shared) -> None:
    """It may name a file of the conversation."""
    shared.accounts.sql(
        "UPDATE answers SET document_ids = '{}', receipt = jsonb_set(jsonb_set(receipt,"
        " '{index,sources}', '[]'), '{clarifying_question}', '\"Do you mean Layoffs?\"')"
        " WHERE id = %s RETURNING 1", shared.answer_id,
    )  # fmt: skip
    own, others = (
        browser.get(f"/v1/answers/{shared.answer_id}").json()["clarifying_question"]
        for browser in (shared.ada, shared.cat)
    )
    assert (own, others) == ("Do you mean Layoffs?", None)


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
            told = browser.post("/v1/shares", json=thing)
            assert (told.status_code, "no conversation" in told.text) == (404, True), thing
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
