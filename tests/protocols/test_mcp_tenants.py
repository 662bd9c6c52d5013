"""Each tool of MCP, called by each of three tenants with the ids of the others: nothing is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from helix.store import ChunkStore
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.query_service import QUESTION, store_text
from tests.support.wire.gemini import GeminiWire

TENANTS = ("alpha", "beta", "gamma")
NEVER = 987_654_321
_ACCEPTED = {"Accept": "application/json, text/event-stream"}
Keys = dict[str, str]


@pytest.fixture(scope="module")
def documents(store: ChunkStore) -> dict[str, int]:
    """A document of each tenant, by tenant; each names its own."""
    return {
        tenant: store_text(
            store.of(tenant), "refunds.md", f"Rules of xyzzy{tenant}",
            f"You have {days} days to request a refund from xyzzy{tenant}.",
        )
        for days, tenant in enumerate(TENANTS, 20)
    }  # fmt: skip


@pytest.fixture(scope="module")
def keys(documents: dict[str, int], module_database_url: str) -> Keys:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        return {tenant: create_key(connection, tenant)[1] for tenant in TENANTS}


@pytest.fixture(scope="module")
def server(wire: GeminiWire, keys: Keys, module_database_url: str) -> Iterator[httpx.Client]:
    with live(
        module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8, auth="keys",
    ) as client:  # fmt: skip
        yield client


def _told(server: httpx.Client, key: str, method: str, **params: Any) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = _ACCEPTED | {"Authorization": f"Bearer {key}"}
    response = server.post("/mcp", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.text


def _call(server: httpx.Client, key: str, tool: str, **arguments: Any) -> str:
    return _told(server, key, "tools/call", name=tool, arguments=arguments)


@pytest.mark.parametrize("tenant", TENANTS)
def test_a_tool_tells_of_its_own_tenant_alone(
    server: httpx.Client, keys: Keys, tenant: str
) -> None:
    told = [
        _call(server, keys[tenant], "search", query=QUESTION),
        _call(server, keys[tenant], "ask", question=QUESTION),
        _call(server, keys[tenant], "list_documents"),
        _told(server, keys[tenant], "resources/list"),
    ]
    assert all(f"xyzzy{tenant}" in text for text in told), told
    others = [other for other in TENANTS if other != tenant]
    assert not any(f"xyzzy{other}" in text for text in told for other in others), told


@pytest.mark.parametrize(("tenant", "other"), list(permutations(TENANTS, 2)))
def test_anothers_id_is_one_that_never_was(
    server: httpx.Client, store: ChunkStore, keys: Keys, documents: dict[str, int],
    tenant: str, other: str,
) -> None:  # fmt: skip
    number = documents[other]
    (row,) = rows(store.connections.url, "SELECT id FROM chunks WHERE tenant_id = %s", other)
    chunk = int(row[0])

    def told(document: int, piece: int) -> list[str]:
        key = keys[tenant]
        answer = _call(server, key, "ask", question=QUESTION, document_ids=[document])
        result = json.loads(answer.rpartition("data: ")[2])["result"]
        known = result.get("structuredContent", {})
        return [
            str((known.get("answer"), known.get("citations"), known.get("abstained"))),
            _call(server, key, "fetch", id=str(piece)),
            _call(server, key, "fetch", id=f"document:{document}"),
            _call(server, key, "read_passage", document_id=document),
            _told(server, key, "resources/read", uri=f"helix://documents/{document}"),
        ]

    def unnumbered(texts: list[str], *numbers: int) -> list[str]:
        named = "|".join(map(str, numbers))
        return [re.sub(rf"(?<=[ /])({named})(?=[:\"])", "N", text) for text in texts]

    theirs = unnumbered(told(number, chunk), number, chunk)
    assert theirs == unnumbered(told(NEVER, NEVER), NEVER)
    assert all("xyzzy" not in text for text in theirs)
