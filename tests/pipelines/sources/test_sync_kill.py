"""``kill -9`` of the worker of a sync at random moments: nothing is lost or removed wrongly."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import psycopg
import pytest

from tests.support.fake_embedder import rows
from tests.support.service_process import environment
from tests.support.synced_source import SyncedSource
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

_OPEN = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running', 'cancelling')"


class Folder:
    """A folder whose files are added, changed, moved and removed, and what it should be."""

    def __init__(self, path: Path, chance: random.Random, files: int) -> None:
        self.path, self._chance, self._made = path, chance, 0
        path.mkdir()
        for _ in range(files):
            self._add()

    def _add(self) -> None:
        self._made += 1
        (self.path / f"{self._made}.md").write_text(f"Number {self._made} of version 0.")

    def change(self) -> None:
        """Some of each: within the share that a sync removes by itself."""
        files = sorted(self.path.rglob("*.md"))
        gone, moved, changed = self._chance.sample(files, 3)
        gone.unlink()
        inner = self.path / str(self._chance.randrange(3))
        inner.mkdir(exist_ok=True)
        moved.rename(inner / f"moved-{self._made}-{moved.name}")
        changed.write_text(f"{changed.name} changed {self._chance.random()}.")
        self._add()

    def texts(self) -> dict[str, str]:
        return {
            str(file.relative_to(self.path)): file.read_text() for file in self.path.rglob("*.md")
        }


@pytest.mark.parametrize(
    ("kills", "files"), [(4, 30), pytest.param(60, 100, marks=pytest.mark.soak)]
)
@pytest.mark.timeout(1800)
def test_killed_syncs_end_in_step(
    tmp_path: Path, database_url: str, wire: GeminiWire, kills: int, files: int
) -> None:
    chance = random.Random(35)
    folder = Folder(tmp_path / "shared", chance, files)
    variables = environment(
        DATABASE_URL=database_url, GOOGLE_GEMINI_BASE_URL=wire.base_url, GEMINI_API_KEY="test-key",
        HELIX_EMBEDDER="gemini", HELIX_LLM="offline",
    )  # fmt: skip
    source = SyncedSource(database_url, "folder", str(folder.path))
    landed = 0
    while landed < kills:
        source.start()
        worker = Process("pipelines.worker", "--until-idle", cwd=tmp_path, env=variables)
        time.sleep(chance.uniform(0.2, 2.0))
        was_open = rows(database_url, _OPEN) == [(1,)]
        worker.send_signal(signal.SIGKILL)
        worker.communicate(timeout=60)
        landed += was_open
        _check_nothing_is_twice(database_url)
        if not was_open:
            assert source.texts() == folder.texts()
            folder.change()
    for _ in range(2):  # the first goes on with a listing that may be older than the last change
        source.start()
        worker = Process("pipelines.worker", "--until-idle", cwd=tmp_path, env=variables)
        assert worker.communicate(timeout=300) and worker.returncode == 0
    assert source.texts() == folder.texts()
    assert source.row()["waiting"] == 0
    _check_nothing_is_twice(database_url)


def _check_nothing_is_twice(url: str) -> None:
    with psycopg.connect(url) as connection:
        open_syncs = connection.execute(_OPEN).fetchone()
    assert open_syncs is not None and open_syncs[0] <= 1
    assert rows(url, "SELECT source_uri FROM documents GROUP BY 1 HAVING count(*) > 1") == []
    moved = "SELECT content_hash FROM documents GROUP BY 1 HAVING count(*) > 1"
    assert rows(url, moved) == []  # every text is another: two of one would be a move done twice
