"""A folder kept in step, by a worker: what is added, changed, moved and removed, and what fails."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.documents import remove_document
from tests.support.fake_embedder import rows
from tests.support.synced_source import SyncedSource
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import carried_out, stored, upload

pytestmark = pytest.mark.processes


@pytest.fixture
def shared(folder: Path) -> Path:
    """A folder of five files, beside the working directory of a user of Gemini."""
    shared = folder / "shared"
    (shared / "guides").mkdir(parents=True)
    for n in range(4):
        (shared / f"{n}.md").write_text(f"# Crate {n}\n\nCrate {n} holds {n + 7} lanterns.")
    (shared / "guides" / "river.md").write_text("# River\n\nThe river is cold in May.")
    (shared / "picture.png").write_bytes(b"\x89PNG")
    return shared


def synced(url: str, shared: Path, **given: Any) -> SyncedSource:
    """The folder as a source, brought in; its files are of an hour ago, as most are."""
    for file in shared.rglob("*.*"):
        os.utime(file, (file.stat().st_mtime - 3600,) * 2)
    source = SyncedSource(url, "folder", str(shared), **given)
    assert source.sync()["last_error"] == ""
    return source


def test_what_is_in_a_folder_becomes_documents_and_stays_in_step(
    database_url: str, shared: Path, wire: GeminiWire
) -> None:
    source = synced(database_url, shared, tags=["shared"])
    before, chunks = source.documents(), source.chunks()
    assert sorted(before) == ["0.md", "1.md", "2.md", "3.md", "guides/river.md"]
    assert rows(database_url, "SELECT DISTINCT tags FROM documents") == [(["shared"],)]
    counts = source.row()["counts"]
    assert (counts["new"], counts["left"]) == (5, 1)

    requests = len(wire.requests)
    assert source.sync()["counts"]["unchanged"] == 5  # nothing changed: a listing
    assert len(wire.requests) == requests and source.chunks() == chunks

    (shared / "new.md").write_text("New lanterns.")
    (shared / "1.md").write_text("# Crate 1\n\nCrate 1 is empty.")
    counts = source.sync()["counts"]
    assert (counts["new"], counts["changed"], counts["unchanged"]) == (1, 1, 4)
    assert source.documents().items() >= before.items()
    assert "is empty" in source.texts()["1.md"]

    (shared / "2.md").unlink()
    row = source.sync()
    assert (row["counts"]["removed"], row["waiting"]) == (1, 0)
    assert "2.md" not in source.texts()


def test_a_renamed_folder_keeps_documents_chunks_and_vectors(
    database_url: str, shared: Path, wire: GeminiWire
) -> None:
    source = synced(database_url, shared)
    before, chunks = source.documents(), source.chunks()
    requests = len(wire.requests)
    (shared / "moved").mkdir()
    for n in range(4):
        (shared / f"{n}.md").rename(shared / "moved" / f"crate-{n}.md")
    (shared / "guides").rename(shared / "handbook")
    counts = source.sync()["counts"]
    assert (counts["moved"], counts.get("removed", 0), counts["new"]) == (5, 0, 0)
    after = source.documents()
    assert {f"moved/crate-{n}.md": before[f"{n}.md"] for n in range(4)} | {
        "handbook/river.md": before["guides/river.md"]
    } == after
    assert source.chunks() == chunks and len(wire.requests) == requests
    assert rows(database_url, "SELECT file_name FROM documents ORDER BY file_name") == [
        *((f"crate-{n}.md",) for n in range(4)), ("river.md",)
    ]  # fmt: skip

    # and where it changes afterwards, what stays in it keeps its chunk
    text = (shared / "handbook" / "river.md").read_text()
    (shared / "handbook" / "river.md").write_text(f"{text}\n\n# Lake\n\nThe lake is warm in July.")
    source.sync()
    assert set(chunks) < set(source.chunks())


def test_a_few_removals_do_not_wait(database_url: str, shared: Path) -> None:
    source = synced(database_url, shared)
    for n in range(4):
        (shared / f"{n}.md").unlink()
    row = source.sync()
    assert (row["waiting"], row["counts"]["removed"]) == (0, 4)
    assert sorted(source.documents()) == ["guides/river.md"]


def test_many_removals_wait_for_a_yes_and_one_that_is_back_is_kept(
    database_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_REMOVALS", "1")
    source = synced(database_url, shared)
    kept = (shared / "0.md").read_bytes()
    (shared / "0.md").unlink()
    (shared / "1.md").unlink()
    row = source.sync(dry_run=True)
    assert row["preview"]["waiting"] == ["0.md", "1.md"] and row["preview"]["removed"] == []
    assert source.row()["waiting"] == 0 and len(source.documents()) == 5
    assert (source.sync()["waiting"], len(source.documents())) == (2, 5)
    (shared / "0.md").write_bytes(kept)
    (shared / "2.md").unlink()  # nobody has seen that this one is gone: one alone goes
    row = source.sync(yes=True)
    assert (row["waiting"], row["counts"]["removed"]) == (0, 2)
    assert sorted(source.documents()) == ["0.md", "3.md", "guides/river.md"]


def test_a_yes_is_to_what_was_shown_alone(
    database_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_REMOVALS", "1")
    source = synced(database_url, shared)
    (shared / "0.md").unlink()
    (shared / "1.md").unlink()
    assert source.sync()["waiting"] == 2
    for rest in ("2.md", "3.md"):
        (shared / rest).unlink()
    row = source.sync(yes=True)
    assert sorted(source.documents()) == ["2.md", "3.md", "guides/river.md"]
    assert row["waiting"] == 2


def test_a_folder_that_is_away_or_empty_removes_nothing(database_url: str, shared: Path) -> None:
    source = synced(database_url, shared)
    before = source.documents()
    shared.rename(shared.with_name("elsewhere"))
    row = source.sync()
    assert "cannot be opened" in row["last_error"] and source.documents() == before
    assert rows(database_url, "SELECT status FROM runs ORDER BY id DESC LIMIT 1") == [("failed",)]
    shared.mkdir()  # a mount that is not there
    row = source.sync()
    assert (row["last_error"], row["waiting"]) == ("", 5) and source.documents() == before
    shared.rmdir()
    shared.with_name("elsewhere").rename(shared)
    row = source.sync()
    assert (row["waiting"], source.documents()) == (0, before)


def test_a_part_that_cannot_be_listed_removes_nothing_and_the_rest_comes_in(
    database_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = synced(database_url, shared)
    before = source.documents()
    scandir = os.scandir

    def refusing(path: Any) -> Any:  # root may read whatever its mode says
        if str(path).endswith("/guides"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    (shared / "new.md").write_text("New lanterns.")
    (shared / "0.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refusing)
        row = source.sync()
    assert "guides/ (Permission denied)" in row["last_error"]
    assert source.documents().items() > before.items()
    row = source.sync()
    assert row["last_error"] == "" and "0.md" not in source.documents()


def test_a_file_that_cannot_be_read_keeps_its_version_and_is_tried_again(
    database_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = synced(database_url, shared)
    before = source.documents()
    (shared / "1.md").write_text("# Crate 1\n\nCrate 1 is empty.")
    read = Path.read_bytes

    def refusing(path: Path) -> bytes:
        if path.name == "1.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refusing)
        source.sync()
    assert source.told() == {"1.md": "cannot be read: Permission denied"}
    assert source.documents() == before and "lanterns" in source.texts()["1.md"]
    source.sync()
    assert source.told() == {} and "is empty" in source.texts()["1.md"]


def test_a_file_of_no_kind_is_told_and_not_read_by_every_sync(
    database_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "broken.pdf").write_bytes(b"\x00\x01\x02")
    source = synced(database_url, shared)
    assert source.told().keys() == {"broken.pdf"}
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert source.sync()["counts"]["unchanged"] == 6


def test_what_was_deleted_here_stays_away_until_it_changes(database_url: str, shared: Path) -> None:
    source = synced(database_url, shared)
    with psycopg.connect(database_url) as connection:
        for key in ("0.md", "1.md"):
            remove_document(connection, source.documents()[key], DEFAULT_TENANT)
    source.sync()
    for former, name in (("1.md", "guides/1.md"), ("guides/1.md", "moved.md")):
        (shared / former).rename(shared / name)  # which changes no byte
        assert source.sync(dry_run=True)["preview"]["new"] == []
        source.sync()
        assert sorted(source.documents()) == ["2.md", "3.md", "guides/river.md"]
    (shared / "0.md").write_text("# Crate 0\n\nCrate 0 is back.")
    source.sync()
    assert "0.md" in source.documents() and "moved.md" not in source.documents()
    source.sync(again=True)
    assert "moved.md" in source.documents()


def test_globs_size_and_folders_names_choose_and_describe(database_url: str, shared: Path) -> None:
    (shared / "drafts").mkdir()
    (shared / "drafts" / "a.md").write_text("A draft.")
    (shared / "guides" / "long.md").write_text("long " * 1000)
    (shared / "guides" / "metadata.csv").write_text("file,year\nriver.md,2024\n")
    source = synced(
        database_url, shared, exclude=["drafts/", "3.md"], max_bytes=2000, folder_keys=["team"],
        metadata={"origin": "share"},
    )  # fmt: skip
    assert sorted(source.documents()) == ["0.md", "1.md", "2.md", "guides/river.md"]
    found = dict(rows(database_url, "SELECT file_name, metadata FROM documents"))
    assert found["river.md"] == {"team": "guides", "year": 2024, "origin": "share"}
    assert found["0.md"] == {"origin": "share"}
    (shared / "guides" / "metadata.csv").write_text("file,year\nriver.md,2025\ngone.md,2025\n")
    source.sync()
    told = rows(database_url, "SELECT reason FROM run_files WHERE status = 'failed'")
    assert list(told) == [("line 3: there is no file 'gone.md'",)]
    found = dict(rows(database_url, "SELECT file_name, metadata FROM documents"))
    assert found["river.md"]["year"] == 2025


def test_a_document_that_was_uploaded_too_stays_when_the_source_goes(
    database_url: str, shared: Path
) -> None:
    source = synced(database_url, shared)
    number = source.documents()["guides/river.md"]
    again = stored(database_url, upload((shared / "guides" / "river.md").read_text(), "r.md"))
    assert again.documents[0]["id"] == number
    shutil.rmtree(shared / "guides")
    assert source.sync()["last_error"] == ""
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT source_uri FROM documents WHERE id = %s", (number,)
        ).fetchone()
    assert row is not None and row[0].startswith("upload:")


def test_a_source_goes_with_its_documents(database_url: str, shared: Path) -> None:
    source = synced(database_url, shared)
    source.start(remove=True)
    asyncio.run(carried_out(database_url))
    assert rows(database_url, "SELECT count(*) FROM documents") == [(0,)]
    assert rows(database_url, "SELECT count(*) FROM sources") == [(0,)]


def test_a_file_whose_name_is_not_utf_8_has_failed_and_the_others_come(
    database_url: str, shared: Path
) -> None:
    (shared / os.fsdecode(b"caf\xe9.md")).write_text("Menu.")
    source = synced(database_url, shared)
    assert len(source.documents()) == 5
    failed = rows(database_url, "SELECT key, reason FROM source_entries WHERE reason <> ''")
    assert failed == [(r"caf\xe9.md", "its name is not UTF-8: rename it")]
