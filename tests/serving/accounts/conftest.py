"""A server with accounts: people of two tenants, and browsers to sign in with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import psycopg
import pytest
from argon2 import PasswordHasher

from helix.library.people import passwords
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.support.live_server import live

PASSWORD = "correct horse"
PEOPLE = {
    "ada": {"acme": "owner"}, "bob": {"acme": "editor"}, "cat": {"acme": "reader"},
    "dan": {"beta": "owner", "acme": "reader"}, "eve": {},
}  # fmt: skip
"""By name, the role in each tenant."""


def email_of(name: str) -> str:
    return f"{name}@example.com"


@dataclass
class Accounts:
    """A server, whose database is ``url``."""

    address: str
    url: str

    def browser(self, **headers: str) -> httpx.Client:
        """A client with cookies of its own, which says where its pages come from."""
        origin = {"Origin": self.address, "Sec-Fetch-Site": "same-origin", **headers}
        return httpx.Client(base_url=self.address, timeout=60, headers=origin)

    def signed_in(self, name: str) -> httpx.Client:
        """A browser that ``name`` signed in with."""
        browser = self.browser()
        told = browser.post("/v1/session", json={"email": email_of(name), "password": PASSWORD})
        assert told.status_code == 200, told.text
        return browser

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """The rows of a statement of the owner's."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(statement, values)
            return found.fetchall() if found.description else []


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
