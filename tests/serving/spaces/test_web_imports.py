"""Pages of the web that come into spaces: whose documents they are, and who sees them come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key
from helix.library.spaces import add_space
from helix.settings import load_settings
from pipelines.runs.worker import open_worker
from tests.support.live_server import OFFLINE, live, upload
from tests.support.server_processes import website
from tests.support.web_site import Answer, Website, links, page

pytestmark = pytest.mark.processes

TENANT = "alpha"
NEVER = 987654321


@dataclass(frozen=True)
class Imports:
    """A server with keys for the spaces Library, Board and both, one for all, and a site."""

    url: str
    site: Website
    clients: dict[str, httpx.Client]
    board: int
    lab: int

    def ask(self, key: str, path: str = "/docs/", kind: str = "url", **more: Any) -> int:
        """Have a page, or a site from it on, brought in; the run."""
        params = more.pop("params", None)
        sent = {"url": self.site.url(path), **more}
        told = self.clients[key].post(f"/v1/documents/{kind}", json=sent, params=params)
        assert told.status_code == 202, told.text
        return int(told.json()["run_id"])

    def work(self) -> None:
        """Carry out the runs that there are."""

        async def until_idle() -> None:
            settings = load_settings(
                database_url=self.url, allow_hosts=(self.site.host,), **OFFLINE
            )
            async with open_worker(settings, until_idle=True) as (_, attending):
                await asyncio.wait_for(attending, 110)

        asyncio.run(until_idle())

    def bring(self, key: str, path: str = "/docs/", kind: str = "url", **more: Any) -> Any:
        """The run of ``ask``, at its end."""
        run = self.ask(key, path, kind, **more)
        self.work()
        return self.clients[key].get(f"/v1/runs/{run}").json()

    def own(self, key: str) -> dict[int, str]:
        """The documents that a key reads, by their ids with their texts."""
        rows = self.clients[key].get("/v1/documents").json()["documents"]
        read = (self.clients[key].get(f"/v1/documents/{row['id']}").json() for row in rows)
        return {one["id"]: one["text"] for one in read}

    def spaces_of(self, document: int) -> list[int]:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT spaces FROM documents WHERE id = %s", (document,))
            return list(row.fetchone()[0])  # type: ignore[index]

    def place(self, document: int, **verb: int) -> None:
        for name, space in verb.items():
            told = self.clients["all"].post(
                f"/v1/spaces/{space}/documents", json={name: [document]}
            )
            assert told.json()["failed"] == 0, told.text


@pytest.fixture
def imports(database_url: str) -> Iterator[Imports]:
    routes = {
        "/docs/": page("Guide", f"The guide has three parts. {links('/docs/a', '/docs/b')}"),
        "/docs/a": page("Part A", "The first part is about ropes."),
        "/docs/b": page("Part B", "The second part is about knots."),
    }
    with psycopg.connect(database_url, autocommit=True) as connection:
        board, lab = (add_space(connection, TENANT, name) for name in ("Board", "Lab"))
        only = {"all": None, "library": ["Library"], "board": ["Board"], "two": ["Board", "Lab"]}
        keys = {
            name: create_key(connection, TENANT, scopes=KEY_SCOPES, spaces=spaces)[1]
            for name, spaces in only.items()
        }
    with website(dict(routes)) as site, live(database_url, auth="keys") as client:
        clients = {
            name: httpx.Client(base_url=client.base_url, timeout=60,
                               headers={"Authorization": f"Bearer {key}"})
            for name, key in keys.items()
        }  # fmt: skip
        yield Imports(database_url, site, clients, board, lab)
        for each in clients.values():
            each.close()


def test_a_page_stands_in_the_space_of_who_brings_it_in_and_is_theirs_alone(
    imports: Imports,
) -> None:
    run = imports.ask("board", tags=["ours"], metadata={"year": 2024})
    board, library = imports.clients["board"], imports.clients["library"]
    assert board.get(f"/v1/runs/{run}").json()["status"] == "queued"
    assert [row["id"] for row in board.get("/v1/runs").json()["runs"]] == [run]
    hidden, never = library.get(f"/v1/runs/{run}"), library.get(f"/v1/runs/{NEVER}")
    assert (hidden.status_code, hidden.text) == (404, never.text.replace(str(NEVER), str(run)))
    assert library.post(f"/v1/runs/{run}/cancel").status_code == 404
    assert library.get("/v1/runs").json()["runs"] == []
    imports.work()
    ended = board.get(f"/v1/runs/{run}").json()
    assert (ended["status"], ended["counts"]) == ("done", {"added": 1})
    ((document, text),) = imports.own("board").items()
    assert "three parts" in text and imports.spaces_of(document) == [imports.board]
    told = board.get(f"/v1/documents/{document}").json()
    assert (told["tags"], told["metadata"]) == (["ours"], {"year": 2024})
    assert told["source_uri"].startswith(imports.site.url("/docs/"))
    assert library.get(f"/v1/runs/{run}").status_code == 404
    assert imports.own("library") == {}

    assert imports.bring("library")["counts"] == {"added": 1}
    ((other, _),) = imports.own("library").items()
    assert other != document and imports.spaces_of(other) == [0]
    imports.site.routes["/docs/"] = page("Guide", "The guide has four parts.")
    assert imports.bring("library")["counts"] == {"replaced": 1}
    assert "four parts" in imports.own("library")[other]
    assert "three parts" in imports.own("board")[document]
    assert imports.bring("board")["counts"] == {"replaced": 1}
    assert imports.own("board").keys() == {document}
    assert imports.bring("board")["counts"] == {"unchanged": 1}


def test_a_site_comes_into_a_space_page_by_page(imports: Imports) -> None:
    ended = imports.bring("board", kind="crawl", pages=3)
    assert (ended["kind"], ended["counts"]) == ("crawl", {"added": 3})
    own = imports.own("board")
    assert all(imports.spaces_of(document) == [imports.board] for document in own)
    assert imports.own("library") == {}
    assert imports.bring("board", kind="crawl", pages=3)["counts"] == {"unchanged": 3}
    found = imports.clients["board"].get("/v1/search", params={"q": "ropes"}).json()["results"]
    assert found[0]["document_id"] in own
    assert imports.clients["library"].get("/v1/search?q=ropes").json()["results"] == []


def test_the_space_is_named_or_the_first_that_one_may_edit(imports: Imports) -> None:
    imports.bring("two", params={"space": "Lab"})
    ((document, _),) = imports.own("two").items()
    assert imports.spaces_of(document) == [imports.lab]
    assert imports.bring("two")["counts"] == {"unchanged": 1}  # it is the same document
    assert sorted(imports.spaces_of(document)) == [imports.board, imports.lab]
    page_of = {"url": imports.site.url("/docs/a")}
    for key, space, status in (("board", "Lab", 404), ("board", "Library", 404)):
        told = imports.clients[key].post("/v1/documents/url", json=page_of, params={"space": space})
        assert told.status_code == status, told.text
    imports.bring("all", "/docs/a", params={"space": "Board"})
    found = set(imports.own("board")) - {document}
    assert [imports.spaces_of(one) for one in found] == [[imports.board]]


def test_what_one_may_not_change_is_another_document(imports: Imports) -> None:
    """A page that went out of sight, one that stands elsewhere too, one that was uploaded."""
    imports.bring("board")
    ((document, text),) = imports.own("board").items()
    imports.place(document, move=imports.lab)
    imports.site.routes["/docs/"] = page("Guide", "The guide has five parts.")
    assert imports.bring("board")["counts"] == {"added": 1}
    ((second, words),) = imports.own("board").items()
    assert second != document and "five parts" in words
    assert imports.own("all")[document] == text and imports.spaces_of(document) == [imports.lab]

    imports.place(second, add=imports.lab)
    ended = imports.bring("board", tags=["mine"])
    assert ended["counts"] == {"unchanged": 1}  # the same bytes are the document that they read
    assert imports.clients["board"].get(f"/v1/documents/{second}").json()["tags"] == []
    imports.site.routes["/docs/"] = page("Guide", "The guide has six parts.")
    assert imports.bring("board")["counts"] == {"added": 1}
    assert "five parts" in imports.own("all")[second]

    answer = imports.site.routes["/docs/b"]
    assert isinstance(answer, Answer)
    told = upload(imports.clients["all"], answer.body, "b.html", space="Lab").json()
    imports.work()
    (hidden,) = told["documents"]
    before = set(imports.own("library"))
    assert imports.bring("library", "/docs/b")["counts"] == {"added": 1}
    assert hidden["id"] not in imports.own("library").keys() - before
    assert imports.spaces_of(hidden["id"]) == [imports.lab]


def test_a_page_is_read_again_and_removed_by_who_may_change_it(imports: Imports) -> None:
    imports.bring("board")
    imports.bring("all")  # the library's, by its address alone
    ((mine, _),) = imports.own("board").items()
    ((plain, _),) = imports.own("library").items()
    imports.site.routes["/docs/"] = page("Guide", "The guide has seven parts.")

    def reread(key: str, *ids: int) -> Any:
        sent = {"action": "reread", "ids": list(ids)}
        return imports.clients[key].post("/v1/documents/batch", json=sent).json()

    told = reread("board", mine, plain)
    assert [(one["id"], one["error"] is None) for one in told["documents"]] == [
        (mine, True), (plain, False),
    ]  # fmt: skip
    (run,) = told["runs"]
    assert imports.clients["board"].get(f"/v1/runs/{run}").status_code == 200
    assert imports.clients["library"].get(f"/v1/runs/{run}").status_code == 404
    imports.work()
    assert "seven parts" in imports.own("board")[mine]
    assert "three parts" in imports.own("library")[plain]
    imports.site.routes["/docs/"] = page("Guide", "The guide has eight parts.")
    assert len(reread("all", mine)["runs"]) == 1  # the one that is meant, not its namesake
    imports.work()
    assert "eight parts" in imports.own("board")[mine]
    assert "three parts" in imports.own("library")[plain]
    assert imports.clients["library"].delete(f"/v1/documents/{mine}").status_code == 404
    assert imports.clients["board"].delete(f"/v1/documents/{mine}").status_code == 204
    assert imports.own("library").keys() == {plain}


def test_a_run_ends_where_whoever_asked_for_it_may_not_edit_the_space_any_more(
    imports: Imports,
) -> None:
    lost = [imports.ask("board"), imports.ask("two", params={"space": "Lab"})]
    kept = imports.ask("two", "/docs/a", params={"space": "Board"})
    with psycopg.connect(imports.url, autocommit=True) as connection:
        keys = "UPDATE api_keys SET space_ids = %s::bigint[] WHERE space_ids = %s::bigint[]"
        connection.execute(keys, ([0], [imports.board]))
        connection.execute(keys, ([imports.board], [imports.board, imports.lab]))
    imports.work()
    for run in lost:
        ended = imports.clients["all"].get(f"/v1/runs/{run}").json()
        assert (ended["status"], ended["counts"]) == ("failed", {})
        assert "may not put documents into the space any more" in ended["error"]
    assert imports.clients["two"].get(f"/v1/runs/{kept}").json()["counts"] == {"added": 1}
    assert len(imports.own("all")) == 1


def test_a_page_that_fails_is_told_to_those_of_the_space_alone(imports: Imports) -> None:
    ended = imports.bring("board", "/docs/gone")
    assert ended["counts"] == {"failed": 1} and "404" in ended["files"][0]["reason"]
    assert imports.clients["library"].get(f"/v1/runs/{ended['id']}").status_code == 404
    run = imports.ask("board", "/docs/a")
    told = imports.clients["board"].post(f"/v1/runs/{run}/cancel")
    assert told.status_code == 200, told.text
