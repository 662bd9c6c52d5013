"""Databases of the evals: a run's own, filled by the real pipeline; and empty ones."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from db.embedded_postgres import DATABASE, acquire
from db.migrate import migrate
from db.url import read_env_files
from evals.cases import CaseError
from evals.metrics.retrieval import Chunk
from evals.suites import Suite
from helix.services import Services
from helix.settings import Settings, load_settings
from pipelines.runs.foreground import start_and_follow

_DOCUMENTS = """
SELECT row_to_json(x) FROM (
    SELECT source_uri, text FROM documents
    WHERE tenant_id = %(tenant)s AND source_uri = ANY(%(sources)s) ORDER BY id) x
"""
_CHUNKS = """
SELECT row_to_json(x) FROM (
    SELECT c.id, d.source_uri, c.start_char AS start, c.end_char AS end
    FROM chunks c JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
    WHERE c.tenant_id = %(tenant)s AND d.source_uri = ANY(%(sources)s) ORDER BY c.id) x
"""


@contextlib.contextmanager
def settings_of_run(keep: bool = False) -> Iterator[Settings]:
    """The settings of a run; a database of its own unless the environment has DATABASE_URL.

    What a file of settings names as the database is somebody's, and left alone. Provider: as set,
    else Gemini where there is a key, else offline. With ``keep`` the own database stays, and is
    named.

    Raises:
        SettingsError: as load_settings does.
    """
    named = read_env_files() | os.environ
    kind = "gemini" if named.get("GEMINI_API_KEY") else "offline"
    values = {name: named.get(name) or kind for name in ("HELIX_LLM", "HELIX_EMBEDDER")}
    overrides: dict[str, object] = {
        "llm": values["HELIX_LLM"], "embedder": values["HELIX_EMBEDDER"]
    }  # fmt: skip
    if os.environ.get("DATABASE_URL"):
        yield load_settings(**overrides)
        return
    # not below a folder that others may not enter: as root, Postgres runs as another user
    folder = Path(tempfile.mkdtemp(prefix="helix-evals-"))
    try:
        yield load_settings(database_url=f"embedded:{folder}", **overrides)
    finally:
        if keep:
            print(f"kept: DATABASE_URL=embedded:{folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def ingest(settings: Settings, suite: Suite, keep_files: bool = False) -> None:
    """Bring the documents in, as ``python -m pipelines.ingest`` does, or with ``--keep-files``.

    Raises:
        CaseError: a file could not be read.
        HelixError: as start_and_follow does.
    """
    if suite.path is None:
        return
    options: dict[str, object] = {"paths": [suite.path], "base": str(suite.base), "title": None}
    if keep_files:
        options["keep_files"] = True
    with contextlib.redirect_stdout(sys.stderr):  # standard output is the report's
        failed = start_and_follow(settings, "paths", options, tenant=suite.tenant)
    if failed:
        raise CaseError(f"some files of the suite {suite.name} could not be read: see above")


@dataclass(frozen=True)
class Stored:
    """The documents that a suite's cases name: texts by source_uri, and where their chunks lie."""

    texts: dict[str, str]
    chunks: list[Chunk]


async def stored(services: Services, suite: Suite) -> Stored:
    """The stored texts and chunks of the documents of ``suite``; raises StoreUnavailable."""
    library = services.library.of(suite.tenant)
    values = {"sources": suite.sources}
    texts = {row["source_uri"]: row["text"] for row in await library.rows(_DOCUMENTS, values)}
    chunks = [
        (row["id"], row["source_uri"], row["start"], row["end"])
        for row in await library.rows(_CHUNKS, values)
    ]
    return Stored(texts, chunks)


@contextlib.contextmanager
def temporary_databases() -> Iterator[Callable[[str], str]]:
    """A Postgres for as long as the block lasts; the function given creates a database with the
    schema by its name, and gives its URL."""
    # not below a folder that others may not enter: as root, Postgres runs as another user
    folder = Path(tempfile.mkdtemp(prefix="helix-evals-"))
    try:
        with acquire(folder) as server:

            def create(name: str) -> str:
                with psycopg.connect(server.url, autocommit=True) as connection:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
                url = server.url.replace(f"/{DATABASE}?", f"/{name}?")
                migrate(url)
                return url

            yield create
    finally:
        shutil.rmtree(folder, ignore_errors=True)
