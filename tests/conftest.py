"""Fixtures: a real Postgres with one database a test, and no way out to the network."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import ipaddress
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql

from db.embedded_postgres import DATABASE, EmbeddedPostgres, acquire, wait_until_stopped
from db.migrate import migrate
from tests.support.server_folders import new_folder
from tests.support.wire.gemini import GeminiWire, gemini_wire

# The same examples each time, however slow the machine: a failure is then the change's own.
settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("seeded")

# Servers of tests start no workers of their own, but where a test asks for them.
os.environ["HELIX_WORKERS"] = "0"

# The settings file of whoever runs the tests is not read.
os.environ["XDG_CONFIG_HOME"] = str(Path(__file__).parent / "no-settings-here")

# What is kept for a day in the user's cache, such as a list of models, is each process's own.
_CACHE = tempfile.mkdtemp(prefix="helix-cache-")
os.environ["XDG_CACHE_HOME"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

# A client of HTTP reads every authority of the world when it is made, which takes 30 ms, and none
# of them is asked here: this file has one, of nobody.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "support" / "wire" / "nobody.pem")


# A file is one process's: those that take longest begin first, or one is waited for at the end.
_LONG = (
    "test_kill.py", "test_real_model.py", "test_detached.py", "test_embedded_postgres.py",
    "test_matrix.py", "test_document_erasure.py", "test_crawl_end_to_end.py", "test_replicas.py",
    "test_contract.py", "test_ingest.py", "test_folder_sync.py", "test_run.py",
    "test_same_bytes.py", "test_ingested_metadata.py", "test_tenants.py", "test_chat.py",
    "test_sandbox.py", "test_every_format.py", "test_backup.py", "test_hybrid_search.py",
    "test_documents_command.py", "test_served_uploads.py", "test_cli.py", "test_pdf.py",
    "test_hostile_files.py", "test_shared_server.py", "test_database_outages.py",
    "test_run_faults.py", "test_ingest_faults.py", "test_rewriting.py", "test_reembed.py",
    "test_wheel.py", "test_examples.py", "test_source_command.py", "test_spaces_command.py",
    "test_upgrades.py", "test_file_moves.py", "test_fillers.py",
)  # fmt: skip


_ROOT = Path(__file__).parent.parent
_FILES = sorted(p for p in _ROOT.glob("tests/**/test_*.py") if "browser" not in p.parts)


def pytest_configure(config: pytest.Config) -> None:
    """xdist would begin with the files that have the most tests, and not with the longest."""
    config.option.loadscopereorder = False
    gc.disable()  # importing makes a million objects and no garbage


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import the tests of ``make test`` before they are collected, each process of xdist from its
    own place on: what one has compiled the others load, and none compiles it twice.
    """
    process = getattr(session.config, "workerinput", None)
    if process is None or session.config.args != session.config.getini("testpaths"):
        return
    names = [".".join(path.relative_to(_ROOT).with_suffix("").parts) for path in _FILES]
    first = len(names) * int(process["workerid"][2:]) // process["workercount"]
    for name in names[first:] + names[:first]:
        with contextlib.suppress(Exception):  # collecting it tells
            importlib.import_module(name)


def pytest_collection_finish() -> None:
    """Freeze the imported objects: the collector need not go over them again in each test."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # the usual ones take 8% of the processor's time here
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order of _LONG, then as they come."""
    items.sort(key=lambda item: _LONG.index(n) if (n := item.path.name) in _LONG else len(_LONG))


@pytest.fixture(scope="session", autouse=True)
def _no_outside_addresses() -> Iterator[None]:
    """Refuse what Python code connects to beyond this machine; unix sockets and loopback pass.

    The error is no OSError, which a client under test would take for a failure of the network.
    """

    def guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
        def guard(self: socket.socket, address: Any, /) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
                raise RuntimeError(f"tests may not reach outside addresses: {address}")
            return connect(self, address)

        return guard

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
        yield


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):  # a name
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    return host == "localhost"


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """One embedded server for the session; its own database is migrated and serves as template."""
    directory = new_folder()
    try:
        with acquire(directory) as server:
            with psycopg.connect(server.url, autocommit=True) as connection:
                # a killed server loses nothing by it, and there is a new database every second
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("ALTER SYSTEM SET full_page_writes = off")
                # a sixth of the server's processor time: it looks at each of those databases
                connection.execute("ALTER SYSTEM SET autovacuum = off")
                connection.execute("SELECT pg_reload_conf()")
            migrate(server.url)
            yield server
        assert wait_until_stopped(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def _admin(postgres: EmbeddedPostgres) -> Iterator[psycopg.Connection]:
    url = postgres.url.replace(f"/{DATABASE}?", "/postgres?")
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


_numbers = itertools.count()


@contextlib.contextmanager
def _database(server: EmbeddedPostgres, admin: psycopg.Connection, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    # two thirds of the processor time of WAL_LOG, which copies page by page (37 and 56 ms)
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
    admin.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield server.url.replace(f"/{DATABASE}?", f"/{name}?")
    finally:
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def database_url(postgres: EmbeddedPostgres, _admin: psycopg.Connection) -> Iterator[str]:
    """URL of a migrated, empty database of this test's own; it goes with the test."""
    with _database(postgres, _admin, DATABASE) as url:
        yield url


@pytest.fixture(scope="module")
def module_database_url(postgres: EmbeddedPostgres, _admin: psycopg.Connection) -> Iterator[str]:
    """A migrated, empty database that the tests of one module share."""
    with _database(postgres, _admin, DATABASE) as url:
        yield url


@pytest.fixture(scope="session")
def _durable(postgres: EmbeddedPostgres, _admin: psycopg.Connection) -> str:
    """Name of a template that has the durable engine's tables too, which take 0.5 s to make."""
    from dbos import DBOS

    name = "helix_durable"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY WAL_LOG")
    _admin.execute(create.format(sql.Identifier(name), sql.Identifier(DATABASE)))
    DBOS.migrate(postgres.url.replace(f"/{DATABASE}?", f"/{name}?"))
    return name


@pytest.fixture
def durable_database_url(
    postgres: EmbeddedPostgres, _admin: psycopg.Connection, _durable: str
) -> Iterator[str]:
    """URL of a database of this test's own in which runs were carried out before."""
    with _database(postgres, _admin, _durable) as url:
        yield url


@pytest.fixture(scope="module")
def module_durable_database_url(
    postgres: EmbeddedPostgres, _admin: psycopg.Connection, _durable: str
) -> Iterator[str]:
    """The same for the tests of one module."""
    with _database(postgres, _admin, _durable) as url:
        yield url


@pytest.fixture
def bare_database_url(postgres: EmbeddedPostgres, _admin: psycopg.Connection) -> Iterator[str]:
    """URL of a database of this test's own without any schema."""
    with _database(postgres, _admin, "template1") as url:
        yield url


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    """The server that Gemini's SDK talks to."""
    with gemini_wire() as server:
        yield server
