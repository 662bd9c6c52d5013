"""The ingest command where what Helix depends on fails."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from typer.testing import Result

from db.embedded_postgres import EmbeddedPostgres, Layout
from tests.support.fake_embedder import documents, embedded, rows
from tests.support.ingest_command import ingest
from tests.support.repository import ROOT
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Vectors, refused_key

pytestmark = pytest.mark.processes


def one_line(result: Result) -> str:
    """The error a run ended with; nothing else, and no secret, may be on standard error."""
    assert result.exit_code == 1
    assert "hunter2" not in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("ingest: ")
    return lines[0]


def test_a_database_that_is_down(folder: Path, wire: GeminiWire) -> None:
    (folder / "a.txt").write_text("Text.")
    url = "postgresql://helix:hunter2@127.0.0.1:1/helix"
    variables = {**os.environ, "DATABASE_URL": url}
    process = Process("pipelines.ingest", str(folder / "a.txt"), cwd=ROOT, env=variables)
    told, errors = process.communicate(timeout=100)
    assert (process.returncode, told, len(errors.splitlines())) == (1, "", 1)
    assert "cannot reach postgresql://helix:***@127.0.0.1:1/helix (" in errors
    assert wire.requests == []


@pytest.fixture
def password_role(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A role that the real server asks for its password, which is "right"."""
    rules = Layout(postgres.directory).pgdata / "pg_hba.conf"
    before = rules.read_text()
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS asked")
        connection.execute("CREATE ROLE asked LOGIN PASSWORD 'right'")
        try:
            rules.write_text("local all asked scram-sha-256\n" + before)
            connection.execute("SELECT pg_reload_conf()")
            yield "asked"
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE asked")


def test_a_wrong_password(
    folder: Path, database_url: str, password_role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    wrong = database_url.replace("//postgres@", f"//{password_role}:hunter2@")
    deadline = time.monotonic() + 60
    while _lets_in(wrong):  # until the server has read its rules again
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert _lets_in(wrong.replace("hunter2", "right"))
    monkeypatch.setenv("DATABASE_URL", wrong)
    said = one_line(ingest("a.txt"))
    assert "password authentication failed" in said
    assert "check user and password in DATABASE_URL" in said


def _lets_in(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_database_without_schema(
    folder: Path, bare_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    monkeypatch.setenv("DATABASE_URL", bare_database_url)
    assert "run `helix migrate`" in one_line(ingest("a.txt"))


def test_a_role_that_may_not_write(
    folder: Path, postgres: EmbeddedPostgres, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        name = sql.Identifier(connection.info.dbname)
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO reader").format(name))
    monkeypatch.setenv("DATABASE_URL", database_url.replace("//postgres@", "//reader@"))
    assert "reader may not act as helix_app and helix_limited: have them granted" in one_line(
        ingest("a.txt")
    )
    with psycopg.connect(database_url) as connection:
        connection.execute("GRANT helix_app, helix_limited TO reader")
    assert "reader does not own Helix's tables" in one_line(ingest("a.txt"))
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER ROLE reader BYPASSRLS")
    assert "this role may not make it: run `helix worker" in one_line(ingest("a.txt"))


def test_a_database_filled_by_another_embedder(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    assert ingest("a.txt").exit_code == 0
    before = rows(database_url, "SELECT id, content FROM chunks")
    (folder / "a.txt").write_text("Other text.")
    for other in ("offline", "gemini:other-model"):
        monkeypatch.setenv("HELIX_EMBEDDER", other)
        said = one_line(ingest("a.txt"))
        assert "filled by the embedder gemini:gemini-embedding-001:1536" in said
        assert "set HELIX_EMBEDDER=gemini" in said
    assert rows(database_url, "SELECT id, content FROM chunks") == before


def test_an_embedding_service_that_fails_midway(
    folder: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix.providers.gemini.embedding.MAX_BATCH", 4)
    for number in range(10):
        (folder / f"{number}.txt").write_text(f"Number {number}.")
    wire.script(Vectors(), refused_key(), on="embed")
    result = ingest(".")
    assert result.exit_code == 1
    *added, last = result.stderr.splitlines()
    stored = documents(database_url)
    assert sorted(added) == sorted(f"added     {uri} (1 chunks)" for uri in stored)
    answered, *_ = wire.received("embed")  # of four files, or fewer where others were late
    assert len(answered.body["requests"]) <= len(stored) < 10, "what was answered is stored"
    assert last.startswith("ingest: stopped: ") and "GEMINI_API_KEY" in last
    assert last.endswith(f"({len(stored)} files are stored; run it again to go on)")
    wire.requests.clear()
    result = ingest(".")
    left = 10 - len(stored)
    assert f"10 files: {left} added, 0 replaced, {len(stored)} unchanged" in result.stdout
    assert len(embedded(wire)) <= left, "what was embedded before the stop is in the cache"
    assert rows(database_url, "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass",
                "chunks_embedding_hnsw") == [(True,)]  # fmt: skip


def test_connections_killed_while_embedding_are_survived(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    (folder / "a.txt").write_text("Text.")
    wire.delay = 0.5

    def kill() -> None:
        assert wire.wait_until(lambda wire: bool(wire.received("embed")))
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        rows(database_url, ours + " WHERE datname = current_database() AND pid <> pg_backend_pid()")

    killer = threading.Thread(target=kill)
    killer.start()
    result = ingest("a.txt")
    killer.join()
    assert (result.exit_code, len(documents(database_url))) == (0, 1), result.stderr
