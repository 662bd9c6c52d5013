"""A tenant with two spaces, and a key for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.support.live_server import OFFLINE, live
from tests.support.tenant_requests import ROUTES, Ids, path_of
from tests.support.tenants import bring_in, marker

TENANT = "alpha"
OPEN_TEXT = "Refunds are accepted within thirty days of purchase."
SECRET_TEXT = f"The password of the vault is {marker(TENANT)}.\n\nThe vault is in the cellar."
OF_PEOPLE = ("/v1/answers", "/v1/runs/{run_id}/cancel")
"""Routes of what people made: its title and its number stay, as when its documents are deleted."""


@dataclass(frozen=True)
class Spaces:
    """A tenant with a document in its library and one in the space Board, and a key for each."""

    client: httpx.Client
    keys: dict[str, str]
    open: Ids
    secret: Ids
    board: int

    def send(self, key: str, method: str, path: str, **more: Any) -> httpx.Response:
        who = {"Authorization": f"Bearer {self.keys[key]}"}
        more["headers"] = {**more.get("headers", {}), **who}
        return self.client.request(method, path, **more)

    def route(self, key: str, route: tuple[str, str], ids: Ids) -> httpx.Response:
        return self.send(key, route[0], path_of(route[1], ids), **ROUTES[route](ids))


@pytest.fixture(scope="module")
def embedder(module_database_url: str) -> Embedder:
    return build_embedder(load_settings(database_url=module_database_url, **OFFLINE))


@pytest.fixture(scope="module")
def spaces(module_database_url: str, embedder: Embedder) -> Iterator[Spaces]:
    url = module_database_url
    with live(url) as client:
        found = bring_in(client, url, embedder, TENANT, "open", OPEN_TEXT)
        hidden = bring_in(client, url, embedder, TENANT, "secret", SECRET_TEXT)
        made = client.post("/v1/spaces", json={"name": "Board", "tenant_id": TENANT}).json()
        moved = {"move": [hidden.document], "tenant_id": TENANT}
        told = client.post(f"/v1/spaces/{made['id']}/documents", json=moved).json()
        placed = {"spaces": [made["id"]], "tenant_id": TENANT}
        assert client.patch(f"/v1/sources/{hidden.source}", json=placed).status_code == 200
        assert told["documents"] == [{"id": hidden.document, "error": None}]
    with psycopg.connect(url, autocommit=True) as connection:
        keys = {
            name: create_key(connection, TENANT, scopes=KEY_SCOPES, spaces=only)[1]
            for name, only in {"all": None, "library": ["Library"], "board": ["board"]}.items()
        }
    with live(url, auth="keys", key_requests=0, tenant_requests=0, address_requests=0) as client:
        yield Spaces(client, keys, found, hidden, made["id"])
