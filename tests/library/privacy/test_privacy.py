"""Connections out of the machine are counted at the socket, in any event loop and library."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import uvloop

from helix.library.keys import create_key
from helix.library.privacy.contacts import store_contacts
from helix.library.privacy.counter import (
    Contact,
    SocketCounter,
    open_connections,
    process_counter,
    where_is,
)
from helix.library.privacy.report import database_place
from helix.store import ChunkStore
from tests.support.live_server import live
from tests.support.service_process import eventually

Runner = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a socket on loopback that takes connections."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_what_async_code_connects_to_is_counted(run: Runner, listener: int) -> None:
    counter = process_counter()
    counter.drain()

    async def connect() -> None:
        _, writer = await asyncio.open_connection("localhost", listener)
        writer.close()

    run(connect())
    found = counter.drain()
    assert found[Contact("name", "localhost", 0)] >= 1
    assert sum(n for contact, n in found.items() if contact.port == listener) >= 1


def test_what_blocking_code_connects_to_is_counted(listener: int) -> None:
    counter = process_counter()
    assert counter is process_counter(), "one a process"
    counter.drain()
    with closing(socket.create_connection(("127.0.0.1", listener))):
        assert Contact("address", "127.0.0.1", listener) in open_connections()
    assert counter.drain() == {Contact("address", "127.0.0.1", listener): 1}


def test_the_hook_bears_whatever_it_is_called_with() -> None:
    counter = SocketCounter()
    counter.hear("socket.connect", (None, "/run/a.sock"))
    counter.hear("socket.connect", (None, (b"10.0.0.9", 443)))
    counter.hear("socket.getaddrinfo", (None, 1, 0, 0, 0))
    counter.hear("socket.getaddrinfo", (b"API.example.COM.", 443, 0, 0, 0))
    counter.hear("socket.getaddrinfo", ("192.0.2.1", 443, 0, 0, 0))
    counter.hear("open", ("x", "r", 0))
    assert counter.drain() == {
        Contact("address", "10.0.0.9", 443): 1,
        Contact("name", "api.example.com", 0): 1,
    }
    assert not counter.drain()


@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("127.0.0.1", "this machine"),
        ("::1", "this machine"),
        ("::ffff:127.0.0.1", "this machine"),
        ("localhost", "this machine"),
        ("10.1.2.3", "private network"),
        ("fe80::1%eth0", "private network"),
        ("142.250.74.106", "outside"),
        ("2a00:1450:4001::1", "outside"),
        ("generativelanguage.googleapis.com", "outside"),
    ],
)
def test_how_far_a_host_is(host: str, where: str) -> None:
    assert where_is(host) == where


async def test_contacts_of_every_process_add_up(database_url: str) -> None:
    store = ChunkStore(database_url, "offline")
    counter = SocketCounter()
    for _ in range(2):
        counter.connected(("192.0.2.7", 443))
        store_contacts(store, "ingesting", counter)
    store_contacts(store, "serving", counter)  # nothing is left to keep
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT process, kind, host, port, n FROM contacts").fetchall()
    await store.close()
    assert rows == [("ingesting", "address", "192.0.2.7", 443, 2)]


def test_the_report_names_what_was_contacted_and_what_is_stored(database_url: str) -> None:
    with live(database_url) as client:
        store = ChunkStore(database_url, "offline")
        counter = SocketCounter()
        counter.record_lookup("docs.example.com")
        store_contacts(store, "ingesting", counter)
        asyncio.run(store.close())
        report = client.get("/v1/privacy").json()
    hosts = {(c["process"], c["host"]): c["where"] for c in report["contacts"]}
    assert hosts[("ingesting", "docs.example.com")] == "outside" and report["outside"] is True
    assert report["stored"]["documents"] == 0 and report["database"]["where"] == "this machine"
    assert report["models"]["llm"].startswith("offline")


def test_hosts_of_other_tenants_are_not_named(database_url: str) -> None:
    store = ChunkStore(database_url, "offline")
    counter = SocketCounter()
    counter.record_lookup("intranet.example.com")
    store_contacts(store, "ingesting", counter)
    key = _key(store)
    with live(database_url, auth="keys") as client:
        sent = {"Authorization": f"Bearer {key}"}
        response = client.get("/v1/privacy", headers=sent)
        assert client.get("/v1/privacy").status_code == 401
    asyncio.run(store.close())
    assert "intranet" not in response.text and response.json()["contacts_not_named"] == 1


def _key(store: ChunkStore) -> str:
    with store.connection() as connection:
        return create_key(connection, "acme")[1]


def test_nothing_is_told_of_a_password() -> None:
    told = database_place("postgresql://me:secret@db.example.com:5433/helix?sslmode=require")
    assert told == {
        "kind": "server",
        "host": "db.example.com",
        "name": "helix",
        "where": "outside",
    }
    assert database_place("embedded:/data")["where"] == "this machine"
    assert database_place("postgresql:///x?host=/run/postgresql")["where"] == "this machine"


def test_a_report_of_evals_tells_no_answer_where_there_are_tenants(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "postgres"
    monkeypatch.setattr("helix.serving.routes.operations.default_directory", lambda: folder)
    store = ChunkStore(database_url, "offline")
    sent = {"Authorization": f"Bearer {_key(store)}"}
    asyncio.run(store.close())
    report = {"version": 1, "totals": [{"name": "recall"}], "cases": [{"answer": "secret"}]}
    with live(database_url) as off, live(database_url, auth="keys") as keyed:
        assert off.get("/v1/evals/last").json()["packaged"] is True
        assert keyed.get("/v1/evals/last", headers=sent).json()["cases"] == []
        file = tmp_path / "evals" / "last.json"
        file.parent.mkdir()
        file.write_text("{")
        assert off.get("/v1/evals/last").json()["packaged"] is True, "half of a report is none"
        file.write_text(json.dumps(report))
        assert off.get("/v1/evals/last").json() == report | {"packaged": False}
        told = keyed.get("/v1/evals/last", headers=sent).json()
        assert told["totals"] == report["totals"] and told["cases"] == []
        assert keyed.get("/v1/evals/last").status_code == 401


def test_with_keys_a_workers_connections_are_not_shown(
    listener: int,
) -> None:
    code = f"import socket, sys; s = socket.create_connection(('127.0.0.1', {listener})); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    contact = Contact("address", "127.0.0.1", listener)
    try:
        assert eventually(lambda: contact in open_connections())
        assert contact not in open_connections(children=False)
    finally:
        child.communicate(b"\n")
