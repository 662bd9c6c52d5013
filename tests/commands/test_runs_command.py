"""`helix runs`: list, show, follow and cancel."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from helix.library.run_files import NewFile, add_files, fail_file, set_file
from helix.library.runs import create_run, finish_run
from tests.support.cli_runner import helix
from tests.support.service_process import environment, eventually
from tests.support.warm_processes import Process


@pytest.fixture
def values(database_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
        "COLUMNS": "120",
    }  # fmt: skip


def _run(connection: psycopg.Connection, *sources: str) -> int:
    run_id = create_run(connection, "paths", {"paths": ["docs"]})
    add_files(connection, run_id, [NewFile(source) for source in sources])
    return run_id


def test_list_show_and_cancel(values: dict[str, str]) -> None:
    with psycopg.connect(values["DATABASE_URL"], autocommit=True) as sql:
        run_id = _run(sql, "docs/[red]good.txt", "docs/bad\x1b[31m.pdf")
        set_file(sql, run_id, 0, "embedding", done=2, total=5)
        fail_file(sql, run_id, 1, "encrypted: remove the password")
    listed = helix("runs", **values)
    assert listed.returncode == 0, listed.stderr
    assert "docs" in listed.stdout and "1 embedding, 1 failed" in listed.stdout
    assert "number" not in listed.stdout and "number" in helix("runs", "-v", **values).stdout

    shown = helix("runs", "show", str(run_id), **values)
    assert shown.returncode == 1  # a file failed
    assert "docs/[red]good.txt" in shown.stdout and "embed batch 2 of 5" in shown.stdout
    assert "failed; encrypted: remove the password" in shown.stdout
    assert "\x1b" not in shown.stdout

    assert helix("runs", "show", "docs/", **values).stdout == shown.stdout
    stopped = helix("runs", "cancel", "docs", **values)
    assert (stopped.returncode, stopped.stdout) == (0, "docs is cancelled\n")


@pytest.mark.processes
def test_following_to_the_end(values: dict[str, str], tmp_path: Path) -> None:
    told = tmp_path / "told"
    with psycopg.connect(values["DATABASE_URL"], autocommit=True) as sql, told.open("wb") as output:
        run_id = _run(sql, "docs/one.txt")
        set_file(sql, run_id, 0, "reading", done=1, total=9)
        following = Process(
            "helix.cli", "runs", "show", str(run_id), "--follow",
            cwd=tmp_path, env=environment(**values), output=output,
        )  # fmt: skip
        first = "  docs/one.txt  read page 1 of 9\ndocs  queued  1 reading\n"
        assert eventually(lambda: told.read_text() == first, 60), told.read_text()
        set_file(sql, run_id, 0, "added", chunks=4)
        finish_run(sql, run_id, "done")
        assert following.wait(60) == 0
    rest = told.read_text().removeprefix(first).splitlines()
    assert "  docs/one.txt  added, 4 chunks" in rest
    assert rest[-1] == "docs  done  1 added"


def test_a_run_that_is_not_there(values: dict[str, str]) -> None:
    done = helix("runs", "cancel", "7", **values)
    assert done.returncode == 1
    assert done.stderr == "helix: there is no run 7: `helix runs -v` lists them\n"
    named = helix("runs", "show", "manuals", **values)
    told = "helix: nothing was brought in from manuals: `helix runs` lists what was\n"
    assert (named.returncode, named.stderr) == (1, told)


def test_no_database() -> None:
    done = helix(
        "runs", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none",
        HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("helix: ") and done.stderr.count("\n") == 1
