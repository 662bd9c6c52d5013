"""A server with accounts: people of two tenants, and browsers to sign in with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import psycopg
import pytest
from argon2 import PasswordHasher

from helix.library.people import passwords
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.support.authenticator import Authenticator
from tests.support.live_server import live

PASSWORD = "correct horse"
PEOPLE = {
    "ada": {"acme": "owner"}, "bob": {"acme": "editor"}, "cat": {"acme": "reader"},
    "dan": {"beta": "owner", "acme": "reader"}, "eve": {},
}  # fmt: skip
"""By name, the role in each tenant."""


_addresses = itertools.count(1)


def email_of(name: str) -> str:
    return f"{name}@example.com"


@dataclass
class Accounts:
    """A server, whose database is ``url``."""

    address: str
    url: str
    pages: str = "http://localhost:8080"
    """The origin of its pages, where passkeys are wanted."""
    client: str = "127.0.0.1"
    """The address that its browsers come from."""

    def browser(self, **headers: str) -> httpx.Client:
        """A client with cookies of its own, which says where its pages come from."""
        origin = {"Origin": self.address, "Sec-Fetch-Site": "same-origin",
                  "X-Forwarded-For": self.client, **headers}  # fmt: skip
        return httpx.Client(base_url=self.address, timeout=60, headers=origin)

    def signed_in(self, name: str) -> httpx.Client:
        """A browser that ``name`` signed in with."""
        browser = self.browser()
        told = browser.post("/v1/session", json={"email": email_of(name), "password": PASSWORD})
        assert told.status_code == 200, told.text
        return browser

    def authenticator(self, browser: httpx.Client, name: str = "laptop") -> Authenticator:
        """An authenticator with a passkey of whoever signed in with the browser."""
        made = Authenticator(self.pages)
        told = self.adds(browser, made, name)
        assert told.status_code == 201, told.text
        return made

    def adds(
        self, browser: httpx.Client, authenticator: Authenticator, name: str = "laptop"
    ) -> httpx.Response:
        """The answer to a passkey of the authenticator's that the browser adds."""
        credential = authenticator.create(options_of(browser, "account/passkeys", PASSWORD))
        return browser.post("/v1/account/passkeys", json={"name": name, "credential": credential})

    def shows(self, browser: httpx.Client, authenticator: Authenticator) -> httpx.Response:
        """The answer to the browser that signs in with the authenticator's passkey."""
        credential = authenticator.get(options_of(browser, "session/passkey"))
        return browser.post("/v1/session/passkey", json={"credential": credential})

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """The rows of a statement of the owner's."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(statement, values)
            return found.fetchall() if found.description else []


def options_of(browser: httpx.Client, of: str, password: str | None = None) -> dict[str, Any]:
    """The options of a ceremony that the browser begins."""
    body = None if password is None else {"password": password}
    told = browser.post(f"/v1/{of}/challenge", json=body)
    assert told.status_code == 200, told.text
    options: dict[str, Any] = told.json()["options"]
    return options


def fill(connection: psycopg.Connection) -> None:
    """Make PEOPLE, with one password."""
    stored = hashed(PASSWORD)
    for name, roles in PEOPLE.items():
        person = add_person(connection, email_of(name), name.title(), stored)
        for tenant, role in roles.items():
            set_role(connection, tenant, person, role)


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with 1 MiB: a hash as it is stored takes 0.2 s of a processor, several times a test.

    ``tests/commands/test_user_command.py`` has the parameters that are served.
    """
    quick = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", lambda: quick)


@pytest.fixture
def accounts(database_url: str) -> Iterator[Accounts]:
    """A server of PEOPLE."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    with live(database_url, auth="accounts") as client:
        yield Accounts(str(client.base_url).rstrip("/"), database_url)


@pytest.fixture(scope="module")
def named_server(module_database_url: str) -> Iterator[Accounts]:
    """A server with a name, under which browsers allow passkeys."""
    with live(module_database_url, auth="accounts", url=Accounts.pages) as client:
        yield Accounts(str(client.base_url).rstrip("/"), module_database_url)


@pytest.fixture
def named(named_server: Accounts) -> Accounts:
    """The same of PEOPLE, whose browsers come from an address that nobody had before."""
    with psycopg.connect(named_server.url, autocommit=True) as connection:
        connection.execute("TRUNCATE people, audit_events RESTART IDENTITY CASCADE")
        fill(connection)
    return replace(named_server, client=f"192.0.2.{next(_addresses)}")
