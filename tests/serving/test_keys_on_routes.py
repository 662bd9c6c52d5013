"""Every kind of key on every route, of three tenants: who gets in; and requests made at random."""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key, revoke_key
from helix.serving.key_scopes import NEEDED
from tests.support.fuzzed_requests import NUMBERS, encoded, request_body, some_text
from tests.support.live_server import live
from tests.support.tenant_requests import OPEN, ROUTES, Ids, line_of, naming, path_of
from tests.support.tenants import TENANTS

UNLIMITED = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}
SHUT_OUT = ("none", "wrong", "revoked", "expired")


@dataclass(frozen=True)
class Keyed:
    """A server, and keys of each kind for each tenant."""

    client: httpx.Client
    keys: dict[tuple[str, str], str]

    def send(self, method: str, path: str, secret: str | None, **more: Any) -> httpx.Response:
        if secret is not None:
            more["headers"] = {**more.get("headers", {}), "Authorization": f"Bearer {secret}"}
        return self.client.request(method, path, **more)


def _make_keys(connection: psycopg.Connection, tenant: str) -> Iterator[tuple[str, str]]:
    yield "wrong", "hx_" + "a" * 43
    number, revoked = create_key(connection, tenant)
    revoke_key(connection, number)
    yield "revoked", revoked
    number, expired = create_key(connection, tenant, life=timedelta(hours=1))
    connection.execute("UPDATE api_keys SET expires_at = now() WHERE id = %s", (number,))
    yield "expired", expired
    for scope in KEY_SCOPES:
        yield scope, create_key(connection, tenant, scopes=[scope])[1]


@pytest.fixture(scope="module")
def keyed(module_database_url: str) -> Iterator[Keyed]:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        keys = {(t, kind): key for t in TENANTS for kind, key in _make_keys(connection, t)}
    with live(module_database_url, auth="keys", **UNLIMITED) as client:
        yield Keyed(client, keys)


def _check_tenant(keyed: Keyed, tenant: str, other: str, *, each: bool) -> None:
    """Send a request of every route with every scope of ``tenant``.

    With ``each`` also with every kind of key that opens nothing; else with one of those a route.
    """
    for place, ((method, template), request) in enumerate(ROUTES.items()):
        sent, needed = request(Ids()), NEEDED[method, template]
        path = path_of(template, Ids())
        at = (method, template, tenant)
        for kind in SHUT_OUT if each else (SHUT_OUT[place % len(SHUT_OUT)],):
            told = keyed.send(method, path, keyed.keys.get((tenant, kind)), **sent)
            assert told.status_code == 401, (at, kind, told.text)
            known = keyed.keys.get((tenant, kind)) is None
            assert known == ("key is needed" in told.text), (at, kind, told.text)
        for scope in KEY_SCOPES if each else (KEY_SCOPES[place % len(KEY_SCOPES)],):
            theirs = keyed.send(method, path, keyed.keys[other, scope], **naming(sent, tenant))
            assert theirs.status_code == 403, (at, "another's", scope, theirs.text)
        for scope in KEY_SCOPES:
            told = keyed.send(method, path, keyed.keys[tenant, scope], **sent)
            if needed in (None, scope):
                assert told.status_code not in (401, 403, 429, 500, 502, 503), (
                    at,
                    scope,
                    told.text,
                )
            else:
                assert (told.status_code, f"the scope {needed}" in told.text) == (403, True), at


def test_who_gets_in_with_which_key(keyed: Keyed) -> None:
    assert set(NEEDED) - set(ROUTES) == {("GET", "/docs"), ("GET", "/openapi.json")}
    _check_tenant(keyed, TENANTS[0], TENANTS[1], each=False)


@pytest.mark.soak
def test_who_gets_in_with_which_key_of_any_tenant(keyed: Keyed) -> None:
    for tenant, other in zip(TENANTS, (*TENANTS[1:], TENANTS[0]), strict=True):
        _check_tenant(keyed, tenant, other, each=True)


def _fuzzed(draw: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Method, path and the rest of a request that has a route of ours and much that is wrong."""
    routes = [*ROUTES, *OPEN]
    method, template = draw.choice(routes)
    if draw.random() < 0.1:
        method = draw.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    path = re.sub(r"{\w+}", lambda _: quote(_value(draw), safe="")[:500], template)
    names = ["q", "tenant_id", "limit", "after", "sort", "status", "document_id", "scale", "start",
             "end", "left", "top", "tag", "since", "partial"]  # fmt: skip
    query = "&".join(
        f"{draw.choice(names)}={quote(_value(draw), safe='')[:300]}"
        for _ in range(draw.randrange(4))
    )
    more: dict[str, Any] = {}
    if method not in ("GET", "HEAD", "OPTIONS"):
        more["content"] = draw.choice([b"", b"\xff", b"[]", encoded(request_body(draw, [1, 2]))])
        more["headers"] = {"Content-Type": draw.choice(
            ["application/json", "text/plain", "multipart/form-data; boundary=b", "multipart/x"]
        )}  # fmt: skip
    return method, f"{path}?{query}" if query else path, more


def _value(draw: random.Random) -> str:
    text = str(draw.choice(NUMBERS)) if draw.random() < 0.4 else some_text(draw)
    return text.encode("utf-8", "replace").decode()


def _fuzz(keyed: Keyed, seed: int, count: int) -> Counter[int]:
    draw, statuses = random.Random(seed), Counter[int]()
    kinds = [*keyed.keys.values(), None, "hx_", "🦆".encode().hex()]
    for _ in range(count):
        method, path, more = _fuzzed(draw)
        if "/events" in path:  # what is followed until it ends would be waited for
            continue
        told = keyed.send(method, path, draw.choice(kinds), **more)
        assert told.status_code < 500 or told.status_code == 501, (method, path, more, told.text)
        if told.status_code >= 400 and told.content and method != "HEAD":
            assert list(told.json()) == ["error"] and "\n" not in line_of(told), path
        statuses[told.status_code] += 1
    return statuses


def test_requests_made_at_random_are_answered_or_refused(keyed: Keyed) -> None:
    statuses = _fuzz(keyed, 1, 120)
    assert {200, 400, 401, 403, 404} <= set(statuses)
    assert keyed.client.get("/readyz").json() == {"ready": True}


def test_a_failure_is_one_line_whatever_the_id(keyed: Keyed) -> None:
    asks = keyed.keys[TENANTS[0], "ask"]
    told = keyed.send("GET", "/v1/conversations/a%0Ab%1B%5B31m", asks)
    assert told.status_code == 404
    assert keyed.send("DELETE", "/v1/conversations/%00", asks).status_code == 400
    assert not [c for c in told.json()["error"] if unicodedata.category(c) == "Cc"]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.soak
def test_ten_thousand_of_them_leave_nothing_behind(keyed: Keyed) -> None:
    _fuzz(keyed, 2, 1000)  # what is loaded at first is loaded
    # a question that is in order loads the embedder's weights, 56 MB; a random one seldom is
    asked = keyed.send("GET", "/ask?q=Anything", keyed.keys[TENANTS[0], "ask"])
    assert asked.status_code == 200, asked.text
    files, memory = _descriptors(), _resident()
    statuses = _fuzz(keyed, 3, 10_000)
    assert not [status for status in statuses if status >= 500 and status != 501]
    assert _descriptors() <= files + 20  # the pools of connections
    assert _resident() - memory < 64 * 2**20
