"""Spaces over HTTP: who may read a document, and that for anybody else it is not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from tests.serving.spaces.conftest import OF_PEOPLE, TENANT, Spaces
from tests.support.live_server import live, upload
from tests.support.tenant_requests import BY_ID, QUESTION, ROUTES, Ids, told_of
from tests.support.tenants import marker

NEVER = "0" * 32
"""An id as the server gives them, which no conversation has."""


@pytest.mark.parametrize("route", BY_ID, ids=" ".join)
def test_a_document_of_another_space_answers_as_one_that_never_was(
    spaces: Spaces, route: tuple[str, str], module_database_url: str
) -> None:
    before = _documents(module_database_url)
    hidden, never = (
        spaces.route("library", route, spaces.secret),
        spaces.route("library", route, Ids()),
    )
    assert marker(TENANT) not in hidden.text
    if not route[1].startswith(OF_PEOPLE):
        assert told_of(hidden, *spaces.secret.all) == told_of(never, *Ids().all)
    assert _documents(module_database_url) == before


def _mcp(method: str, **params: Any) -> dict[str, Any]:
    """The arguments of a request of MCP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {"json": body, "headers": {"Accept": "application/json, text/event-stream"}}


def _tool(name: str, **arguments: Any) -> dict[str, Any]:
    return _mcp("tools/call", name=name, arguments=arguments)


def _batch(action: str, document: int, **more: Any) -> dict[str, Any]:
    return {"json": {"action": action, "ids": [document], **more}}


_READING: list[tuple[str, str, Callable[[Ids], dict[str, Any]]]] = [
    ("GET", "/v1/search", lambda at: {"params": {"q": QUESTION, "document_id": at.document}}),
    ("POST", "/mcp", lambda at: _tool("fetch", id=str(at.chunk))),
    ("POST", "/mcp", lambda at: _tool("fetch", id=f"document:{at.document}")),
    ("POST", "/mcp", lambda at: _tool("read_passage", document_id=at.document)),
    ("POST", "/mcp", lambda at: _tool("search", query=QUESTION, document_ids=[at.document])),
    ("POST", "/mcp", lambda at: _tool("ask", question=QUESTION, document_ids=[at.document])),
    ("POST", "/mcp", lambda at: _mcp("resources/read", uri=f"helix://documents/{at.document}")),
]
_CHANGING: list[tuple[str, str, Callable[[Ids], dict[str, Any]]]] = [
    ("GET", "/v1/suggestions", lambda at: {"params": {"document_id": at.document}}),
    ("POST", "/v1/study", ROUTES["POST", "/v1/study"]),
    ("POST", "/v1/documents/batch", lambda at: _batch("delete", at.document)),
    ("POST", "/v1/documents/batch", lambda at: _batch("label", at.document, add=["mine"])),
    ("POST", "/v1/documents/batch", lambda at: _batch("rename", at.document, titles=["Mine"])),
    ("POST", "/v1/documents/batch", lambda at: _batch("reread", at.document)),
    ("POST", "/v1/spaces/0/documents", lambda at: {"json": {"add": [at.document]}}),
    ("POST", "/v1/spaces/0/documents", lambda at: {"json": {"move": [at.document]}}),
    ("POST", "/v1/spaces/0/documents", lambda at: {"json": {"remove": [at.document]}}),
]
"""Requests that name a document elsewhere than in the address of a route of BY_ID."""


@pytest.mark.parametrize("place", range(len(_READING + _CHANGING)))
def test_a_hidden_document_that_a_body_names_answers_as_one_that_never_was(
    spaces: Spaces, place: int, module_database_url: str
) -> None:
    method, path, sent = (_READING + _CHANGING)[place]
    before = _documents(module_database_url)
    hidden, never = (
        spaces.send("library", method, path, **sent(ids)) for ids in (spaces.secret, Ids())
    )
    assert marker(TENANT) not in hidden.text
    assert told_of(hidden, *spaces.secret.all) == told_of(never, *Ids().all)
    assert _documents(module_database_url) == before
    if place < len(_READING):
        assert marker(TENANT) in spaces.send("board", method, path, **sent(spaces.secret)).text


def _documents(url: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT to_jsonb(d) FROM documents d ORDER BY id").fetchall()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/prompts/answering_style", {"text": "Say yes."}),
        ("DELETE", "/v1/prompts/answering_style", None),
        ("POST", "/v1/prompts/answering_style/rollback", {"version": 1}),
        ("PATCH", "/v1/settings", {"model": None}),
    ],
)
def test_a_key_of_some_spaces_changes_nothing_of_the_whole_tenant(
    spaces: Spaces, method: str, path: str, body: dict[str, Any] | None
) -> None:
    assert spaces.send("all", "POST", "/v1/prompts/answering_style", json={"text": "Be brief."})
    before = spaces.send("all", "GET", "/v1/prompts/answering_style").json()
    for key in ("library", "board"):
        told = spaces.send(key, method, path, json=body)
        assert told.status_code == 403 and "whole tenant" in told.json()["error"]
    assert spaces.send("all", "GET", "/v1/prompts/answering_style").json() == before
    assert spaces.send("all", method, path, json=body).status_code == 200


def test_lists_counts_and_answers_are_of_what_may_be_read(spaces: Spaces) -> None:
    for key, own, word in (
        ("all", {spaces.open.document, spaces.secret.document}, True),
        ("library", {spaces.open.document}, False),
        ("board", {spaces.secret.document}, True),
    ):
        listed = spaces.send(key, "GET", "/v1/documents").json()
        assert ({d["id"] for d in listed["documents"]}, listed["total"]) == (own, len(own))
        assert spaces.send(key, "GET", "/v1/library").json()["total"] == len(own)
        assert set(spaces.send(key, "GET", "/v1/library/ids").json()["ids"]) == own
        stored = spaces.send(key, "GET", "/v1/privacy").json()["stored"]
        assert stored["documents"] == stored["files"] == len(own)
        answer = spaces.send(key, "POST", "/v1/query", json={"question": QUESTION, "debug": True})
        assert (marker(TENANT) in answer.text) == word, answer.text
        named = {int(n) for n in re.findall(r'"document_id":\s*(\d+)', answer.text)}
        assert named <= own
        told = spaces.send(key, "GET", "/ask", params={"q": QUESTION})
        assert (marker(TENANT) in told.text) == word
        found = spaces.send(key, "GET", "/v1/search", params={"q": "vault password refunds"})
        assert {hit["document_id"] for hit in found.json()["results"]} <= own


def test_asking_in_a_space_is_asking_its_documents_alone(spaces: Spaces) -> None:
    for key, named, word in (
        ("all", "Board", True), ("all", str(spaces.board), True), ("all", "library", False),
        ("all", "0", False), ("board", "board", True),
    ):  # fmt: skip
        for method, path, sent in (
            ("GET", "/ask", {"params": {"q": QUESTION, "space": named}}),
            ("POST", "/v1/query", {"params": {"space": named}, "json": {"question": QUESTION}}),
            ("POST", "/v1/query", {"json": {"question": QUESTION, "space": named}}),
            ("GET", "/v1/documents", {"params": {"space": named}}),
        ):
            told = spaces.send(key, method, path, **sent)
            assert told.status_code == 200, told.text
            if path == "/v1/documents":
                ids = {d["id"] for d in told.json()["documents"]}
                assert ids == {(spaces.secret if word else spaces.open).document}
            else:
                assert (marker(TENANT) in told.text) == word, (key, named, path, told.text)
    for body, status in ((spaces.board, 200), ("board", 200), ("0", 400), (0, 400)):
        told = spaces.send("all", "POST", "/v1/query", params={"space": "Board"},
                           json={"question": QUESTION, "space": body})  # fmt: skip
        assert told.status_code == status, told.text
        assert status == 200 or told.json()["error"] == "space is given twice, and not the same"
    hidden = spaces.send("library", "GET", "/ask", params={"q": QUESTION, "space": "Board"})
    never = spaces.send("library", "GET", "/ask", params={"q": QUESTION, "space": "Nobody"})
    assert (hidden.status_code, never.status_code) == (404, 404)
    assert hidden.text.replace("Board", "Nobody") == never.text


def test_a_receipt_shows_no_words_of_what_may_not_be_read(spaces: Spaces) -> None:
    asked = spaces.send("all", "POST", "/v1/query", json={"question": QUESTION}).json()
    assert marker(TENANT) in asked["answer"]
    at = f"/v1/answers/{asked['answer_id']}"
    assert marker(TENANT) in spaces.send("board", "GET", at).text
    for path in (at, f"{at}/verify"):
        told = spaces.send("library", "GET", path)
        assert told.status_code == 200 and marker(TENANT) not in told.text
    verified = spaces.send("library", "GET", f"{at}/verify").json()
    assert {one["status"] for one in verified["citations"]} == {"source deleted"}


def test_a_conversation_of_a_limited_key_is_its_own(spaces: Spaces) -> None:
    begun = spaces.send("board", "POST", "/v1/conversations", json={"title": "Board talk"})
    own = begun.json()["id"]
    sent = {"question": QUESTION, "stream": False}
    answered = spaces.send("board", "POST", f"/v1/conversations/{own}/messages", json=sent)
    assert marker(TENANT) in answered.text, answered.text
    for key in ("library", "all"):
        for path in ("", "/export", "/attachments"):
            told = spaces.send(key, "GET", f"/v1/conversations/{own}{path}")
            never = spaces.send(key, "GET", f"/v1/conversations/{NEVER}{path}")
            assert told.text.replace(own, NEVER) == never.text and told.status_code == 404
        message = answered.json()["message_id"]
        told = spaces.send(key, "GET", f"/v1/conversations/{own}/messages/{message}")
        assert told.status_code == 404 and marker(TENANT) not in told.text
        listed = spaces.send(key, "GET", "/v1/conversations").json()["conversations"]
        assert own not in {one["id"] for one in listed}
    listed = spaces.send("board", "GET", "/v1/conversations").json()["conversations"]
    assert [one["id"] for one in listed] == [own]


def test_what_one_has_lost_the_right_to_goes_from_ones_conversation(spaces: Spaces) -> None:
    begun = spaces.send("board", "POST", "/v1/conversations", json={}).json()["id"]
    at = f"/v1/conversations/{begun}"
    sent = {"question": QUESTION, "stream": False}
    told = spaces.send("board", "POST", f"{at}/messages", json=sent).json()
    message = f"{at}/messages/{told['message_id']}"
    assert marker(TENANT) in spaces.send("board", "GET", f"{message}/events").text
    place = "/v1/spaces/{}/documents"
    spaces.send("all", "POST", place.format(0), json={"move": [spaces.secret.document]})
    try:
        for path in (at, message, f"{message}/events", f"{at}/export"):
            read = spaces.send("board", "GET", path)
            assert read.status_code == 200 and marker(TENANT) not in read.text, (path, read.text)
    finally:
        moved = {"move": [spaces.secret.document]}
        spaces.send("all", "POST", place.format(spaces.board), json=moved)
    assert marker(TENANT) in spaces.send("board", "GET", message).text


def test_the_same_bytes_in_two_spaces_are_two_documents_to_who_reads_one(spaces: Spaces) -> None:
    def sent(key: str, **params: str) -> httpx.Response:
        file = {"file": ("same.txt", b"The same words in every space.")}
        return spaces.send(key, "POST", "/v1/documents", files=file, params=params)

    told = {key: sent(key).json()["documents"][0] for key in ("board", "library")}
    assert not any(one["duplicate"] for one in told.values())
    assert sent("library").json()["documents"][0]["id"] == told["library"]["id"]
    there = sent("all", space="Board").json()["documents"][0]
    assert (there["duplicate"], there["id"]) == (True, told["board"]["id"])
    for key in told:
        other = next(key_ for key_ in told if key_ != key)
        read = spaces.send(key, "GET", f"/v1/documents/{told[other]['id']}")
        never = spaces.send(key, "GET", "/v1/documents/987654321")
        assert read.text.replace(str(told[other]["id"]), "987654321") == never.text
        assert spaces.send(key, "DELETE", f"/v1/documents/{told[other]['id']}").status_code == 404
    for key, one in told.items():
        assert spaces.send(key, "DELETE", f"/v1/documents/{one['id']}").status_code == 204


def test_a_document_of_two_spaces_is_erased_by_who_reads_both(
    spaces: Spaces, module_database_url: str
) -> None:
    """The scope admin reaches no further than deleting does."""
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        made = create_key(connection, TENANT, scopes=["admin"], spaces=["Board"])
    keyed = replace(spaces, keys={**spaces.keys, "admin": made[1]})
    file = {"file": ("both.txt", b"Of the board and of the library.")}
    number = spaces.send("board", "POST", "/v1/documents", files=file).json()["documents"][0]["id"]

    def erased(key: str) -> int:
        return keyed.send(key, "POST", "/v1/erasures", json={"document_id": number}).status_code

    spaces.send("all", "POST", "/v1/spaces/0/documents", json={"add": [number]})
    assert (erased("admin"), erased("board")) == (403, 403)
    spaces.send("all", "POST", "/v1/spaces/0/documents", json={"remove": [number]})
    assert erased("admin") == 200
    assert spaces.send("all", "GET", f"/v1/documents/{number}").status_code == 404


def test_who_reads_some_spaces_makes_and_changes_none(spaces: Spaces) -> None:
    board = f"/v1/spaces/{spaces.board}"
    assert spaces.send("board", "POST", "/v1/spaces", json={"name": "Mine"}).status_code == 403
    assert spaces.send("board", "PATCH", board, json={"name": "Mine"}).status_code == 403
    assert spaces.send("board", "DELETE", board).status_code == 403
    for method, sent in (("PATCH", {"json": {"name": "Mine"}}), ("DELETE", {})):
        hidden = spaces.send("library", method, board, **sent)
        never = spaces.send("library", method, "/v1/spaces/987654321", **sent)
        assert hidden.status_code == 404
        assert hidden.text.replace(f"space {spaces.board}", "space 987654321") == never.text
    placing = {"add": [spaces.open.document]}
    refused = spaces.send("library", "POST", f"{board}/documents", json=placing)
    assert refused.status_code == 404
    hidden = spaces.send("library", "POST", "/v1/spaces/0/documents",
                         json={"add": [spaces.secret.document]}).json()  # fmt: skip
    assert "there is no document" in hidden["documents"][0]["error"]


def test_spaces_are_made_changed_listed_and_deleted(spaces: Spaces) -> None:
    made = spaces.send("all", "POST", "/v1/spaces", json={"name": " Lab ", "style": "Briefly."})
    lab = made.json()
    assert (made.status_code, lab["name"], lab["documents"]) == (201, "Lab", 0)
    for name in ("lab", "l\u200bab\u202e", "Library", "board"):  # the second looks as the first
        again = spaces.send("all", "POST", "/v1/spaces", json={"name": name})
        assert again.status_code == 409 and "there is a space" in again.text
    for name in ("", "  ", "42", "a" * 101):
        assert spaces.send("all", "POST", "/v1/spaces", json={"name": name}).status_code == 400
    at = f"/v1/spaces/{lab['id']}"
    for name in ("board", "Library", " library"):
        taken = spaces.send("all", "PATCH", at, json={"name": name})
        assert taken.status_code == 409 and "there is a space" in taken.text
    own = spaces.send("all", "PATCH", "/v1/spaces/0", json={"name": "Library"})
    assert own.status_code == 200, own.text
    changed = spaces.send("all", "PATCH", at, json={"name": "Laboratory", "everyone": True}).json()
    assert (changed["name"], changed["everyone"], changed["style"]) == (
        "Laboratory",
        True,
        "Briefly.",
    )
    both = spaces.send("all", "POST", f"{at}/documents", json={"add": [spaces.open.document]})
    assert both.json()["failed"] == 0
    names = [s["name"] for s in spaces.send("all", "GET", "/v1/spaces").json()["spaces"]]
    assert names == ["Library", "Board", "Laboratory"]
    counts = {s["name"]: s["documents"] for s in
              spaces.send("all", "GET", "/v1/spaces").json()["spaces"]}  # fmt: skip
    assert counts == {"Library": 1, "Board": 1, "Laboratory": 1}
    assert [s["name"] for s in spaces.send("board", "GET", "/v1/spaces").json()["spaces"]] == [
        "Board"
    ]
    moved = spaces.send("all", "POST", f"{at}/documents", json={"move": [spaces.open.document]})
    assert moved.json()["failed"] == 0
    kept = spaces.send("all", "DELETE", at)
    assert kept.status_code == 409 and "stand in no other space: 1" in kept.text
    alone = spaces.send("all", "POST", f"{at}/documents", json={"remove": [spaces.open.document]})
    assert "it stands in no other space" in alone.json()["documents"][0]["error"]
    spaces.send("all", "POST", "/v1/spaces/0/documents", json={"add": [spaces.open.document]})
    assert spaces.send("all", "DELETE", at).status_code == 204
    assert spaces.send("all", "DELETE", at).status_code == 404
    assert spaces.send("all", "DELETE", "/v1/spaces/0").status_code == 400
    listed = spaces.send("library", "GET", "/v1/documents").json()["documents"]
    assert {d["id"] for d in listed} == {spaces.open.document}


def test_a_key_of_a_deleted_space_opens_nothing(spaces: Spaces, module_database_url: str) -> None:
    made = spaces.send("all", "POST", "/v1/spaces", json={"name": "Short"}).json()
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        _, secret = create_key(connection, TENANT, spaces=[str(made["id"])])
    headers = {"Authorization": f"Bearer {secret}"}
    assert spaces.send("all", "DELETE", f"/v1/spaces/{made['id']}").status_code == 204
    listed = spaces.client.get("/v1/documents", headers=headers).json()
    assert (listed["documents"], listed["total"]) == ([], 0)
    file = {"file": ("n.txt", b"words")}
    assert spaces.client.post("/v1/documents", headers=headers, files=file).status_code == 403


def test_without_keys_nobody_notices(module_database_url: str) -> None:
    with live(module_database_url) as client:
        told = client.get("/v1/spaces", params={"tenant_id": "quiet"}).json()["spaces"]
        assert [(s["id"], s["name"], s["everyone"]) for s in told] == [(0, "Library", True)]
        sent = upload(client, b"words of nobody", "n.txt", tenant_id="quiet").json()
        listed = client.get("/v1/documents", params={"tenant_id": "quiet"}).json()
        assert {d["id"] for d in listed["documents"]} == {sent["documents"][0]["id"]}
        client.delete(f"/v1/documents/{sent['documents'][0]['id']}", params={"tenant_id": "quiet"})
