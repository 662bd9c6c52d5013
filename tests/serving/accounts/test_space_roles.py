"""Roles in spaces: its editor changes the documents of a space and no other, its reader none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.spaces import Member, let_in
from helix.serving.key_scopes import IN_SPACES, NEEDED
from tests.serving.accounts.conftest import Accounts, email_of
from tests.support.live_server import end_run, upload
from tests.support.tenant_requests import ROUTES, Ids, path_of

WRITES = [
    route for route, scope in NEEDED.items() if scope in ("write", "admin") and route[0] != "GET"
]

BRING_IN = {
    ("POST", f"/v1/documents{kind}") for kind in ("", "/samples", "/url", "/crawl")
}  # fmt: skip
"""Routes that change no document that there is."""


@dataclass
class Team:
    """Ada, an owner, and Cat, a reader of the tenant, who was given the space Board, not Lab.

    ``documents`` stand in the library, which is everybody's, in Board, in both, and in Lab.
    """

    accounts: Accounts
    ada: httpx.Client
    cat: httpx.Client
    spaces: dict[str, int]
    documents: dict[str, int]
    runs: dict[str, int]

    def give(self, role: str, who: str = "cat", space: str = "board") -> httpx.Response:
        at = f"/v1/spaces/{self.spaces[space]}/members/people/{self.person(who)}"
        return self.ada.put(at, json={"role": role})

    def person(self, name: str) -> int:
        ((number,),) = self.accounts.sql("SELECT id FROM people WHERE email = %s", email_of(name))
        assert isinstance(number, int)
        return number

    def rows(self) -> list[Any]:
        return self.accounts.sql("SELECT to_jsonb(d) FROM documents d ORDER BY id")

    def place(self, browser: httpx.Client, space: str, **documents: list[int]) -> httpx.Response:
        return browser.post(f"/v1/spaces/{self.spaces[space]}/documents", json=documents)


@pytest.fixture
def team(accounts: Accounts) -> Team:
    ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
    spaces = {
        name: ada.post("/v1/spaces", json={"name": name}).json()["id"] for name in ("board", "lab")
    } | {"library": 0}
    documents, runs = {}, {}
    for name in ("library", "board", "both", "lab"):
        told = upload(ada, f"Words of {name}.".encode(), f"{name}.txt").json()
        documents[name], runs[name] = told["documents"][0]["id"], told["run_id"]
        with psycopg.connect(accounts.url, autocommit=True) as connection:
            end_run(connection, told["run_id"])
    made = Team(accounts, ada, cat, spaces, documents, runs)
    for name, verb in (("board", "move"), ("lab", "move")):
        assert made.place(ada, name, **{verb: [documents[name]]}).json()["failed"] == 0
    assert made.place(ada, "board", add=[documents["both"]]).json()["failed"] == 0
    return made


def _sent(team: Team, browser: httpx.Client, route: tuple[str, str], document: str) -> Any:
    ids = Ids(document=team.documents[document], run=team.runs[document], space=0)
    return browser.request(route[0], path_of(route[1], ids), **ROUTES[route](ids))


@pytest.mark.parametrize("role", [None, "reader"])
def test_a_reader_of_a_space_changes_nothing_by_any_route(team: Team, role: str | None) -> None:
    if role:
        assert team.give(role).status_code == 200
    before = team.rows()
    for document in team.documents:
        for route in WRITES:
            told = _sent(team, team.cat, route, document)
            assert told.status_code == 403, (route, document, told.text)
            assert f"lacks the scope {NEEDED[route]}" in told.json()["error"]
    assert team.rows() == before


def test_an_editor_of_a_space_changes_the_documents_of_it_alone(team: Team) -> None:
    assert team.give("editor").status_code == 200
    before = team.rows()
    elsewhere = [route for route in WRITES if route not in IN_SPACES]
    for document in ("library", "both", "lab"):
        for route in elsewhere:
            assert _sent(team, team.cat, route, document).status_code == 403, route
        for route in IN_SPACES - BRING_IN:
            told = _sent(team, team.cat, route, document)
            if route[1] == "/v1/documents/batch":
                told = told.json()
                assert (told["done"], told["failed"]) == (0, 1), (route, document)
            else:
                assert told.status_code in (403, 404), (route, document, told.text)
    assert team.rows() == before
    for number, name in ((403, "both"), (403, "library"), (404, "lab")):
        told = team.cat.delete(f"/v1/documents/{team.documents[name]}")
        assert told.status_code == number, told.text
        listed = team.cat.get("/v1/documents").json()["documents"]
    assert {row["id"] for row in listed} == {
        team.documents[name] for name in ("library", "board", "both")
    }


def test_an_editor_of_a_space_adds_changes_and_removes_its_documents(team: Team) -> None:
    team.give("editor")
    own, cat = team.documents["board"], team.cat
    for route, path, sent in (
        ("PATCH", f"/v1/documents/{own}", {"json": {"title": "Minutes", "tags": ["kept"]}}),
        ("POST", "/v1/documents/metadata", {"json": {"ids": [own], "metadata": {"year": 2024}}}),
        ("POST", f"/v1/documents/{own}/reingest", {}),
        ("POST", "/v1/documents/batch", {"json": {"action": "label", "ids": [own], "add": ["b"]}}),
    ):
        told = cat.request(route, path, **sent)
        assert told.status_code in (200, 202), told.text
        assert told.json().get("failed", 0) == 0
    run = cat.post(f"/v1/documents/{own}/reingest").json()["run_id"]
    assert cat.post(f"/v1/runs/{run}/cancel").status_code == 200
    told = cat.get(f"/v1/documents/{own}").json()
    assert (told["title"], told["tags"], told["metadata"]) == (
        "Minutes", ["kept", "b"], {"year": 2024},
    )  # fmt: skip

    new = upload(cat, b"Words that nobody has.", "new.txt").json()["documents"][0]["id"]
    assert _spaces(team, new) == [team.spaces["board"]]
    for space in ("library", "0"):
        assert upload(cat, b"More words.", "more.txt", space=space).status_code == 403
    assert cat.delete(f"/v1/documents/{new}").status_code == 204


def test_an_editor_of_a_space_brings_pages_of_the_web_into_it_alone(team: Team) -> None:
    team.give("editor")
    team.give("reader", space="lab")
    for route in ("url", "crawl"):
        sent = {"url": f"https://example.com/{route}"}
        at = f"/v1/documents/{route}"
        run = team.cat.post(at, json=sent).json()["run_id"]
        assert team.cat.get(f"/v1/runs/{run}").json()["url"] == sent["url"]
        for space in ("library", "lab"):
            told = team.cat.post(at, json=sent, params={"space": team.spaces[space]})
            assert told.status_code == 403, told.text
        assert team.cat.post(f"/v1/runs/{run}/cancel").status_code == 200
        into_lab = team.ada.post(at, json=sent, params={"space": team.spaces["lab"]}).json()
        assert team.cat.get(f"/v1/runs/{into_lab['run_id']}").status_code == 200  # as its reader
        assert team.cat.post(f"/v1/runs/{into_lab['run_id']}/cancel").status_code == 403
        everywhere = team.ada.post(at, json={**sent, "url": "https://example.com/"}).json()
        assert team.cat.get(f"/v1/runs/{everywhere['run_id']}").status_code == 404


def _spaces(team: Team, document: int) -> Any:
    ((found,),) = team.accounts.sql("SELECT spaces FROM documents WHERE id = %s", document)
    return found


def test_an_editor_of_a_space_puts_and_takes_its_documents(team: Team) -> None:
    team.give("editor")
    board, documents = team.spaces["board"], team.documents
    told = team.place(team.cat, "library", add=[documents["board"]])
    assert told.status_code == 403, told.text
    assert team.place(team.cat, "lab", add=[documents["board"]]).status_code == 404
    assert team.place(team.cat, "board", add=[documents["lab"]]).json()["failed"] == 1
    assert team.place(team.cat, "board", move=[documents["library"]]).json()["failed"] == 0
    assert sorted(_spaces(team, documents["library"])) == [0, board]  # no editor of the library
    for name in ("library", "both"):
        assert team.place(team.cat, "board", remove=[documents[name]]).json()["failed"] == 0
        assert _spaces(team, documents[name]) == [0]


def test_the_bytes_of_what_one_may_only_read_are_another_document(team: Team) -> None:
    team.give("editor")
    words = {"tags": "mine", "metadata": '{"mine": 1}'}
    told = upload(team.cat, b"Words of library.", "library.txt", **words).json()["documents"][0]
    assert not told["duplicate"] and told["id"] != team.documents["library"]
    told = upload(team.cat, b"Words of both.", "both.txt", **words).json()["documents"][0]
    assert told["duplicate"] and told["id"] == team.documents["both"]
    kept = team.cat.get(f"/v1/documents/{team.documents['both']}").json()
    assert (kept["tags"], kept["metadata"]) == ([], {})  # it stands in the library too


def test_bytes_that_went_out_of_sight_are_not_found_by_their_name(team: Team) -> None:
    team.give("editor", space="library")
    told = upload(team.cat, b"Words of lab.", "lab.txt").json()["documents"][0]
    assert not told["duplicate"] and told["id"] != team.documents["lab"]
    assert _spaces(team, told["id"]) == [0]
    assert team.cat.get(f"/v1/documents/{told['id']}").status_code == 200


def test_metadata_by_a_filter_is_of_ones_own_documents(team: Team) -> None:
    team.give("editor")
    told = team.cat.post("/v1/documents/metadata?q=txt", json={"metadata": {"mine": 1}}).json()
    assert told == {"matched": 1, "changed": 1}


def test_an_editor_of_the_tenant_changes_what_is_everybodys(team: Team) -> None:
    bob = team.accounts.signed_in("bob")
    team.give("reader", "bob")
    told = {
        name: bob.patch(f"/v1/documents/{number}", json={"title": "Other"}).status_code
        for name, number in team.documents.items()
    }
    assert told == {"library": 200, "board": 403, "both": 403, "lab": 404}
    edits = {one["name"]: one["edits"] for one in bob.get("/v1/spaces").json()["spaces"]}
    assert edits == {"Library": True, "board": False}
    assert all(one["edits"] for one in team.ada.get("/v1/spaces").json()["spaces"])


def test_a_source_is_brought_in_step_by_who_edits_all_its_spaces(team: Team) -> None:
    """Its sync may remove documents, and bring back what was deleted."""
    bob = team.accounts.signed_in("bob")
    new = {"name": "site", "kind": "web", "address": "https://example.com/", "paused": True,
           "spaces": [team.spaces["board"], 0]}  # fmt: skip
    made = team.ada.post("/v1/sources", json=new)
    assert made.status_code == 201, made.text
    at = f"/v1/sources/{made.json()['id']}"
    assert bob.post(f"{at}/sync", json={"yes": True}).status_code == 404
    for role, status in (("reader", 403), ("editor", 202)):
        team.give(role, "bob")
        assert bob.get(at).status_code == 200
        assert bob.post(f"{at}/sync", json={"yes": True}).status_code == status


def test_a_token_of_an_editor_of_a_space_writes_there_alone(team: Team) -> None:
    refused = team.cat.post("/v1/account/tokens", json={"scopes": ["write"]})
    assert refused.status_code == 403
    team.give("editor")
    assert "write" in team.cat.get("/v1/session").json()["scopes"]
    reads, writes = (
        team.cat.post("/v1/account/tokens", json={"scopes": scopes}).json()["token"]
        for scopes in (["read"], ["read", "write"])
    )
    for token, codes in ((reads, (403, 403, 403)), (writes, (200, 403, 403))):
        program = httpx.Client(
            base_url=team.accounts.address, headers={"Authorization": f"Bearer {token}"}
        )
        own, other = (f"/v1/documents/{team.documents[name]}" for name in ("board", "library"))
        found = (
            program.patch(own, json={"title": "T"}),
            program.patch(other, json={"title": "T"}),
            program.post("/v1/prompts/judge", json={"text": "Be kind."}),
        )
        assert tuple(each.status_code for each in found) == codes


@pytest.mark.parametrize("lost", ["space", "account", "role"])
def test_who_follows_the_library_is_let_go_with_the_right(team: Team, lost: str) -> None:
    team.give("editor")
    with team.cat.stream("GET", "/v1/library/events") as followed:
        lines = followed.iter_lines()
        assert '"documents":3' in next(line for line in lines if line.startswith("data:"))
        if lost == "space":
            at = f"/v1/spaces/{team.spaces['board']}/members/people/{team.person('cat')}"
            assert team.ada.delete(at).status_code == 200
        elif lost == "role":
            team.give("reader")  # whose page shows no tools that are refused
        else:
            team.accounts.sql("UPDATE people SET disabled_at = now() WHERE email = %s",
                              email_of("cat"))  # fmt: skip
        assert not [line for line in lines if line.startswith("data:")]  # it ends


# --- members of a space over HTTP


def _members(browser: httpx.Client, space: int) -> dict[str, str]:
    told = browser.get(f"/v1/spaces/{space}/members").json()
    return {one["name"]: one["role"] for one in told["members"]}


def test_members_of_a_space_are_given_changed_listed_and_taken(team: Team) -> None:
    board, ada = team.spaces["board"], team.ada
    group = ada.post("/v1/groups", json={"name": "research"}).json()["id"]
    at = f"/v1/spaces/{board}/members"
    assert team.give("reader").json() == {"role": "reader"}
    assert ada.put(f"{at}/groups/{group}", json={"role": "editor"}).status_code == 200
    assert _members(ada, board) == {"Cat": "reader", "research": "editor"}
    team.give("editor")
    assert _members(team.cat, board) == {"Cat": "editor", "research": "editor"}
    assert ada.delete(f"{at}/groups/{group}").status_code == 200
    assert ada.delete(f"{at}/groups/{group}").status_code == 404
    for path, body, code in (
        (f"{at}/people/987654321", {"role": "reader"}, 404),
        (f"{at}/people/{team.person('eve')}", {"role": "reader"}, 404),  # no member of the tenant
        (f"{at}/groups/987654321", {"role": "reader"}, 404),
        (f"{at}/people/{team.person('cat')}", {"role": "owner"}, 422),
        (f"{at}/people/{team.person('cat')}", {"role": "reader", "tenant": "beta"}, 422),
        ("/v1/spaces/987654321/members/people/1", {"role": "reader"}, 404),
    ):
        told = ada.put(path, json=body)
        assert told.status_code in (code, 400 if code == 422 else code), told.text
    assert team.cat.get(f"/v1/spaces/{team.spaces['lab']}/members").status_code == 404
    ada.delete(f"{at}/people/{team.person('cat')}")
    assert team.cat.get(at).status_code == 404
    assert "kind" not in team.accounts.signed_in("dan").get(at).text


def test_an_editor_of_a_space_lets_readers_in_and_owners_make_editors(team: Team) -> None:
    board = team.spaces["board"]
    bob = f"/v1/spaces/{board}/members/people/{team.person('bob')}"
    cat = f"/v1/spaces/{board}/members/people/{team.person('cat')}"
    team.give("reader")
    assert team.cat.put(bob, json={"role": "reader"}).status_code == 403
    assert not team.cat.get(f"/v1/spaces/{board}/members").json()["manages"]
    team.give("editor")
    assert team.cat.get(f"/v1/spaces/{board}/members").json()["manages"]
    assert team.cat.put(bob, json={"role": "reader"}).status_code == 200
    assert team.cat.put(bob, json={"role": "editor"}).status_code == 403
    assert team.cat.delete(cat).status_code == 403
    assert team.cat.put(cat, json={"role": "reader"}).status_code == 403
    assert team.cat.delete(bob).status_code == 200
    everybody = f"/v1/spaces/0/members/people/{team.person('cat')}"
    assert team.accounts.signed_in("bob").put(everybody, json={"role": "reader"}).status_code == 403


def test_a_role_in_a_space_comes_by_a_group_too(team: Team) -> None:
    team.accounts.sql("INSERT INTO groups (tenant_id, name) VALUES ('acme', 'research')")
    team.accounts.sql(
        "INSERT INTO group_members SELECT 'acme', g.id, p.id FROM groups g, people p"
        " WHERE p.email = %s", email_of("cat"),
    )  # fmt: skip
    with psycopg.connect(team.accounts.url, autocommit=True) as connection:
        let_in(connection, "acme", team.spaces["board"], Member(group="research"), "editor")
    own = f"/v1/documents/{team.documents['board']}"
    assert team.cat.patch(own, json={"title": "T"}).status_code == 200
    team.accounts.sql("DELETE FROM group_members")
    assert team.cat.patch(own, json={"title": "T"}).status_code == 403
