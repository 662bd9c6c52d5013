"""A Postgres for one benchmark: embedded, in a temporary directory, gone at the end."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from db.embedded import DATABASE, acquire, wait_until_stopped
from db.migrate import migrate


class Server:
    """A running server whose own database is migrated and serves as template."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = itertools.count()

    @contextmanager
    def database(self) -> Iterator[str]:
        """URL of a fresh database with the schema; it is dropped afterwards."""
        name = f"benchmark_{next(self._numbers)}"
        with psycopg.connect(self._named("postgres"), autocommit=True) as admin:
            create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            admin.execute(create.format(sql.Identifier(name), sql.Identifier(DATABASE)))
            # What the benchmark before left to write is not to be paid for by the next.
            admin.execute("CHECKPOINT")
        try:
            yield self._named(name)
        finally:
            with psycopg.connect(self._named("postgres"), autocommit=True) as admin:
                drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
                admin.execute(drop.format(sql.Identifier(name)))

    def _named(self, name: str) -> str:
        return self._url.replace(f"/{DATABASE}?", f"/{name}?")


@contextmanager
def server() -> Iterator[Server]:
    """An embedded server for as long as the block lasts."""
    directory = Path(tempfile.mkdtemp(prefix="helix-bench-"))
    try:
        with acquire(directory) as postgres:
            migrate(postgres.url)
            yield Server(postgres.url)
        wait_until_stopped(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
