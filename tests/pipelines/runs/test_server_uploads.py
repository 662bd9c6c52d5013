"""`helix ingest --server`: files sent to a running server, known by their paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.live_server import live
from tests.support.service_process import environment, eventually, run
from tests.support.warm_processes import Process

pytestmark = pytest.mark.processes

_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files that can be read, one that is only called a PDF, one of another kind."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nEverybody has 28 days of leave a year.\n")
    (folder / "pay.txt").write_text("Salaries are paid on the 25th of each month.\n")
    (folder / "empty.txt").write_text("")
    (folder / "program.exe").write_bytes(b"MZ\x90\x00")
    return folder


def test_files_are_sent_read_and_known_by_their_paths(folder: Path, database_url: str) -> None:
    with live(database_url) as client:
        asked = {"HELIX_SERVER": str(client.base_url)}
        told, errors = folder.parent / "told", folder.parent / "errors"
        with told.open("wb") as output:
            sending = Process(
                "helix.cli", "ingest", "docs", "--tag", "staff",
                cwd=folder.parent, env=environment(**asked), output=output,
            )  # fmt: skip
            sent = lambda: len(client.get("/v1/runs").json()["runs"]) == 2  # noqa: E731
            assert eventually(sent, 60), told.read_text()
            worked = run("-m", "pipelines.worker", "--until-idle", DATABASE_URL=database_url,
                         **_OFFLINE)  # fmt: skip
            assert worked.returncode == 0, worked.stderr
            assert sending.wait(60) == 1, errors  # a file of them is empty
        lines = told.read_text()
        assert "added     docs/leave.md (1 chunks)" in lines, lines
        assert "failed    docs/empty.txt: empty.txt: the file is empty" in lines
        assert "3 files: 2 added, 0 replaced, 0 unchanged, 1 failed; 2 chunks written" in lines
        assert "files of other types, passed over: 1" in lines
        found = json.loads(run("-m", "helix.cli", "documents", "--json", **asked).stdout)
        assert {row["source_uri"] for row in found["documents"]} == {
            "docs/leave.md", "docs/pay.txt",
        }  # fmt: skip
        assert all(row["tags"] == ["staff"] for row in found["documents"])

        (folder / "empty.txt").unlink()
        again = Process(
            "helix.cli", "ingest", "docs", cwd=folder.parent, env=environment(**asked)
        )  # fmt: skip
        output_again, _ = again.communicate(60)
        assert output_again.startswith("2 files: 0 added, 0 replaced, 2 unchanged, 0 failed;")
        assert again.wait() == 0


def test_files_that_no_worker_takes_are_told_of(folder: Path, database_url: str) -> None:
    with live(database_url) as client:
        told = folder.parent / "told"
        with told.open("wb") as output:
            sending = Process(
                "helix.cli", "ingest", "docs/leave.md", cwd=folder.parent,
                env=environment(HELIX_SERVER=str(client.base_url)), output=output,
            )  # fmt: skip
            waits = lambda: "waits for a worker of the server" in told.read_text()  # noqa: E731
            assert eventually(waits, 60), told.read_text()
            worked = run("-m", "pipelines.worker", "--until-idle", DATABASE_URL=database_url,
                         **_OFFLINE)  # fmt: skip
            assert worked.returncode == 0, worked.stderr
            assert sending.wait(60) == 0
        assert "added     docs/leave.md (1 chunks)" in told.read_text()
