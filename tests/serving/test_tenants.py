"""Three tenants over HTTP: on no route does one learn anything of another.

``ROUTES`` has a request of every route; a route that is not in it fails a test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from helix.app import create_app
from helix.library.keys import KEY_SCOPES, create_key
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.serving.authentication import ApiRoute
from helix.settings import Settings, load_settings
from tests.support.live_server import OFFLINE, live
from tests.support.sample_documents import pdf
from tests.support.tenant_requests import (
    ASKING,
    BY_ID,
    OPEN,
    QUESTION,
    ROUTES,
    Ids,
    line_of,
    naming,
    told_of,
)
from tests.support.tenants import TENANTS, World, bring_in, marker, texts_of


@pytest.fixture(scope="module")
def settings(module_database_url: str) -> Settings:
    return load_settings(database_url=module_database_url, **OFFLINE)


@pytest.fixture(scope="module")
def embedder(settings: Settings) -> Embedder:
    return build_embedder(settings)


@pytest.fixture(scope="module")
def off(module_database_url: str, embedder: Embedder) -> Iterator[World]:
    with live(module_database_url) as client:
        brought = {
            tenant: {
                uri: bring_in(client, module_database_url, embedder, tenant, uri, text)
                for uri, text in texts_of(tenant).items()
            }
            for tenant in TENANTS
        }
        yield World(
            client,
            {},
            {tenant: found["secret"] for tenant, found in brought.items()},
            {tenant: {ids.document for ids in found.values()} for tenant, found in brought.items()},
            {tenant: {ids.run for ids in found.values()} for tenant, found in brought.items()},
        )


@pytest.fixture(scope="module")
def keyed(module_database_url: str, off: World) -> Iterator[World]:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        keys = {t: create_key(connection, t, scopes=KEY_SCOPES)[1] for t in TENANTS}
    with live(module_database_url, auth="keys") as client:
        yield World(client, keys, off.ids, off.documents, off.runs)


WALLED = ("files", "documents", "chunks", "chunk_terms", "term_counts", "term_changes", "runs",
          "run_files", "answers", "feedback", "document_pages", "document_tables",
          "document_sources", "suggested_questions", "conversations", "messages",
          "message_events")  # fmt: skip


@pytest.fixture(params=["keys", "off", "off and no policies"])
def world(
    request: pytest.FixtureRequest, off: World, keyed: World, module_database_url: str
) -> Iterator[World]:
    """Without policies there are only the conditions of the statements, which must do too."""
    if request.param != "off and no policies":
        yield keyed if request.param == "keys" else off
        return
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        switch = "; ".join(f"ALTER TABLE {table} {{0}} ROW LEVEL SECURITY" for table in WALLED)
        connection.execute(switch.format("DISABLE"))
        yield off
        connection.execute(switch.format("ENABLE"))


CHANGEABLE = ("documents", "runs", "run_files", "files", "chunk_terms", "api_keys", "feedback",
              "conversations", "messages", "message_events")  # fmt: skip


def _stored(url: str) -> list[Any]:
    """All that a request could change, but a key's last use, which is written a second later."""
    with psycopg.connect(url) as connection:
        return [
            connection.execute(
                f"SELECT to_jsonb(t) - 'used_at' FROM {table} t ORDER BY 1"
            ).fetchall()
            for table in CHANGEABLE
        ]


def test_every_route_is_in_the_table_and_authenticates(settings: Settings) -> None:
    contexts = list(iter_route_contexts(create_app(settings).routes))
    found = {
        (method, context.path): isinstance(context.original_route, ApiRoute)
        for context in contexts
        if isinstance(context.original_route, APIRoute)
        for method in context.methods or ()
    }
    assert found == dict.fromkeys(ROUTES, True) | dict.fromkeys(OPEN, False)
    others = {c.path for c in contexts if not isinstance(c.original_route, APIRoute)}
    assert others == {
        "/", "/web/{path:path}", "/openapi.json", "/docs", "/redoc",
        "/mcp", "/.well-known/oauth-protected-resource/mcp",  # tests/protocols/test_mcp.py
    }  # fmt: skip


def test_anothers_id_answers_as_one_that_never_was(world: World, module_database_url: str) -> None:
    """Each route by one tenant with the ids of the next; neighbouring routes by different ones."""
    before = _stored(module_database_url)
    for place, route in enumerate(BY_ID):
        tenant, other = (TENANTS[(place + step) % 3] for step in (0, 1))
        theirs = world.ids[other]
        foreign, never = world.send(tenant, route, theirs), world.send(tenant, route)
        assert told_of(foreign, *theirs.all) == told_of(never, *Ids().all), route
        assert marker(other) not in foreign.text, route
    assert _stored(module_database_url) == before


@pytest.mark.parametrize("tenant", TENANTS[::2])
def test_what_a_tenant_reads_is_its_own(world: World, tenant: str) -> None:
    ids, own = world.ids[tenant], world.documents[tenant]
    # a report of evals is of the machine, and need not be there: test_privacy.py has it
    reads = [
        r
        for r in ROUTES
        if (r[0] == "GET" or r[1] in ASKING)
        and r[1] != "/v1/evals/last"
        and "/attachments/{document_id}" not in r[1]  # nothing is attached
        and not r[1].endswith("/{attempt_id}")  # it is of the learner without a key
    ]
    for route in reads:
        answer = world.send(tenant, route, ids)
        assert answer.status_code in (200, 204), (route, answer.text)
        assert not [other for other in TENANTS if other != tenant and marker(other) in answer.text]
    listed = world.send(tenant, ("GET", "/v1/documents")).json()
    assert ({d["id"] for d in listed["documents"]}, listed["total"]) == (own, len(own))
    assert {d["chunks"] for d in listed["documents"]} <= {1, 2}
    runs = world.send(tenant, ("GET", "/v1/runs")).json()["runs"]
    assert ({run["id"] for run in runs}, len(runs)) == (world.runs[tenant], len(own))
    assert {run["total"] for run in runs} == {1}
    read = world.send(tenant, ("GET", "/v1/documents/{document_id}"), ids).json()
    assert len(read["chunks"]) == 2 and marker(tenant) in read["text"]
    chunk = world.send(tenant, ("GET", "/v1/chunks/{chunk_id}"), ids).json()
    assert (chunk["previous"], chunk["next"]) == (None, read["chunks"][1]["id"])


def _listed(world: World, tenant: str, **params: object) -> int:
    found = world.send(tenant, ("GET", "/v1/documents"), params=dict(params) | _who(world, tenant))
    assert found.json()["total"] == len(found.json()["documents"])
    return len(found.json()["documents"])


def _who(world: World, tenant: str) -> dict[str, str]:
    return {} if world.keys else {"tenant_id": tenant}


def test_lists_that_are_searched_and_filtered_are_the_tenants_own(world: World) -> None:
    for number, tenant in enumerate(TENANTS):
        assert _listed(world, tenant, q="secret") == 1
        assert _listed(world, tenant, tag="shared") == number + 2
        assert _listed(world, tenant, q="more/1") == (tenant == "gamma")
        assert _listed(world, tenant, status="failed") == 0
    page = world.send("gamma", ("GET", "/v1/documents"), params={"limit": 1, "sort": "size"}
                      | _who(world, "gamma")).json()  # fmt: skip
    after = {"sort": "size", "after": page["next"]}
    assert _listed(world, "alpha", **after) <= 2  # another's cursor is a place, and shows nothing


def test_a_question_finds_the_tenants_own_chunks_alone(world: World) -> None:
    for tenant in TENANTS:
        every = [number for found in world.documents.values() for number in found]
        for document_ids in (None, every, sorted(world.documents[tenant])):
            asked = {"question": QUESTION, "top_k": 50, "debug": True}
            asked |= {"document_ids": document_ids} if document_ids else {}
            answer = world.send(tenant, ("POST", "/v1/query"), json=asked | _who(world, tenant))
            assert answer.status_code == 200 and marker(tenant) in answer.json()["answer"]
            named = re.findall(r'"document_id":\s*(\d+)', answer.text)
            assert named and {int(number) for number in named} <= world.documents[tenant]
        told = world.send(tenant, ("GET", "/ask"), params={"q": QUESTION} | _who(world, tenant))
        assert marker(tenant) in told.text and "event: citations" in told.text
        assert not [o for o in TENANTS if o != tenant and marker(o) in told.text]
        nobodys = {"q": f"Who wrote note 0 of {marker('gamma')}?"} | _who(world, tenant)
        assert (marker("gamma") in world.send(tenant, ("GET", "/ask"), params=nobodys).text) == (
            tenant == "gamma"
        )


def test_what_is_said_to_be_stored_is_the_tenants_own(world: World) -> None:
    for tenant in TENANTS:
        told = world.send(tenant, ("GET", "/v1/privacy"), params=_who(world, tenant)).json()
        stored = told["stored"]
        assert stored["documents"] == stored["files"] == len(world.documents[tenant])


def test_a_stream_of_a_question_is_the_tenants_own(world: World) -> None:
    for tenant in TENANTS:
        asked = {"question": QUESTION, "stream": True} | _who(world, tenant)
        told = world.send(tenant, ("POST", "/v1/query"), json=asked)
        assert told.headers["content-type"].startswith("text/event-stream")
        assert marker(tenant) in told.text
        assert not [o for o in TENANTS if o != tenant and marker(o) in told.text]


def test_following_a_run_tells_of_that_run_alone(world: World) -> None:
    for tenant in TENANTS:
        told = world.send(tenant, ("GET", "/v1/runs/{run_id}/events"), world.ids[tenant])
        events = [json.loads(line[6:]) for line in told.text.splitlines() if line[:5] == "data:"]
        assert [event.get("id") for event in events] == [None, world.ids[tenant].run]
        assert events[0]["document_id"] == world.ids[tenant].document


def test_deleting_leaves_another_tenants_same_document(
    world: World, module_database_url: str, embedder: Embedder, off: World
) -> None:
    text = f"The same bytes, of {'keys' if world.keys else 'nobody'}."
    made = {
        tenant: bring_in(off.client, module_database_url, embedder, tenant, "same", text)
        for tenant in TENANTS
    }
    file, deletion = ("GET", "/v1/documents/{document_id}/file"), "/v1/documents/{document_id}"
    for gone, tenant in enumerate(TENANTS):
        for number, other in enumerate(TENANTS):
            kept = world.send(other, file, made[other])
            assert kept.status_code == (404 if number < gone else 200)
            assert number < gone or kept.content == pdf(text)
        assert world.send(tenant, ("DELETE", deletion), made[tenant]).status_code == 204
        assert world.send(tenant, ("GET", deletion), made[tenant]).status_code == 404
    with psycopg.connect(module_database_url) as connection:
        connection.execute("DELETE FROM runs WHERE id = ANY(%s)", ([i.run for i in made.values()],))


def test_who_asks_is_settled_before_all_else(
    off: World, keyed: World, module_database_url: str
) -> None:
    before, ids = _stored(module_database_url), off.ids["alpha"]
    unknown = line_of(keyed.send(None, ("GET", "/v1/runs")))
    twice = [("tenant_id", "alpha"), ("tenant_id", "beta")]
    for route, request in ROUTES.items():
        sent = request(ids)
        refused = keyed.send(None, route, ids)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer"), route
        assert line_of(refused) == unknown, route
        others = [
            keyed.send("beta", route, ids, **naming(sent, name)) for name in ("alpha", "nobody")
        ]
        assert [answer.status_code for answer in others] == [403, 403], route
        assert others[0].text == others[1].text, route
        malformed = off.send(None, route, ids, **naming(sent, "no tenant"))
        assert malformed.status_code == 400 and "\n" not in line_of(malformed), route
        named = off.send(None, route, ids, **sent | {"params": twice})
        assert named.status_code == 400, route
    assert _stored(module_database_url) == before


def test_without_a_name_it_is_the_default_tenant(off: World) -> None:
    ids = off.ids["alpha"]
    for route in BY_ID:
        told, never = off.send(None, route, ids), off.send(None, route)
        assert told_of(told, *ids.all) == told_of(never, *Ids().all), route
    assert off.client.get("/v1/documents").json()["total"] == 0
