"""MCP with keys: each opens its tenant's documents alone, as far as its scopes go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from tests.support.live_server import live
from tests.support.mcp_sessions import called, connected, refused
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire


@pytest.fixture(scope="module")
def keys(stored: dict[str, int], module_database_url: str) -> dict[str, str]:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        made = {t: create_key(connection, t)[1] for t in ("default", "acme", "empty")}
        return made | {"reads": create_key(connection, "default", scopes=["read"])[1]}


@pytest.fixture(scope="module")
def keyed(
    wire: GeminiWire, keys: dict[str, str], module_database_url: str
) -> Iterator[httpx.Client]:
    with live(
        module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8, auth="keys",
    ) as client:  # fmt: skip
        yield client


def test_a_key_opens_its_tenants_documents_alone(keyed: httpx.Client, keys: dict[str, str]) -> None:
    from mcp import MCPError

    async def use() -> None:
        titles = {}
        for tenant in ("default", "acme", "empty"):
            async with connected(keyed, keys[tenant]) as session:
                listed = await called(session, "list_documents")
                titles[tenant] = {document["title"] for document in listed["documents"]}
                found = await called(session, "search", query=QUESTION)
                assert all(
                    one["title"].startswith(tuple(titles[tenant])) for one in found["results"]
                )
                answer = await called(session, "ask", question=QUESTION)
                assert answer["abstained"] is (tenant == "empty")
                assert ("Acme" in answer["answer"]) is (tenant == "acme")
                others = [r.name for r in (await session.list_resources()).resources]
                assert set(others) == titles[tenant]
        assert (
            titles["acme"] == {"Acme"} and not titles["empty"] and "Acme" not in titles["default"]
        )
        async with connected(keyed, keys["default"]) as session:
            number = (await called(session, "list_documents"))["documents"][0]["id"]
            chunk = (await called(session, "search", query=QUESTION))["results"][0]["id"]
        async with connected(keyed, keys["acme"]) as session:
            never = await refused(session, "read_passage", document_id=987654)
            theirs = await refused(session, "read_passage", document_id=number)
            assert theirs == never.replace("987654", str(number))
            await refused(session, "fetch", id=chunk)
            with pytest.raises(MCPError):
                await session.read_resource(f"helix://documents/{number}")

    asyncio.run(use())


def test_a_key_is_asked_for_and_its_scopes_hold(keyed: httpx.Client, keys: dict[str, str]) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers in ({}, {"Authorization": "Bearer hx_wrong"}):
        told = keyed.post("/mcp", json=body, headers=headers)
        assert told.status_code == 401
        metadata = told.headers["www-authenticate"].split('resource_metadata="')[1].rstrip('"')
        assert httpx.get(metadata).json()["resource"] == f"{keyed.base_url}/mcp"
    named = {"Host": "docs.example.com", "Authorization": f"Bearer {keys['reads']}"}
    accepted = {"Accept": "application/json, text/event-stream"}
    assert "read_passage" in keyed.post("/mcp", json=body, headers=named | accepted).text

    async def use() -> None:
        async with connected(keyed, keys["reads"]) as session:
            assert "scope ask" in await refused(session, "ask", question=QUESTION)
            assert (await called(session, "list_documents"))["total"] > 0

    asyncio.run(use())
