"""A conversation to share: about a document of all and one that few may read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.spaces import Member, let_in, let_out
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.serving.accounts.conftest import Accounts, email_of, fill
from tests.support.live_server import OFFLINE, live
from tests.support.tenants import bring_in, marker

SECRET = marker("acme")
OPEN_TEXT = "Refunds are accepted within thirty days of purchase."
SECRET_TEXT = f"The password of the vault is {SECRET}.\n\nThe vault is in the cellar."
ASKED_SECRET = "What is the password of the vault?"
ASKED_OPEN = "Within how many days are refunds accepted?"
NEVER = "0" * 32


@dataclass
class Shared:
    """Ada's conversation about the board's document and then the library's, with its messages."""

    accounts: Accounts
    ada: httpx.Client
    cat: httpx.Client
    board: int
    conversation: str
    of_secret: int
    of_open: int
    answer_id: str

    def share(self, **about: object) -> dict[str, Any]:
        told = self.ada.post("/v1/shares", json={"conversation_id": self.conversation, **about})
        assert told.status_code == 201, told.text
        return dict(told.json())

    def id_of(self, name: str) -> int:
        ((number,),) = self.accounts.sql("SELECT id FROM people WHERE email = %s", email_of(name))
        assert isinstance(number, int)
        return number

    def board_is_for(self, name: str, let: bool = True) -> None:
        with psycopg.connect(self.accounts.url, autocommit=True) as connection:
            who = Member(person=email_of(name))
            (let_in if let else let_out)(connection, "acme", self.board, who)

    def read(self, share: dict[str, Any], browser: httpx.Client | None = None) -> dict[str, Any]:
        told = (browser or self.cat).get(f"/v1/shared/{share['id']}")
        assert told.status_code == 200, told.text
        return dict(told.json())


@pytest.fixture
def shared(database_url: str) -> Iterator[Shared]:
    embedder = build_embedder(load_settings(database_url=database_url, **OFFLINE))
    with live(database_url) as client:
        bring_in(client, database_url, embedder, "acme", "open", OPEN_TEXT)
        hidden = bring_in(client, database_url, embedder, "acme", "secret", SECRET_TEXT)
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    with live(database_url, auth="accounts", public_link_days=30) as client:
        accounts = Accounts(str(client.base_url).rstrip("/"), database_url)
        ada, cat = accounts.signed_in("ada"), accounts.signed_in("cat")
        board = ada.post("/v1/spaces", json={"name": "Board"}).json()["id"]
        ada.post(f"/v1/spaces/{board}/documents", json={"move": [hidden.document]})
        conversation = ada.post("/v1/conversations", json={}).json()["id"]
        first, answer_id = ask(ada, conversation, ASKED_SECRET)
        second, _ = ask(ada, conversation, ASKED_OPEN)
        yield Shared(accounts, ada, cat, board, conversation, first, second, answer_id)


def ask(browser: httpx.Client, conversation: str, question: str) -> tuple[int, str]:
    asked = {"question": question, "stream": False}
    told = browser.post(f"/v1/conversations/{conversation}/messages", json=asked)
    assert told.status_code == 200, told.text
    return told.json()["message_id"], told.json()["answer_id"]


def alone(browser: httpx.Client, question: str) -> tuple[str, int]:
    """A conversation of its own for one question."""
    conversation = browser.post("/v1/conversations", json={}).json()["id"]
    return conversation, ask(browser, conversation, question)[0]
