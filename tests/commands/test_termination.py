"""A command that SIGTERM ends leaves nothing half done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.repository import ROOT

_ENDED_HALF_WAY = """
import signal
from pathlib import Path
from db.backup.archive import new_archive
from helix.commands.backup import database_errors_as_helix
with database_errors_as_helix(), new_archive(Path("b.zip")) as writer:
    writer.add("rows", [b"a text"])
    signal.raise_signal(signal.SIGTERM)
"""


def test_no_part_of_a_backup_is_left(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ENDED_HALF_WAY],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode and not list(tmp_path.iterdir()), done.stderr
