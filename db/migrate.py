"""``python -m db.migrate``: bring the database of DATABASE_URL to the schema of ``schema.sql``.

An empty database gets the tables of ``schema.sql``, one of an earlier version the numbered steps of
``upgrades`` that it lacks, and each of them the second part of ``schema.sql``. It is one
transaction under an advisory lock: any number may run at once, again, or be killed halfway.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg

from db.errors import DatabaseError
from db.url import HOW, explain, open_database, place_of, read_env_files, redact

_FOLDER = Path(__file__).parent
SCHEMA = _FOLDER / "schema.sql"
UPGRADES = {int(file.name[:4]): file for file in (_FOLDER / "upgrades").glob("[0-9]*.sql")}
"""The step that leads to each version, from the one before it."""
NEWEST_VERSION = max(UPGRADES)
"""The version of ``schema.sql``."""
MINIMUM_POSTGRES = 15
MINIMUM_PGVECTOR = (0, 8)
"""0.8 brought iterative scans, without which a filtered search returns too few rows."""
CONNECT_SECONDS = 10
RECOVERY_SECONDS = 60.0
"""The seconds that a server may take to recover from a crash before it counts as away."""
_LOOK_SECONDS = 0.2
_RECOVERING = re.compile(r"the database system is (starting|in recovery|not (yet )?accepting)")
_CUT = re.compile("server closed the connection unexpectedly")
"""The error where the server crashes as it lets a connection in; asked again, it says so."""

_SECOND_PART = "\n-- === What every migration makes sure of"
_LOCK_KEY = 0x48656C6978  # "Helix"
# helix/storage/indexes.py takes them too, in this order
_INDEX_LOCK_KEYS = 7_416_203_311_871_154, 7_416_203_311_871_158


def postgres_problem(version: int) -> str | None:
    """The problem with a server of this version number (160004 is 16.4); None when it has none."""
    if version >= MINIMUM_POSTGRES * 10_000:
        return None
    return (
        f"the server is Postgres {version // 10_000}, and Helix needs {MINIMUM_POSTGRES} or newer:"
        " upgrade it, or set DATABASE_URL=embedded"
    )


def pgvector_problem(available: str | None, installed: str | None) -> str | None:
    """The problem with the server's pgvector; None when it has none.

    ``available`` is the version that CREATE EXTENSION would install, ``installed`` the one in this
    database; either is None when there is none.
    """
    if _recent(installed):
        return None
    needs = ".".join(map(str, MINIMUM_PGVECTOR))
    if available is None:
        return (
            f"pgvector is missing on the server: install pgvector {needs} or newer there (the"
            " image pgvector/pgvector:pg16 has it), or set DATABASE_URL=embedded"
        )
    if not _recent(available):
        return (
            f"the server has pgvector {available}, and Helix needs {needs} or newer: upgrade it"
            " there, or set DATABASE_URL=embedded"
        )
    if installed is None:
        return None
    return (
        f"this database uses pgvector {installed}, and the server has {available}: run"
        " ALTER EXTENSION vector UPDATE in it"
    )


def _recent(version: str | None) -> bool:
    numbers = re.findall(r"\d+", version or "")
    return tuple(map(int, numbers[:2])) >= MINIMUM_PGVECTOR


def migrate(url: str) -> None:
    """Bring the database of a ``postgresql://`` URL to NEWEST_VERSION; a failure changes nothing.

    Raises:
        DatabaseError: it cannot be reached, is too old, lacks pgvector, refuses the change, or has
            the schema of a newer Helix.
    """
    with connect(url) as connection:
        try:
            begin_change(connection)
            apply(connection, schema_version(connection), redact(url))
            connection.commit()
        except psycopg.errors.InsufficientPrivilege as error:
            raise forbidden(connection, error) from None
        except psycopg.Error as error:
            raise DatabaseError(
                f"the schema cannot be applied at {redact(url)}: {primary(error)}"
            ) from None


def schema_parts() -> tuple[bytes, bytes]:
    """SQL that makes the tables, and what every migration makes sure of.

    The transaction that ``schema.sql`` has for psql is left out: callers are in one of their own.
    """
    inside = SCHEMA.read_text().partition("\nBEGIN;\n")[2].removesuffix("\nCOMMIT;\n")
    tables, heading, rest = inside.partition(_SECOND_PART)
    return tables.encode(), f"{heading}{rest}".encode()


def begin_change(connection: psycopg.Connection) -> None:
    """Wait for the turn to change the schema, in the caller's transaction, which keeps it.

    Raises:
        DatabaseError: the server is too old, or lacks pgvector.
    """
    _check_server(connection)
    # Two builds of one index at once would fail one of them, and taken later these locks would
    # deadlock with a load that drops the indexes.
    for key in (_LOCK_KEY, *_INDEX_LOCK_KEYS):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (key,))


def apply(connection: psycopg.Connection, version: int, place: str) -> None:
    """Run what leads from ``version`` to NEWEST_VERSION, in the caller's transaction."""
    refuse_newer(version, place)
    tables, repeatable = schema_parts()
    steps = [UPGRADES[number].read_bytes() for number in sorted(UPGRADES) if number > version]
    for script in steps if version else [tables]:
        connection.execute(script)
    if version < NEWEST_VERSION:
        record_version(connection, NEWEST_VERSION)
    connection.execute(repeatable)


def record_version(connection: psycopg.Connection, version: int) -> None:
    """Note which version the schema is of, in the caller's transaction."""
    connection.execute(
        "INSERT INTO schema_version (version) VALUES (%s)"
        " ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, applied_at = now()",
        (version,),
    )


def refuse_newer(version: int, place: str) -> None:
    """Refuse the schema at ``place`` where its ``version`` is above NEWEST_VERSION.

    Raises:
        DatabaseError: a newer Helix made it.
    """
    if version > NEWEST_VERSION:
        raise DatabaseError(
            f"the schema at {place} is version {version}, and this Helix knows {NEWEST_VERSION}"
            " at most: install the newer Helix that made it"
        )


def missing_steps(url: str) -> list[str]:
    """The names of the steps that ``migrate`` would take; empty where the schema is up to date.

    Raises:
        DatabaseError: as migrate does; the schema is of a newer Helix.
    """
    with connect(url) as connection:
        version = schema_version(connection)
    refuse_newer(version, redact(url))
    if not version:
        return [SCHEMA.name]
    return [UPGRADES[number].name for number in sorted(UPGRADES) if number > version]


def schema_version(connection: psycopg.Connection) -> int:
    """The version of the schema in this database; 0 where there is none.

    Raises:
        DatabaseError: there is one from before version 1, which no step leads on from.
    """
    exists = "SELECT to_regclass(%s) IS NOT NULL"
    versioned, first, earlier = (
        connection.execute(exists, (table,)).fetchone() == (True,)
        for table in ("schema_version", "gate_fits", "documents")
    )
    if versioned:
        row = connection.execute("SELECT version FROM schema_version").fetchone()
        return int(row[0]) if row else 0
    if earlier and not first:  # gate_fits is the youngest table of version 1
        raise DatabaseError(
            "the schema is of a time before version 1: give DATABASE_URL an empty database, and"
            " ingest again"
        )
    return int(first)


def schema_ready(connection: psycopg.Connection) -> bool:
    """True where the schema is of NEWEST_VERSION; a newer one, which has more, will do too."""
    return schema_version(connection) >= NEWEST_VERSION


def check_schema(url: str) -> None:
    """Return when the database can be used as it is.

    Raises:
        DatabaseError: it cannot be reached, or its schema is missing or old.
    """
    with connect(url) as connection:
        if not schema_ready(connection):
            raise DatabaseError(
                f"the schema at {redact(url)} is missing or old: run `helix migrate`"
            )


def connect(url: str) -> psycopg.Connection:
    """A connection to the database of a ``postgresql://`` URL; waits where that recovers.

    Raises:
        DatabaseError: it cannot be reached, or is not ready within RECOVERY_SECONDS.
    """
    deadline = time.monotonic() + RECOVERY_SECONDS
    passing = [_RECOVERING, _CUT]
    while True:
        try:
            return psycopg.connect(url, connect_timeout=CONNECT_SECONDS)
        except psycopg.Error as error:
            told = next((one for one in passing if one.search(str(error))), None)
            if told is None or time.monotonic() > deadline:
                raise explain(url, error) from None
            passing = [_RECOVERING] if told is _CUT else [_RECOVERING, _CUT]
        time.sleep(_LOOK_SECONDS)


def _check_server(connection: psycopg.Connection) -> None:
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions"
        " WHERE name = 'vector'"
    ).fetchone()
    available, installed = row or (None, None)
    problem = postgres_problem(connection.info.server_version)
    if problem := problem or pgvector_problem(available, installed):
        raise DatabaseError(problem)


def forbidden(connection: psycopg.Connection, error: psycopg.Error) -> DatabaseError:
    """The error for a change refused to the role of ``connection``, with the remedy."""
    user = connection.info.user
    if " role" in (reason := primary(error)):
        return DatabaseError(
            f"the role {user} may not create roles: have a superuser run CREATE ROLE helix_app"
            " NOLOGIN, CREATE ROLE helix_limited NOLOGIN and GRANT helix_app, helix_limited TO"
            f" {user}, then try again"
        )
    if "create extension" in reason:
        return DatabaseError(
            f"the role {user} may not install pgvector: have a superuser run"
            " CREATE EXTENSION vector in this database, then try again"
        )
    return DatabaseError(
        f"the role {user} may not change the schema ({reason}): let the database's owner run this"
    )


def primary(error: psycopg.Error) -> str:
    """The server's first line; never its DETAIL, which may quote a row."""
    return error.diag.message_primary or str(error).partition("\n")[0]


def database_url() -> str:
    """DATABASE_URL from the environment, else from the files of ``db.url``."""
    value = os.environ.get("DATABASE_URL") or read_env_files().get("DATABASE_URL")
    if not value:
        raise DatabaseError(f"DATABASE_URL is not set: {HOW}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Migrate and say so in one line; 1, with one line on stderr, when it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m db.migrate",
        description="Bring the database of DATABASE_URL to Helix's schema."
        " Safe to run at any time, any number of times, from any number of places.",
    )
    parser.add_argument(
        "--check", action="store_true", help="Change nothing: say what there is to do; 1 if any."
    )
    checking = parser.parse_args(arguments).check
    try:
        configured = database_url()
        place = place_of(configured)
        with open_database(configured) as url:
            if checking and (steps := missing_steps(url)):
                sys.stdout.write(f"the schema at {place} lacks {', '.join(steps)}\n")
                return 1
            if not checking:
                migrate(url)
    except DatabaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"the schema is up to date at {place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
