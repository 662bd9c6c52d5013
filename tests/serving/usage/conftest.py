"""A server whose usage is counted, its people and keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.support.live_server import live
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

MODEL = "gemini-2.5-flash"
COUNTS = {
    "promptTokenCount": 1000, "cachedContentTokenCount": 400, "candidatesTokenCount": 50,
    "thoughtsTokenCount": 150,
}  # fmt: skip
SAID = Answer(("Ask within 30 days of purchase [1].",), usage=COUNTS)
COST = (600 * 0.30 + 400 * 0.03 + 200 * 2.50) / 1_000_000
ONCE = {
    "questions": 1, "refusals": 0, "calls": 1, "unpriced": 0, "input_tokens": 1000,
    "output_tokens": 50, "cached_tokens": 400, "thought_tokens": 150,
    "cost_usd": pytest.approx(COST),
}  # fmt: skip
PASSWORD = "correct horse"
FOREIGN = "Who won the cup in 1978?"
DEADLINE = 20.0


@dataclass(frozen=True)
class Served:
    """A server with accounts, whose database is ``url``."""

    client: httpx.Client
    url: str

    def key(self, scopes: tuple[str, ...] = ("ask", "read"), **more: Any) -> Holder:
        with psycopg.connect(self.url, autocommit=True) as connection:
            number, secret = create_key(connection, "default", "robot", scopes, **more)
        return Holder(self.client, number, secret)

    def person(self, name: str, role: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            person = add_person(connection, f"{name}@example.com", name.title(), hashed(PASSWORD))
            set_role(connection, "default", person, role)
        return person

    def browser(self, name: str) -> httpx.Client:
        address = str(self.client.base_url).rstrip("/")
        browser = httpx.Client(base_url=address, timeout=60, headers={"Origin": address})
        given = {"email": f"{name}@example.com", "password": PASSWORD}
        assert browser.post("/v1/session", json=given).status_code == 200
        return browser


@dataclass(frozen=True)
class Holder:
    """A key, by which requests are sent."""

    client: httpx.Client
    id: int
    secret: str

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secret}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def ask(self, question: str = QUESTION, **more: Any) -> httpx.Response:
        return self.send("POST", "/v1/query", json={"question": question, **more})

    @property
    def authorized(self) -> httpx.Client:
        """A client that shows the key with every request."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        return httpx.Client(base_url=self.client.base_url, timeout=60, headers=headers)


@pytest.fixture(scope="module")
def served(module_database_url: str, stored: dict[str, int], wire: GeminiWire) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("helix.serving.access_recorder._WRITE_SECONDS", 0.02)
        with live(
            module_database_url, auth="accounts", llm="gemini", embedder="gemini",
            gemini_api_key="wire-test-key", gemini_model=MODEL, retrieval_max_distance=0.8,
            key_requests=0, tenant_requests=0, address_requests=0,
        ) as client:  # fmt: skip
            yield Served(client, module_database_url)


def totals_of(holder: Holder | httpx.Client, until: dict[str, Any], **query: Any) -> dict[str, Any]:
    """The totals of one's own usage, once they are those of ``until``; else as they are at last."""
    send = holder.send if isinstance(holder, Holder) else holder.request
    deadline = time.monotonic() + DEADLINE
    while True:
        told = send("GET", "/v1/usage", params=query).json()
        totals: dict[str, Any] = told["totals"]
        if all(totals[name] == value for name, value in until.items()):
            return totals
        if time.monotonic() > deadline:
            return totals
        time.sleep(0.02)


def settled(holder: Holder, until: dict[str, Any]) -> None:
    """Nothing more comes after ``until``: a vote given last is the last thing that is written."""
    assert {n: totals_of(holder, until)[n] for n in until} == until


@pytest.fixture(scope="module")
def owner(served: Served) -> httpx.Client:
    served.person("otto", "owner")
    return served.browser("otto")
