"""Backups: the same rows and schema after, and nothing changed by a file that is not whole."""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from db import migrate as migration
from db.backup.archive import MANIFEST, Contents, Writer, checked
from db.backup.dump import save
from db.backup.restore import restore
from db.backup.tables import NOT_COPIED, Names
from db.errors import DatabaseError
from db.migrate import NEWEST_VERSION, UPGRADES, migrate
from helix.library.signing_keys import listed_keys, signing_key
from tests.support.catalog import all_rows, catalog
from tests.support.sql_rows import add_chunk, add_document, count

MADE_BY = "Helix of a test"
_DAMAGED = r"is no whole backup .*: take another copy"


@pytest.fixture
def filled(version_1: str) -> str:
    """URL of a database with rows in nearly every table."""
    migrate(version_1)
    return version_1


@pytest.fixture
def backup(filled: str, tmp_path: Path) -> Path:
    save(filled, tmp_path / "all.backup", MADE_BY)
    return tmp_path / "all.backup"


def test_a_restored_database_is_the_same(filled: str, backup: Path, database_url: str) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600
    manifest = restore(database_url, backup)
    before, after = all_rows(filled), all_rows(database_url)
    assert sum(map(bool, before.values())) > 10
    for rows in (before, after):  # what follows from the chunks is counted anew
        for table in ("term_counts", "term_changes", *NOT_COPIED):
            del rows[table]
    assert after == before
    assert {table: len(rows) for table, rows in before.items()}.items() <= {
        table: contents.rows for table, contents in manifest.tables.items()
    }.items()
    assert catalog(database_url) == catalog(filled)
    with psycopg.connect(database_url) as connection:
        new = add_document(connection, "a new one")
        assert new > max(row["id"] for row in before["documents"])
        add_chunk(connection, new)
        totals = "SELECT tenant_id, sum(n) FROM term_statistics WHERE key = 0 GROUP BY 1"
        held = "SELECT tenant_id, count(*) FROM chunk_terms GROUP BY 1"
        assert sorted(connection.execute(totals)) == sorted(connection.execute(held))


def test_every_table_of_the_schema_is_in_a_backup(backup: Path, database_url: str) -> None:
    """The names are read off the schema's text: one that is written another way would be lost."""
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT relname, relkind FROM pg_class c"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
            " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"
        ).fetchall()
    names = Names.of_this_helix()
    assert {name for name, _ in found} <= set(names.relations)
    tables = {name for name, kind in found if kind != "v"}
    assert set(checked(backup).tables) == tables - NOT_COPIED


def test_who_has_a_backup_cannot_sign_for_the_installation(
    filled: str, database_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(filled) as connection:
        key = signing_key(connection, None)
    save(filled, tmp_path / "b", MADE_BY)
    with zipfile.ZipFile(tmp_path / "b") as archive:
        members = b"".join(map(archive.read, archive.namelist()))
    assert key.private.encode() not in members and key.public.hex().encode() in members
    restore(database_url, tmp_path / "b")
    with psycopg.connect(database_url) as connection:
        assert signing_key(connection, None).key_id != key.key_id
        listed = [one["public_key"] for one in listed_keys(connection)]
    assert len(listed) == 2 and key.public.hex() in listed  # what was signed is verified as before


def test_rows_of_after_the_beginning_are_not_in_it(
    filled: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One snapshot: a document that is written while the tables are read is in none of them."""
    from db.backup import dump

    copied: list[str] = []
    copy_out = dump._copy_out

    def write_first(
        connection: psycopg.Connection, writer: Writer, table: str, columns: list[str]
    ) -> Contents:
        if not copied:
            with psycopg.connect(filled) as other:
                add_chunk(other, add_document(other, "meanwhile"))
        copied.append(table)
        return copy_out(connection, writer, table, columns)

    monkeypatch.setattr(dump, "_copy_out", write_first)
    before = all_rows(filled)
    save(filled, tmp_path / "b", MADE_BY)
    restore(database_url, tmp_path / "b")
    after = all_rows(database_url)
    assert copied
    for table in ("documents", "chunks"):
        assert after[table] == before[table]
        assert len(all_rows(filled)[table]) == len(before[table]) + 1


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def _flip(file: Path) -> None:
    """Change a bit of the largest table: what a member's header says beside it restores nothing."""
    with zipfile.ZipFile(file) as archive:
        table = max(archive.infolist(), key=lambda member: member.compress_size)
        following = sorted(member.header_offset for member in archive.infolist())
    end = next((at for at in following if at > table.header_offset), archive.start_dir)
    data = bytearray(file.read_bytes())
    data[end - table.compress_size // 2] ^= 1
    file.write_bytes(data)


def _rewritten(file: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            if (changed := change(name, data)) is not None:
                archive.writestr(name, changed)


def _lose_a_table(file: Path) -> None:
    _rewritten(file, lambda name, data: None if name == "tables/documents.copy" else data)


def _change_a_table(file: Path) -> None:
    _rewritten(file, lambda name, data: data[:-1] if name == "tables/chunks.copy" else data)


def _lose_the_manifest(file: Path) -> None:
    _rewritten(file, lambda name, data: None if name == MANIFEST else data)


def _empty_the_manifest(file: Path) -> None:
    _rewritten(file, lambda name, data: b'{"format": 1}' if name == MANIFEST else data)


def _no_zip(file: Path) -> None:
    file.write_text("CREATE TABLE documents ();")


def test_a_damaged_file_is_refused_before_anything_changes(filled: str, backup: Path) -> None:
    whole, before = backup.read_bytes(), (catalog(filled), all_rows(filled))
    for damage in (
        _cut, _flip, _lose_a_table, _change_a_table, _lose_the_manifest, _empty_the_manifest,
        _no_zip,
    ):  # fmt: skip
        backup.write_bytes(whole)
        damage(backup)
        with pytest.raises(DatabaseError, match=_DAMAGED):
            checked(backup)
        with pytest.raises(DatabaseError, match=_DAMAGED):
            restore(filled, backup, replace=True)
    assert (catalog(filled), all_rows(filled)) == before


def _with_manifest(file: Path, **values: object) -> None:
    def change(name: str, data: bytes) -> bytes:
        return json.dumps(json.loads(data) | values).encode() if name == MANIFEST else data

    _rewritten(file, change)


def test_a_backup_of_a_newer_helix_is_refused(backup: Path, database_url: str) -> None:
    _with_manifest(backup, schema_version=NEWEST_VERSION + 1)
    with pytest.raises(DatabaseError, match=rf"at most: restore it with {MADE_BY}"):
        restore(database_url, backup)
    _with_manifest(backup, format=2)
    with pytest.raises(DatabaseError, match="of format 2, and this Helix reads 1: install"):
        checked(backup)


def test_a_backup_of_an_earlier_schema_is_upgraded(
    filled: str, backup: Path, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, whole = tmp_path / "step.sql", tmp_path / "schema.sql"
    added = "ALTER TABLE documents ADD COLUMN shelf text NOT NULL DEFAULT 'none';"
    step.write_text(added)
    heading = "-- === What every"
    whole.write_text(migration.SCHEMA.read_text().replace(heading, f"{added}\n{heading}"))
    monkeypatch.setitem(UPGRADES, NEWEST_VERSION + 1, step)
    monkeypatch.setattr(migration, "SCHEMA", whole)
    monkeypatch.setattr(migration, "NEWEST_VERSION", NEWEST_VERSION + 1)
    restore(database_url, backup)
    after = all_rows(database_url)
    shelves = [row.pop("shelf") for row in after["documents"]]
    assert set(shelves) == {"none"}
    assert after["documents"] == all_rows(filled)["documents"]
    assert after["schema_version"][0]["version"] == NEWEST_VERSION + 1
    with pytest.raises(DatabaseError, match="run `helix migrate`, or take the backup with"):
        save(filled, tmp_path / "earlier", MADE_BY)
    assert not (tmp_path / "earlier").exists()


def test_a_database_that_holds_something_is_kept(filled: str, backup: Path) -> None:
    with psycopg.connect(filled) as connection:
        add_document(connection, "since then")
    before = all_rows(filled)
    with pytest.raises(DatabaseError, match=r"not empty \(.*documents.*--replace, which deletes"):
        restore(filled, backup)
    assert all_rows(filled) == before
    restore(filled, backup, replace=True)
    assert len(all_rows(filled)["documents"]) == len(before["documents"]) - 1


def test_a_database_of_a_newer_helix_is_left_alone(filled: str, backup: Path) -> None:
    with psycopg.connect(filled) as connection:
        connection.execute("CREATE TABLE newer (id bigint REFERENCES documents)")
        connection.execute("UPDATE schema_version SET version = version + 1")
    before = catalog(filled), all_rows(filled)
    with pytest.raises(DatabaseError, match=r"at most: give DATABASE_URL an empty database"):
        restore(filled, backup, replace=True)
    assert (catalog(filled), all_rows(filled)) == before


def test_a_database_in_use_is_left_alone(backup: Path, database_url: str) -> None:
    with (
        psycopg.connect(database_url),
        pytest.raises(DatabaseError, match=r"1 other connections use the database .*: stop the"),
    ):
        restore(database_url, backup)


def test_a_connection_that_is_being_closed_is_waited_for(backup: Path, database_url: str) -> None:
    leaving = psycopg.connect(database_url)
    closing = threading.Timer(0.3, leaving.close)
    closing.start()
    restore(database_url, backup)
    closing.join()
    assert len(all_rows(database_url)["documents"]) > 0


def test_what_is_not_helixs_stays(filled: str, backup: Path) -> None:
    with psycopg.connect(filled) as connection:
        connection.execute("CREATE TABLE somebodys (n integer)")
        connection.execute("INSERT INTO somebodys VALUES (7)")
    restore(filled, backup, replace=True)
    with psycopg.connect(filled) as connection:
        assert count(connection, "somebodys") == 1


def test_backups_that_a_replaced_database_knew_stay_known(filled: str, tmp_path: Path) -> None:
    known = "INSERT INTO backups (file, made_at) VALUES (%s, %s)"
    with psycopg.connect(filled) as connection:
        connection.execute(known, ("monday", "2026-11-23"))
    save(filled, tmp_path / "tuesday", MADE_BY)
    with psycopg.connect(filled) as connection:
        connection.execute("UPDATE backups SET gone_at = now()")
        connection.execute(known, ("wednesday", "2026-11-25"))
    restore(filled, tmp_path / "tuesday", replace=True)
    with psycopg.connect(filled) as connection:
        found = connection.execute("SELECT file, gone_at IS NULL FROM backups ORDER BY file")
        assert found.fetchall() == [("monday", False), ("wednesday", True)]


def test_a_failure_on_the_way_changes_nothing(
    filled: str, backup: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "schema.sql"
    broken.write_text(
        migration.SCHEMA.read_text().replace("\nCOMMIT;", "\nDROP TABLE nowhere;\nCOMMIT;")
    )
    monkeypatch.setattr(migration, "SCHEMA", broken)
    before = catalog(filled), all_rows(filled)
    with pytest.raises(DatabaseError, match=r'cannot be restored .*"nowhere" does not exist'):
        restore(filled, backup, replace=True)
    assert (catalog(filled), all_rows(filled)) == before


def test_a_file_is_not_overwritten_and_no_part_is_left(filled: str, backup: Path) -> None:
    data = backup.read_bytes()
    with pytest.raises(DatabaseError, match="exists: give the backup another name"):
        save(filled, backup, MADE_BY)
    assert backup.read_bytes() == data
    with pytest.raises(DatabaseError, match=r"cannot be written to .*: No such file or directory"):
        save(filled, backup.parent / "nowhere" / "b", MADE_BY)
    for letters in (250, 300):  # too many with what a part adds, and by themselves
        with pytest.raises(DatabaseError, match=r"cannot be written to .*: File name too long"):
            save(filled, backup.parent / ("b" * letters), MADE_BY)
    assert [file.name for file in backup.parent.iterdir()] == [backup.name]


def test_a_backup_waits_for_no_writer_and_holds_up_none(filled: str, tmp_path: Path) -> None:
    with psycopg.connect(filled) as writer:
        writer.execute("UPDATE documents SET title = 'Changed' WHERE id = 1")
        saving = threading.Thread(target=save, args=(filled, tmp_path / "b", MADE_BY))
        saving.start()
        saving.join(timeout=60)
        assert not saving.is_alive()
        writer.rollback()
    assert checked(tmp_path / "b").rows("documents") > 1


def test_the_vectors_of_a_staged_change_are_left_out(
    filled: str, database_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(filled) as connection:
        connection.execute("ALTER TABLE chunks ADD COLUMN embedding_next vector(1536)")
        connection.execute("INSERT INTO embedding_change (identity) VALUES ('another')")
    save(filled, tmp_path / "b", MADE_BY)
    restore(database_url, tmp_path / "b")
    rows = all_rows(database_url)
    assert rows["embedding_change"] == [] and rows["chunks"]
    assert "embedding_next" not in rows["chunks"][0]
