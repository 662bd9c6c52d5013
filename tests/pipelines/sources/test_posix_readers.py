"""The readers of a file by its rights and those of the folders on the way to it."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from pipelines.sources.stored_source import open_source

ME = f"person:{pwd.getpwuid(os.getuid()).pw_name}"
MINE = f"group:{grp.getgrgid(os.getgid()).gr_name}"


@pytest.mark.parametrize(
    ("folder", "file", "readers"),
    [
        (0o755, 0o644, (ME, MINE, "everyone")),
        (0o755, 0o640, (ME, MINE)),
        (0o755, 0o600, (ME,)),
        (0o750, 0o644, (ME, MINE)),  # its folder keeps others out
        (0o700, 0o644, (ME,)),
        (0o711, 0o604, (ME, "everyone")),
        (0o755, 0o200, ()),
    ],
)
def test_a_reader_is_let_through_the_folders_too(
    tmp_path: Path, folder: int, file: int, readers: tuple[str, ...]
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.md").write_text("A.")
    (tmp_path / "inner" / "a.md").chmod(file)
    (tmp_path / "inner").chmod(folder)
    os.chown(tmp_path / "inner" / "a.md", os.getuid(), os.getgid())
    (entry,) = open_source("folder", str(tmp_path), {"permissions": True}, {}).entries()
    assert entry.readers == readers
