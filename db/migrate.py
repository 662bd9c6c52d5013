"""``python -m db.migrate``: bring the database of DATABASE_URL to the schema of ``schema.sql``.

One transaction under an advisory lock: any number may run at once, again, or be killed halfway.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg
from dotenv import dotenv_values

from db.embedded import embedded_directory
from db.errors import DatabaseError
from db.url import HOW, explain, is_embedded, open_database, redact

SCHEMA = Path(__file__).with_name("schema.sql")
MINIMUM_POSTGRES = 15
MINIMUM_PGVECTOR = (0, 8)
"""0.8 brought iterative scans, without which a filtered search returns too few rows."""
CONNECT_SECONDS = 10

REQUIRED_COLUMNS = {
    "documents": (
        "id", "title", "source_uri", "content_hash", "recipe", "text", "created_at", "updated_at",
        "status", "error", "media", "size", "outline", "warnings", "origin", "file_hash",
        "language", "tenant_id", "tags",
    ),
    "files": ("content_hash", "data", "size", "created_at", "tenant_id"),
    "chunks": (
        "id", "node_id", "content", "embedding", "metadata_", "document_id", "ordinal",
        "start_char", "end_char", "tenant_id",
    ),
    "data_chunks": ("id", "text", "metadata_", "node_id", "embedding"),
    "chunk_terms": ("tenant_id", "document_id", "chunk_id", "length", "keys", "impacts"),
    "term_counts": ("tenant_id", "key", "n"),
    "term_changes": ("tenant_id", "key", "n"),
    "term_statistics": ("tenant_id", "key", "n"),
    "api_keys": ("id", "tenant_id", "name", "hint", "key_hash", "created_at", "revoked_at"),
    "contacts": ("process", "kind", "host", "port", "n", "first_at", "last_at"),
    "embedding_space": ("only_row", "identity", "claimed_at"),
    "embedding_change": ("only_row", "identity", "settled", "last", "started_at"),
    "embedding_cache": ("key", "model", "vector", "created_at", "used_at"),
    "runs": (
        "id", "kind", "status", "stage", "options", "key", "host", "ignored", "error",
        "created_at", "started_at", "finished_at", "version", "tenant_id",
    ),
    "run_files": (
        "run_id", "n", "source_uri", "title", "media", "size", "content_hash", "file_hash",
        "keep_file", "document_id", "origin", "status", "done", "total", "chunks", "reason",
        "warnings", "changed_at", "version", "tenant_id", "tags",
    ),
    "answers": ("id", "tenant_id", "created_at", "question", "document_ids", "receipt"),
    "feedback": ("id", "tenant_id", "answer_id", "rating", "note", "created_at"),
    "gate_fits": (
        "id", "tenant_id", "embedder", "max_distance", "model", "documents", "chunks",
        "target_risk", "measured", "created_at",
    ),
}  # fmt: skip
"""What must be there for this release to run; a newer schema, which has more, will do too."""

_LOCK_KEY = 0x48656C6978  # "Helix"


def postgres_problem(version: int) -> str | None:
    """What is wrong with a server of this version number (160004 is 16.4); None when nothing."""
    if version >= MINIMUM_POSTGRES * 10_000:
        return None
    return (
        f"the server is Postgres {version // 10_000}, and Helix needs {MINIMUM_POSTGRES} or newer:"
        " upgrade it, or set DATABASE_URL=embedded"
    )


def pgvector_problem(available: str | None, installed: str | None) -> str | None:
    """What is wrong with the server's pgvector; None when nothing.

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
    """Apply the schema to the database of a ``postgresql://`` URL; nothing changes when it fails.

    Raises:
        DatabaseError: it cannot be reached, is too old, lacks pgvector, or refuses the change.
    """
    with _connect(url) as connection:
        try:
            _check_server(connection)
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
            connection.execute(SCHEMA.read_bytes())
            connection.commit()
        except psycopg.errors.InsufficientPrivilege as error:
            raise _forbidden(connection, error) from None
        except psycopg.Error as error:
            raise DatabaseError(
                f"the schema cannot be applied at {redact(url)}: {_primary(error)}"
            ) from None


def schema_ready(connection: psycopg.Connection) -> bool:
    """Whether every table and column that this release uses is there."""
    rows = connection.execute(
        "SELECT name, attname FROM unnest(%s::text[]) AS name JOIN pg_attribute"
        " ON attrelid = to_regclass(name) AND attnum > 0 AND NOT attisdropped",
        (list(REQUIRED_COLUMNS),),
    ).fetchall()
    needed = {(table, column) for table, columns in REQUIRED_COLUMNS.items() for column in columns}
    return needed <= set(rows)


def check_schema(url: str) -> None:
    """Return when the database can be used as it is.

    Raises:
        DatabaseError: it cannot be reached, or its schema is missing or old.
    """
    with _connect(url) as connection:
        if not schema_ready(connection):
            raise DatabaseError(
                f"the schema at {redact(url)} is missing or old: run `python -m db.migrate`"
            )


def _connect(url: str) -> psycopg.Connection:
    try:
        return psycopg.connect(url, connect_timeout=CONNECT_SECONDS)
    except psycopg.Error as error:
        raise explain(url, error) from None


def _check_server(connection: psycopg.Connection) -> None:
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions"
        " WHERE name = 'vector'"
    ).fetchone()
    available, installed = row or (None, None)
    problem = postgres_problem(connection.info.server_version)
    if problem := problem or pgvector_problem(available, installed):
        raise DatabaseError(problem)


def _forbidden(connection: psycopg.Connection, error: psycopg.Error) -> DatabaseError:
    user = connection.info.user
    if " role" in (reason := _primary(error)):
        return DatabaseError(
            f"the role {user} may not create roles: have a superuser run CREATE ROLE helix_app"
            f" NOLOGIN and GRANT helix_app TO {user}, then try again"
        )
    if "create extension" in reason:
        return DatabaseError(
            f"the role {user} may not install pgvector: have a superuser run"
            " CREATE EXTENSION vector in this database, then try again"
        )
    return DatabaseError(
        f"the role {user} may not change the schema ({reason}): let the database's owner run this"
    )


def _primary(error: psycopg.Error) -> str:
    """The server's first line; never its DETAIL, which may quote a row."""
    return error.diag.message_primary or str(error).partition("\n")[0]


def database_url() -> str:
    """DATABASE_URL from the environment, else from ``.env`` in the working directory."""
    try:
        value = os.environ.get("DATABASE_URL") or dotenv_values(".env").get("DATABASE_URL")
    except (OSError, UnicodeDecodeError):
        raise DatabaseError("the file .env cannot be read: it must be UTF-8 text") from None
    if not value:
        raise DatabaseError(f"DATABASE_URL is not set: {HOW}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Migrate and say so in one line; 1, with one line on stderr, when it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m db.migrate",
        description="Bring the database of DATABASE_URL (or of .env) to Helix's schema."
        " Safe to run at any time, any number of times, from any number of places.",
    )
    parser.parse_args(arguments)
    try:
        configured = database_url()
        with open_database(configured) as url:
            migrate(url)
        place = (
            f"embedded ({embedded_directory(configured)})"
            if is_embedded(configured)
            else redact(configured)
        )
    except DatabaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"the schema is up to date at {place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
