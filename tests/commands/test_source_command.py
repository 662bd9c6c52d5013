"""`helix source`, as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import pipelines.source
from helix.commands.lazy_commands import LazyCommand
from pipelines.source_options import asked_secrets
from tests.support.fake_embedder import rows
from tests.support.ingest_command import become_a_user
from tests.support.wire.gemini import GeminiWire


@pytest.fixture
def folder(
    tmp_path: Path, durable_database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setattr(pipelines.source, "configure_logging", lambda level: None)
    folder = become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    (folder / "shared").mkdir()
    for n in range(3):
        (folder / "shared" / f"{n}.md").write_text(f"Crate {n} holds {n + 7} lanterns.")
    return folder


def source(*arguments: str) -> Result:
    return CliRunner().invoke(
        pipelines.source.source, [*arguments], catch_exceptions=False, env={"COLUMNS": "200"}
    )


def test_a_folder_is_added_synced_shown_and_removed(
    folder: Path, durable_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_REMOVALS", "0")
    added = source("add", "shared", "--tag", "crates", "--every", "6h")
    assert added.exit_code == 0, added.output
    assert "source 1 is added" in added.output
    done = source("sync", "shared")
    assert done.exit_code == 0 and "3 new" in done.output, done.output
    assert rows(durable_database_url, "SELECT DISTINCT tags FROM documents") == [(["crates"],)]
    listed = source("list").output
    assert "shared" in listed and "in step" in listed

    (folder / "shared" / "0.md").unlink()
    assert "1 document is gone at the source and waits" in source("sync", "shared").output
    (folder / "shared" / "1.md").unlink()
    shown = source("sync", "shared", "--dry-run").output
    assert shown.startswith("a sync would find: 1 unchanged, 2 waiting"), shown
    assert "waiting  0.md" in shown
    assert "2 documents are gone at the source and wait" in source("sync", "shared").output
    assert "0.md  gone, waits" in source("show", "shared").output
    assert "2 removed" in source("sync", "shared", "--yes").output

    refused = source("rm", "shared")
    assert refused.exit_code == 2 and "--keep-documents" in refused.output
    assert source("rm", "shared", "--yes").exit_code == 0
    assert rows(durable_database_url, "SELECT count(*) FROM documents") == [(0,)]
    assert rows(durable_database_url, "SELECT count(*) FROM sources") == [(0,)]


def test_files_that_failed_are_told_in_the_list(folder: Path) -> None:
    (folder / "shared" / "empty.md").write_text("")
    source("add", "shared")
    source("sync", "shared")
    assert "in step, but 1 file failed" in source("list").output
    source("pause", "shared")
    assert "paused, but 1 file failed" in source("list").output


def test_a_source_is_changed_paused_and_left(folder: Path, durable_database_url: str) -> None:
    source("add", "shared", "--name", "Crates")
    source("sync", "crates")
    changed = source("set", "Crates", "--exclude", "0.md", "--tag", "old", "--every", "never")
    assert changed.exit_code == 0, changed.output
    found = "SELECT exclude, tags, every_seconds, next_run_at FROM sources"
    assert rows(durable_database_url, found) == [(["0.md"], ["old"], None, None)]
    assert rows(durable_database_url, "SELECT DISTINCT tags FROM documents") == [(["old"],)]
    assert "is paused" in source("pause", "1").output
    assert "paused" in source("list").output
    assert source("resume", "1").exit_code == 0
    assert source("rm", "1", "--keep-documents").exit_code == 0
    assert rows(durable_database_url, "SELECT count(*) FROM documents") == [(3,)]
    told = rows(durable_database_url, "SELECT action FROM audit_events ORDER BY id")
    assert [action for (action,) in told] == [
        f"helix source {command}" for command in ("add", "set", "pause", "resume", "rm")
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sync", "nothing"), "there is no source nothing"),
        (("add", "shared", "--kind", "tape"), "there is no kind of source 'tape'"),
        (("add", "shared", "--option", "speed=9"), "has no option 'speed'"),
        (("add", "shared", "--space", "Nowhere"), "there is no space Nowhere"),
        (("add", "shared", "--name", "12"), "no number alone"),
        (("add", "shared", "--every", "1m", "--tag", ""), "a tag has 1 to 100"),
        (("add", "shared", "--group", "staff"), "is no NAME=VALUE"),
        (("add", "shared", "--secret", "token=x"), "--secret token is asked for, or read from a"),
        (("add", "tape://x"), "is of no kind that is known"),
        (("add", "nowhere"), "nowhere cannot be opened on "),
        (("add", "shared/0.md"), "0.md is a file: give its folder"),
        (("add", "/no/such/folder", "--here"), "/no/such/folder cannot be opened on "),
    ],
)
def test_what_cannot_be_is_one_line(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    result = source(*arguments)
    away = "there is no s" in said or "cannot be opened" in said or "is a file" in said
    assert result.exit_code == (1 if away else 2) and said in result.output
    assert result.output.count("\n") == 1


def test_a_folder_that_another_machine_may_have_is_noted(folder: Path) -> None:
    added = source("add", "/no/such/folder")
    assert added.exit_code == 0 and "source 1 is added" in added.stdout
    assert added.stderr.startswith("note: the folder /no/such/folder cannot be opened on ")


def test_another_address_is_held_to_the_same(folder: Path) -> None:
    assert source("add", "shared").exit_code == 0
    refused = source("set", "shared", "--address", "nowhere")
    assert refused.exit_code == 1 and "nowhere cannot be opened on " in refused.output
    (folder / "other").mkdir()
    assert source("set", "shared", "--address", "other").exit_code == 0
    assert str((folder / "other").resolve()) in source("show", "shared").output
    noted = source("set", "shared", "--address", "/no/such/folder")
    assert noted.exit_code == 0 and noted.stderr.startswith("note: the folder /no/such/folder")


def test_a_secret_ends_with_the_last_line_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("first\nlast \r\n", newline="")
    assert asked_secrets([f"password=@{tmp_path}/password"]) == {"password": "first\nlast "}


def test_a_second_of_one_name_is_refused(folder: Path) -> None:
    source("add", "shared")
    assert "there is a source SHARED already" in source("add", "shared", "--name", "SHARED").output


def test_the_kinds_are_listed_with_their_options(folder: Path) -> None:
    listed = source("kinds").output
    assert "A folder" in listed and "watch" in listed


def test_the_table_of_commands_has_it() -> None:
    assert LazyCommand("pipelines.source:source", "x").load("source").name == "source"
