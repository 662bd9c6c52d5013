"""Databases of earlier versions: brought to the present schema, with all that is in them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from db.errors import DatabaseError
from db.migrate import NEWEST_VERSION, UPGRADES, check_schema, main, migrate, missing_steps
from helix.conversations.receipts.receipt_store import read_receipt
from helix.conversations.receipts.stored_sources import rebuild_prompt, verify_citations
from helix.library.access import Library
from helix.providers.offline import offline_embedder
from helix.settings import load_settings
from helix.storage.statements.sessions import ROLE
from tests.support.catalog import all_rows, catalog
from tests.support.fake_embedder import opened

FIXTURES = Path(__file__).parent / "fixtures"
ADDED_ROWS = FIXTURES / "added_rows"
"""By version, rows of the tables that its step made."""
UNFILLED = {
    "embedding_change", "tenant_settings", "document_values", "document_versions", "chunk_versions",
    "passkeys", "passkey_challenges", "erasures",
}  # fmt: skip
"""The tables that may be empty in an earlier version: one of the moment, and the newest step's."""
FILE_NAMES = {
    1: "handbook.md", 2: "plans.csv", 3: "handbook.md", 4: "vault.txt", 5: "laden.txt",
    6: "broken.pdf", 8: "later.txt",
}  # fmt: skip
"""By documents.id, what version 3 adds to the fixture."""


@pytest.fixture
def earlier(version_1: str, request: pytest.FixtureRequest) -> str:
    """URL of such a database at version ``request.param``."""
    with psycopg.connect(version_1) as connection:
        for number in range(2, request.param + 1):
            connection.execute(UPGRADES[number].read_bytes())
            connection.execute(
                "INSERT INTO schema_version (version) VALUES (%s)"
                " ON CONFLICT (only_row) DO UPDATE SET version = excluded.version",
                (number,),
            )
            if (rows := ADDED_ROWS / f"{number:04}.sql").exists():  # of the tables it made
                connection.execute(rows.read_bytes())
    return version_1


_ALWAYS = {*range(1, NEWEST_VERSION, 8), NEWEST_VERSION - 1}
"""The versions that are always tried; the last of them has been through all steps but one."""

every_earlier_version = pytest.mark.parametrize(
    "earlier",
    [
        pytest.param(number, marks=() if number in _ALWAYS else pytest.mark.soak)
        for number in range(1, NEWEST_VERSION)
    ],
    indirect=True,
    ids="version {}".format,
)


def recorded(url: str) -> list[tuple[int]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT version FROM schema_version").fetchall()


def test_the_steps_are_numbered_without_a_gap(database_url: str) -> None:
    assert sorted(UPGRADES) == list(range(2, NEWEST_VERSION + 1))
    assert recorded(database_url) == [(NEWEST_VERSION,)]


@pytest.fixture(scope="module")
def fresh(module_database_url: str) -> dict[str, set[str]]:
    """The catalog of a database that was made at the present version."""
    return catalog(module_database_url)


@every_earlier_version
def test_every_row_is_kept_and_the_schema_ends_as_a_fresh_one(
    earlier: str, fresh: dict[str, set[str]]
) -> None:
    before = all_rows(earlier)
    assert {table for table, rows in before.items() if not rows} <= UNFILLED
    with pytest.raises(DatabaseError, match=r"missing or old: run `helix migrate`"):
        check_schema(earlier)
    migrate(earlier)
    check_schema(earlier)
    after = all_rows(earlier)
    ((version,),) = recorded(earlier)
    assert version == NEWEST_VERSION
    for table, rows in before.items():
        columns = rows[0].keys() if rows else {}
        kept = [{name: row[name] for name in columns} for row in after[table]]
        if table != "schema_version":
            assert _sorted(kept) == _sorted(rows), table
    made = {table for table in after.keys() - before.keys() if after[table]}
    assert made <= {"schema_version", "progress_days"}  # the days are counted of what is there
    added = {
        row["id"]: (row["file_name"], row["facts"], row["edits"]) for row in after["documents"]
    }
    assert added == {number: (name, {}, {}) for number, name in FILE_NAMES.items()}
    opened = [(key["scopes"], key["expires_at"], key["used_at"]) for key in after["api_keys"]]
    assert opened.count((["ask", "read", "write", "admin"], None, None)) == 3
    upgraded = catalog(earlier)
    for part, entries in fresh.items():
        assert upgraded[part] == entries, part
        assert entries
    migrate(earlier)
    assert catalog(earlier) == fresh


def _sorted(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


async def test_searches_find_what_version_1_found(version_1: str) -> None:
    """``version_1_found.json`` is what the store of commit 3066d80 found in the same rows."""
    migrate(version_1)
    settings = load_settings(database_url="embedded", llm="offline", embedder="offline")
    embedder = offline_embedder(settings, "")
    searches = json.loads((FIXTURES / "version_1_found.json").read_text())
    async with opened(version_1, embedder.identity) as whole:
        for found in searches:
            store, question = whole.of(found["tenant"]), found["question"]
            vector = await embedder.model.aget_query_embedding(question)
            near = await store.search(vector, 5)
            assert [hit.chunk_id for hit in near] == [chunk for chunk, _ in found["near"]]
            distances = [distance for _, distance in found["near"]]
            assert [hit.distance for hit in near] == pytest.approx(distances, abs=1e-5)
            both = await store.search_hybrid(question, vector, 5)
            assert [hit.chunk_id for hit in both.hits] == found["hybrid"]


async def test_receipts_of_version_1_hold(version_1: str) -> None:
    migrate(version_1)
    query = "SELECT id, tenant_id, receipt ->> 'answer' FROM answers ORDER BY id"
    with psycopg.connect(version_1) as connection:
        answers = connection.execute(query).fetchall()
    cited = 0
    async with opened(version_1) as store:
        for number, tenant, answer in answers:
            library = Library(store.of(tenant))
            receipt = await read_receipt(library, number, days=36500)
            assert receipt["answer_sha256"] == sha256(answer.encode()).hexdigest()
            verified = await verify_citations(library, receipt)
            assert verified["status"] == "holds", receipt["question"]
            prompt = await rebuild_prompt(library, receipt)
            assert set(prompt.states.values()) <= {"same"}
            cited += len(verified["citations"])
    assert (len(answers), cited) == (3, 2)


def test_what_version_1_wrote_is_walled_off(version_1: str) -> None:
    migrate(version_1)
    with psycopg.connect(version_1) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        connection.execute("SELECT set_config('helix.tenant', 'acme', true)")
        tenants = connection.execute("SELECT DISTINCT tenant_id FROM documents").fetchall()
    assert tenants == [("acme",)]


def test_a_deleted_document_leaves_the_answers_of_version_1(version_1: str) -> None:
    migrate(version_1)
    query = "SELECT receipt ->> 'answer' FROM answers WHERE 4 = ANY(document_ids)"
    with psycopg.connect(version_1, autocommit=True) as connection:
        ((answer,),) = connection.execute(query).fetchall()
        assert "cellar" in answer
        connection.execute("DELETE FROM documents WHERE id = 4")
        assert connection.execute(query).fetchall() == []
        left = connection.execute("SELECT count(*) FROM chunk_terms WHERE document_id = 4")
        assert left.fetchone() == (0,)


@pytest.mark.parametrize("earlier", [12], indirect=True)
def test_messages_are_counted_of_the_conversations_that_are_there(
    earlier: str, database_url: str
) -> None:
    found = []
    for url in (earlier, database_url):  # before the step, and where the trigger counts
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO conversations (id) VALUES ('long'), ('none')")
            connection.execute(
                "INSERT INTO messages (conversation_id, branch, depth, question, answer_id, status)"
                " SELECT 'long', n, 0, 'Why?', '', 'done' FROM generate_series(1, 3) n"
            )
        migrate(url)
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "SELECT id, messages FROM conversations WHERE tenant_id = 'default' ORDER BY id"
            )
            found.append(rows.fetchall())
    assert found == [[("long", 3), ("none", 0)]] * 2


@pytest.mark.parametrize("earlier", [11], indirect=True)
def test_days_of_progress_are_counted_of_the_sessions_that_are_there(
    earlier: str, database_url: str
) -> None:
    days = (
        "SELECT learner, day, active::text, sessions, lasted FROM progress_days"
        " WHERE tenant_id = 'default' ORDER BY 1, 2"
    )
    found = []
    for url in (earlier, database_url):  # before the step, and where the trigger counts
        with psycopg.connect(url) as connection:
            connection.execute(
                "INSERT INTO progress_sessions (learner, started_at, ended_at) VALUES"
                " ('ada', '2026-03-01 23:50Z', '2026-03-02 00:20Z'),"
                " ('ada', '2026-03-02 09:00Z', '2026-03-02 09:00Z'),"
                " ('eve', '2026-03-02 09:00Z', '2026-03-02 10:00Z')"
            )
        migrate(url)
        with psycopg.connect(url) as connection:
            found.append(connection.execute(days).fetchall())
    assert found[0] == found[1]
    counted = [(name, str(day), active.count("1"), n) for name, day, active, n, _ in found[0]]
    assert counted == [
        ("ada", "2026-03-01", 1, 1), ("ada", "2026-03-02", 3, 1), ("eve", "2026-03-02", 5, 1),
    ]  # fmt: skip


def test_upgrades_at_once_wait_for_each_other(version_1: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(migrate, [version_1] * 8))
    assert recorded(version_1) == [(NEWEST_VERSION,)]


def test_where_all_is_there_a_migration_waits_for_nobody(version_1: str) -> None:
    """Not for a reader nor for a writer that have not ended yet."""
    migrate(version_1)
    with psycopg.connect(version_1) as reader, psycopg.connect(version_1) as writer:
        reader.execute("SELECT FROM chunks, documents, answers, gate_fits")
        writer.execute("UPDATE documents SET title = 'Changed' WHERE id = 1")
        impatient = f"{version_1}&options=-c%20lock_timeout%3D10s"
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(migrate, [impatient] * 8))
        assert recorded(version_1) == [(NEWEST_VERSION,)]


def test_a_check_says_what_there_is_to_do_and_does_nothing(
    version_1: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", version_1)
    before = catalog(version_1)
    assert main(["--check"]) == 1
    steps = ", ".join(UPGRADES[number].name for number in range(2, NEWEST_VERSION + 1))
    assert capsys.readouterr().out.endswith(f" lacks {steps}\n")
    assert catalog(version_1) == before
    assert main([]) == main(["--check"]) == 0
    assert capsys.readouterr().out.count("the schema is up to date") == 2


def test_a_failed_step_leaves_version_1(
    version_1: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tmp_path / "step.sql"
    step.write_bytes(UPGRADES[NEWEST_VERSION].read_bytes() + b"DROP TABLE nowhere;")
    monkeypatch.setitem(UPGRADES, NEWEST_VERSION, step)
    before = catalog(version_1)
    with pytest.raises(DatabaseError, match=r'cannot be applied .*"nowhere" does not'):
        migrate(version_1)
    assert catalog(version_1) == before


def test_a_newer_schema_is_used_and_not_migrated(database_url: str) -> None:
    newer = NEWEST_VERSION + 1
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE schema_version SET version = %s", (newer,))
    check_schema(database_url)
    said = f"is version {newer}, and this Helix knows {NEWEST_VERSION} at most: install the newer"
    for use in (migrate, missing_steps):
        with pytest.raises(DatabaseError, match=said):
            use(database_url)
    assert recorded(database_url) == [(newer,)]


def test_a_schema_from_before_version_1_is_refused(version_1: str) -> None:
    with psycopg.connect(version_1) as connection:
        connection.execute("DROP TABLE gate_fits")
    digest = sha256(repr(all_rows(version_1)).encode()).hexdigest()
    for use in (migrate, check_schema):
        with pytest.raises(DatabaseError, match="before version 1: give DATABASE_URL an empty"):
            use(version_1)
    assert sha256(repr(all_rows(version_1)).encode()).hexdigest() == digest
